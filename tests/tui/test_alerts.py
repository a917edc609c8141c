"""Someone who looks elsewhere hears of a new critical finding once, and not too often."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Basis, Evidence, EvidenceKind, Finding, Severity
from mltd.tui.alerts import AlertBook, Notice, signals
from mltd.tui.settings import ScreenSettings
from mltd.tui.terminal import Terminal


def finding(
    name: str, severity: Severity = Severity.CRITICAL, title: str = "Loss is NaN"
) -> Finding:
    evidence = (Evidence(EvidenceKind.LOG, "train.log:1", "nan"),)
    return Finding(name, title, severity, 0.9, Basis.OBSERVATION, evidence)


def watching(run: int = 0) -> AlertBook:
    """A book that has seen a first, clean verdict."""
    book = AlertBook()
    book.judge(run, "a", (), 0.0)
    return book


def test_a_new_critical_finding_is_told() -> None:
    notice = watching().judge(0, "a", [finding("nan")], 1.0)
    assert notice == Notice("✖ critical", "Loss is NaN (a)", 0, frozenset({(0, "nan")}))


def test_what_was_there_at_the_start_is_not_news() -> None:
    book = AlertBook()
    assert book.judge(0, "a", [finding("nan")], 0.0) is None
    assert book.judge(0, "a", [finding("nan")], 100.0) is None
    assert book.judge(0, "a", [finding("oom")], 200.0) is not None


def test_what_a_long_log_reveals_while_it_is_read_is_not_news() -> None:
    book = watching()
    assert book.judge(0, "a", [finding("nan")], 1.0, is_catching_up=True) is None
    assert book.judge(0, "a", [finding("nan")], 100.0) is None


def test_a_verdict_that_flickers_is_told_once() -> None:
    book = watching()
    assert book.judge(0, "a", [finding("nan")], 1.0)
    assert book.judge(0, "a", (), 50.0) is None
    assert book.judge(0, "a", [finding("nan")], 100.0) is None


def test_a_warning_is_told_when_it_becomes_critical() -> None:
    book = watching()
    assert book.judge(0, "a", [finding("spike", Severity.WARNING)], 1.0) is None
    assert book.judge(0, "a", [finding("spike")], 50.0) is not None


def test_each_run_has_its_own_findings() -> None:
    book = watching(0)
    book.judge(1, "b", (), 0.0)
    assert book.judge(0, "a", [finding("nan")], 1.0) is not None
    expected = Notice("✖ critical", "Loss is NaN (b)", 1, frozenset({(1, "nan")}))
    assert book.judge(1, "b", [finding("nan")], 50.0) == expected


def test_notices_come_at_most_every_ten_seconds_and_nothing_is_lost() -> None:
    book = watching()
    assert book.judge(0, "a", [finding("one")], 1.0) is not None
    later = [finding(name, title=name) for name in ("two", "three", "four", "five", "six")]
    assert book.judge(0, "a", later, 2.0) is None
    assert book.due(10.9) is None
    notice = book.due(11.0)
    assert notice is not None
    assert notice.title == "✖ 5 critical findings"
    assert notice.text.splitlines() == ["two (a)", "three (a)", "four (a)", "and 2 more"]
    assert book.due(1000.0) is None


NOTICE = Notice("✖ critical", "Loss is NaN; all of it (a)\nand more", 0)


def test_nothing_is_sent_unless_it_is_wished() -> None:
    assert signals(NOTICE, ScreenSettings(), Terminal()) == ""
    assert signals(NOTICE, ScreenSettings(bell=True), Terminal()) == "\a"


def test_desktop_notifications_in_both_dialects() -> None:
    text = "Loss is NaN, all of it (a), and more"
    nine = signals(NOTICE, ScreenSettings(desktop_notifications="osc9"), Terminal())
    assert nine == f"\x1b]9;✖ critical: {text}\a"
    many = ScreenSettings(desktop_notifications="osc777", bell=True)
    assert signals(NOTICE, many, Terminal()) == f"\x1b]777;notify;✖ critical;{text}\a\a"


def test_in_tmux_the_sequence_is_passed_on_and_without_unicode_it_is_ascii() -> None:
    terminal = Terminal(is_unicode=False, multiplexer="tmux")
    sequence = signals(NOTICE, ScreenSettings(desktop_notifications="osc9"), terminal)
    assert sequence.startswith("\x1bPtmux;\x1b\x1b]9;x critical: ")
    assert sequence.endswith("\a\x1b\\")
    assert sequence.isascii()


@given(st.text(min_size=1), st.text())
def test_no_text_gets_out_of_the_sequence(title: str, name: str) -> None:
    notice = watching().judge(0, name, [finding("x", title=title)], 1.0)
    assert notice is not None
    sequence = signals(notice, ScreenSettings(desktop_notifications="osc777"), Terminal())
    inside = re.fullmatch(r"\x1b\]777;notify;([^;]*);([^;]*)\a", sequence)
    assert inside is not None
    assert (inside[1] + inside[2]).isprintable()
    assert len(sequence) < 300
