from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.sources.line_level import level_of, rank_pattern
from mltd.runs.sources.line_text import last_state, shown_text

HOSTILE = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(
        st.sampled_from(
            [
                b"\x1b[31m",
                b"\x1b]0;x\x07",
                b"\x1bP",
                b"\x9b",
                "\u202e".encode(),
                b"\r",
                b"\x00",
                b"a",
            ]
        )
    ).map(b"".join),
)


@given(HOSTILE)
def test_nothing_a_terminal_obeys_is_left(data: bytes) -> None:
    text = shown_text(data.replace(b"\n", b"")).text
    assert text.replace("\t", "").isprintable()
    controls = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert not [c for c in text if c != "\t" and unicodedata.category(c) in controls]


@given(HOSTILE)
def test_colours_stand_at_places_of_the_text(data: bytes) -> None:
    shown = shown_text(data)
    assert all(0 <= place <= len(shown.text) for place, _numbers in shown.colours)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07rest", "␛rest"),
        (b"\x1b[2Jx\x1b[H", "␛x␛"),
        (b"a\x00b\x07c\x7f", "a␀b␇c␡"),
        (b"[bold]x[/]", "[bold]x[/]"),
        ("损失".encode("gbk"), "损失"),
        ("loss: é".encode()[:-1], "loss: "),
        ("\ufeffloss".encode(), "loss"),
        ("a\u202eb".encode(), "a·b"),
        ("e\u0301\u0301\u0301\u0301\u0301".encode(), "e\u0301\u0301"),
        ("\u0301x".encode(), "·x"),
        ("❤\ufe0f".encode(), "❤"),
    ],
)
def test_lines_are_shown_as(data: bytes, text: str) -> None:
    assert shown_text(data).text == text


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (b"10%\r50%\r100%\r", b"100%"),
        (b"10%\r50%\r     \r", b"50%"),
        (b"10%\r\x1b[K", b"10%"),
        (b"crlf\r", b"crlf"),
        (b"\r\r", b""),
        (b"plain", b"plain"),
    ],
)
def test_a_progress_bar_shows_its_last_state(data: bytes, state: bytes) -> None:
    assert last_state(data) == state


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("2024-01-01 ERROR trainer: bad", "error"),
        ("RuntimeError: CUDA out of memory", "error"),
        ("slurmstepd: error: *** JOB 1 CANCELLED", "error"),
        ("[rank0]:[E1023 12:00:00.1 ProcessGroupNCCL.cpp:607] Watchdog", "error"),
        ("KeyboardInterrupt", "error"),
        ("UserWarning: deprecated", "warning"),
        ("[W socket.cpp:401] retrying", "warning"),
        ("val error: 0.12 train error: 0.10", ""),
        ("mean squared error=0.3", ""),
        ("step 10 loss 0.5", ""),
    ],
)
def test_levels(text: str, level: str) -> None:
    assert level_of(text) == level


@pytest.mark.parametrize(
    "text", ["[rank3]: x", "[default3]:x", "3: x", "rank 3: x", "Rank=3 x", "local_rank: 03"]
)
def test_ranks(text: str) -> None:
    assert rank_pattern(3).search(text)
    assert not rank_pattern(13).search(text)
    assert not rank_pattern(0).search(text)
