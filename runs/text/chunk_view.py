"""Lines of a chunk picked by number, without touching them one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..harvest import Ints
from .cleaning import CleanChunk
from .pieces import cut_out


class ChunkView:
    """A chunk and the places of its pieces in its bytes."""

    def __init__(self, chunk: CleanChunk) -> None:
        self.chunk = chunk

    def join(self, indices: Ints) -> bytes:
        """The pieces with these numbers (ascending), joined by newlines."""
        count = len(indices)
        if count == len(self.chunk.pieces):
            return self.chunk.joined
        breaks = np.flatnonzero(np.diff(indices) > 1)
        firsts = indices[np.concatenate([[0], breaks + 1])]
        lasts = indices[np.concatenate([breaks, [count - 1]])]
        starts = self.chunk.pieces.starts
        begin, end = starts[firsts].tolist(), (starts[lasts + 1] - 1).tolist()
        whole = self.chunk.joined
        return b"\n".join([whole[a:b] for a, b in zip(begin, end, strict=True)])

    def columns(self, indices: Ints, start: int, end: int) -> npt.NDArray[np.uint8]:
        """Bytes `start:end` of each of these pieces, as a matrix; zero where a piece is short."""
        starts = self.chunk.pieces.starts
        first, after = starts[indices], starts[indices + 1]
        reaches = first + end < after
        taken = np.zeros((len(indices), end - start), dtype=np.uint8)
        codes = np.frombuffer(self.chunk.joined, dtype=np.uint8)
        if reaches.any():
            taken[reaches] = cut_out(codes, first[reaches] + start, end - start)
        return taken
