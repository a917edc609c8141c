from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.runs.sources.line_assembler import Line, LineAssembler
from mltd.runs.sources.pieces import Piece

TEXT = st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\xc3\xa9", b"long text"]), max_size=30).map(
    b"".join
)


def cut(data: bytes, places: list[int]) -> list[Piece]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [Piece(0, a, data[a:b]) for a, b in pairwise(edges)]


@given(TEXT, st.lists(st.integers(0, 500), max_size=10))
@settings(deadline=None)
def test_how_bytes_are_cut_never_changes_the_lines(data: bytes, places: list[int]) -> None:
    whole, parts = LineAssembler(), LineAssembler()
    expected = whole.feed([Piece(0, 0, data)])
    got = [line for piece in cut(data, places) for line in parts.feed([piece])]
    assert got == expected
    assert parts.provisional == whole.provisional
    assert parts.provisional_line == whole.provisional_line
    assert b"".join(line.data + b"\n" for line in got) + parts.provisional == data
    for line in got:
        assert data[line.offset :].startswith(line.data + b"\n")
    assert [line.number for line in got] == list(range(1, len(got) + 1))


@given(TEXT, st.integers(1, 6), st.lists(st.integers(0, 500), max_size=6))
@settings(deadline=None)
def test_overlong_lines_are_clipped_and_counted(
    data: bytes, longest: int, places: list[int]
) -> None:
    assembler = LineAssembler(longest_line=longest)
    lines = [line for piece in cut(data, places) for line in assembler.feed([piece])]
    texts = data.split(b"\n")[:-1]
    assert [line.data for line in lines] == [text[:longest] for text in texts]
    assert [len(line.data) + line.clipped for line in lines] == [len(text) for text in texts]
    assert len(assembler.provisional) <= longest


def test_the_end_of_a_generation_completes_its_last_line() -> None:
    assembler = LineAssembler()
    lines = assembler.feed([Piece(0, 0, b"a\nb"), Piece(0, 3, b"", ends=True), Piece(1, 0, b"c")])
    assert lines == [Line(b"a", 0, 1, 0), Line(b"b", 0, 2, 2)]
    assert assembler.provisional == b"c"
    assert assembler.provisional_line == Line(b"c", 1, 1, 0)
    assert assembler.feed([Piece(1, 1, b"\r\n")]) == [Line(b"c\r", 1, 1, 0)]
    assert assembler.provisional_line is None


def test_a_generation_that_begins_behind_a_hole_keeps_its_offsets() -> None:
    assembler = LineAssembler()
    assert assembler.feed([Piece(3, 4096, b"x\ny\n")]) == [
        Line(b"x", 3, 1, 4096),
        Line(b"y", 3, 2, 4098),
    ]
