"""From raw bytes to clean lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.text import cleaning
from mltd.runs.text.cleaning import clean, decode


@pytest.mark.parametrize(
    ("chunk", "pieces"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\r\nb\r\n", [b"a", b"b"]),
        (b"\x1b[1;31mred\x1b[0m\n", [b"red"]),
        (b"\x1b]0;title\x07text\n", [b"text"]),
        (b"\x1b]8;;link\x1b\\text\n", [b"text"]),
        (b"\x1bPcontrol\x1b\\text\n", [b"text"]),
        (b"\x1b(Btext\x1b\n", [b"text"]),
        (b"n\x00ul\n", [b"nul"]),
        (b" 10%\r 20%\n", [b" 10%", b" 20%"]),
        (b"10\x0820\n", [b"10", b"20"]),
        (b"", [b""]),
    ],
)
def test_pieces(chunk: bytes, pieces: list[bytes]) -> None:
    cleaned = clean(chunk)
    assert list(cleaned.pieces) == pieces
    assert cleaned.joined == b"\n".join(pieces)


def test_redraws_belong_to_the_line_they_redraw() -> None:
    cleaned = clean(b"head\n 10%\r 20%\r 30%\ntail\n")
    assert list(cleaned.pieces) == [b"head", b" 10%", b" 20%", b" 30%", b"tail"]
    assert [cleaned.line_of(piece) for piece in range(5)] == [0, 1, 1, 1, 2]
    assert cleaned.lines == 3


@pytest.mark.parametrize(
    ("chunk", "is_open", "lines"), [(b"a\nb\n", True, 2), (b"a\nb", True, 1), (b"a\nb", False, 2)]
)
def test_an_open_line_is_not_counted(chunk: bytes, is_open: bool, lines: int) -> None:
    assert clean(chunk, is_open=is_open).lines == lines


def test_very_long_pieces_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "MAX_PIECE", 5)
    cleaned = clean(b"short\nmuch too long\n")
    assert list(cleaned.pieces) == [b"short", b"much "]
    assert cleaned.joined == b"short\nmuch "


@given(st.binary(max_size=200))
def test_every_piece_has_a_line(chunk: bytes) -> None:
    cleaned = clean(chunk)
    assert b"\r" not in cleaned.joined
    assert b"\x00" not in cleaned.joined
    assert cleaned.joined.split(b"\n") == list(cleaned.pieces)


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        ("损失 µ".encode(), "损失 µ"),
        ("损失".encode("gb18030"), "损失"),
        (b"loss\xff\xff", "loss��"),
    ],
)
def test_decoding(piece: bytes, text: str) -> None:
    assert decode(piece) == text


def test_an_unfinished_escape_sequence_ends_with_its_line() -> None:
    chunk = clean(b"a\x1b]0;title without an end\nstep 1 loss 2\n")
    assert list(chunk.pieces) == [b"a", b"step 1 loss 2"]


def test_a_vertical_tab_is_no_redraw() -> None:
    chunk = clean(b"a\x0b\nb\rc\n")
    assert chunk.line is not None
    assert chunk.line.tolist() == [0, 1, 1]


def test_moving_the_cursor_begins_another_piece() -> None:
    chunk = clean(b"Validation: |  | 0/? [00:00<?, ?it/s]\x1b[A[12/09/24] loss 2\n")
    assert list(chunk.pieces) == [b"Validation: |  | 0/? [00:00<?, ?it/s]", b"[12/09/24] loss 2"]
    assert chunk.lines == 1
