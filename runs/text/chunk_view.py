"""Lines of a chunk picked by number, without touching them one by one."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..harvest import Ints
from .cleaning import CleanChunk

_LONG_RUN = 8
"""Average lines per run from which slicing runs beats picking lines."""


class ChunkView:
    """A chunk and the places of its pieces in its bytes."""

    def __init__(self, chunk: CleanChunk) -> None:
        self.chunk = chunk

    @cached_property
    def _starts(self) -> Ints:
        """Offset of every piece, and of what would be the next one."""
        pieces = self.chunk.pieces
        starts = np.zeros(len(pieces) + 1, dtype=np.int64)
        lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        np.cumsum(lengths + 1, out=starts[1:])
        return starts

    def join(self, indices: Ints) -> bytes:
        """The pieces with these numbers (ascending), joined by newlines."""
        count = len(indices)
        if count == len(self.chunk.pieces):
            return self.chunk.joined
        breaks = np.flatnonzero(np.diff(indices) > 1)
        if count < _LONG_RUN * (len(breaks) + 1):
            pieces = self.chunk.pieces
            return b"\n".join([pieces[i] for i in indices.tolist()])
        firsts = indices[np.concatenate([[0], breaks + 1])]
        lasts = indices[np.concatenate([breaks, [count - 1]])]
        begin, end = self._starts[firsts].tolist(), (self._starts[lasts + 1] - 1).tolist()
        whole = self.chunk.joined
        return b"\n".join([whole[a:b] for a, b in zip(begin, end, strict=True)])

    def columns(self, indices: Ints, start: int, end: int) -> npt.NDArray[np.uint8]:
        """Bytes `start:end` of each of these pieces, as a matrix; zero where a piece is short."""
        first, after = self._starts[indices], self._starts[indices + 1]
        reaches = first + end < after
        taken = np.zeros((len(indices), end - start), dtype=np.uint8)
        codes = np.frombuffer(self.chunk.joined, dtype=np.uint8)
        if reaches.any():
            # Rows of a sliding window are copied whole, which a matrix of places is not.
            windows = np.lib.stride_tricks.sliding_window_view(codes, end - start)
            taken[reaches] = windows[first[reaches] + start]
        return taken
