"""Pieces of a buffer: the same as if it had been split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.text.pieces import Pieces, count_newlines, cut_out

TEXTS = st.lists(st.sampled_from([b"\n", b"a", b"loss 1", b"\r"]), max_size=12).map(b"".join)


@given(TEXTS, st.slices(14))
def test_pieces_are_what_splitting_gives(text: bytes, some: slice) -> None:
    split = text.split(b"\n")
    pieces = Pieces(text)
    assert len(pieces) == len(split)
    assert list(pieces) == split
    assert [pieces[i] for i in range(-len(split), len(split))] == split + split
    assert pieces[some] == split[some]
    assert count_newlines(text) == len(split) - 1


def test_there_is_no_piece_after_the_last() -> None:
    with pytest.raises(IndexError):
        Pieces(b"a\nb")[2]


def test_rows_are_cut_out_up_to_the_very_end() -> None:
    codes = np.frombuffer(b"abcdef", dtype=np.uint8)
    rows = cut_out(codes, np.array([0, 3, 1]), 3)
    assert [row.tobytes() for row in rows] == [b"abc", b"def", b"bcd"]
    with pytest.raises(IndexError):
        cut_out(codes, np.array([4]), 3)
