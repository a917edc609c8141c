from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.sources.line_scan import (
    Conditions,
    LineMatcher,
    PatternError,
    TooSlow,
    compile_pattern,
)

LINES = st.lists(
    st.sampled_from(
        ["", "loss 0.5", "LOSS nan", "a b", "ab", "xaby", "é ab", "\tab ", "b", "0.25"]
    ),
    max_size=12,
)
PATTERNS = st.sampled_from(
    [
        *("ab", "AB", "loss", "a?b", "^ab$", "a*", "$", "b$", "[ab]+", "[^a]b", "x|ab", "a.b"),
        *("(?:a)b", "é", r"\d+\.\d", r"a\sb", r"\bab\b", "ab(?!y)", ".*ab.*"),
    ]
)


def found(conditions: Conditions, lines: list[str], *, is_open: bool = False) -> list[str]:
    data = "\n".join(lines).encode() + (b"" if is_open or not lines else b"\n")
    offsets = LineMatcher(conditions).matching_lines(data)
    ends = [(data + b"\n").find(b"\n", offset) for offset in offsets]
    return [data[start:end].decode() for start, end in zip(offsets, ends, strict=True)]


@given(LINES, PATTERNS)
def test_the_same_lines_match_as_one_by_one(lines: list[str], pattern: str) -> None:
    flags = 0 if pattern != pattern.lower() else re.IGNORECASE
    expected = [line for line in lines if re.search(pattern, line, flags)]
    assert found(Conditions(find=pattern), lines) == expected


@given(LINES, PATTERNS)
def test_hiding_is_the_opposite_of_showing(lines: list[str], pattern: str) -> None:
    shown = found(Conditions(show=pattern), lines)
    hidden = found(Conditions(hide=pattern), lines)
    assert sorted(shown + hidden) == sorted(lines)


def test_what_is_matched_is_what_is_shown() -> None:
    lines = ["\x1b[32mloss\x1b[0m 0.5", "10% loss\r20% gain", "other"]
    assert found(Conditions(find="loss 0"), lines) == lines[:1]
    assert found(Conditions(find="gain"), lines) == lines[1:2]
    assert found(Conditions(find="10%"), lines) == []


def test_a_level_keeps_whole_tracebacks() -> None:
    lines = [
        "step 1 loss 0.5",
        "[rank0]: Traceback (most recent call last):",
        '[rank0]:   File "train.py", line 3',
        "[rank0]: ValueError: bad",
        "step 2 loss 0.5",
        "UserWarning: odd",
    ]
    assert found(Conditions(level="error"), lines) == lines[1:4]
    assert found(Conditions(level="warning"), lines) == [*lines[1:4], lines[5]]
    assert found(Conditions(level="warning", rank=0), lines) == lines[1:4]


def test_a_traceback_goes_on_in_the_next_block() -> None:
    matcher = LineMatcher(Conditions(level="error"))
    matcher.begin(b"half a line\nTraceback (most recent call last):\n  File one\n")
    assert matcher.matching_lines(b"  File two\nboom\nfine\n") == [0, 11]


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<", "a{2,1}", "\\"])
def test_a_bad_pattern_is_explained(pattern: str) -> None:
    with pytest.raises(PatternError, match="not a regex: "):
        compile_pattern(pattern)


def test_capitals_make_a_pattern_case_sensitive() -> None:
    assert compile_pattern("loss").search("LOSS")
    assert not compile_pattern("Loss").search("loss")
    assert compile_pattern(r"\Snan").search("-NAN")


def test_a_line_that_takes_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = LineMatcher(Conditions(find="[^x]$"))
    armed: list[str] = []
    tried = matcher._matches

    def slow(data: bytes) -> bool:
        if data == b"slow":
            raise TooSlow
        return tried(data)

    monkeypatch.setattr(matcher, "_matches", slow)
    hits = matcher.matching_lines(b"a\nslow\nb\n", rearm=lambda: armed.append("again"))
    assert (hits, matcher.slow_lines, armed) == ([0, 7], 1, ["again"])
