"""Citations of runs that somebody else reads into are looked up by their owner."""

from __future__ import annotations

from collections.abc import Callable

from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import CheckedCitation, Verdict

from .checking import LINES, checked, verdict

LINE = {"kind": "log", "artifact": "train.log", "first_line": 1, "last_line": 1, "quote": LINES[0]}
POINT = {"kind": "series", "run": "", "name": "loss", "step": 100, "value": "2.5"}
WRONG = {"kind": "series", "run": "", "name": "loss", "step": 100, "value": "99"}
SETTING = {"kind": "config", "run": "", "key": "amp", "value": "true"}


def test_only_what_is_about_runs_is_left_to_their_owner(book: ArtifactBook) -> None:
    asked: list[CheckedCitation] = []

    def owner(look: Callable[[], CheckedCitation]) -> CheckedCitation:
        asked.append(look())
        return asked[-1]

    found = checked(book, LINE, POINT, SETTING, by_owner=owner)
    assert [one.verdict for one in found.citations] == [Verdict.CONFIRMED] * 3
    assert [one.citation.kind for one in asked] == ["series", "config"]


def test_what_the_owner_finds_wrong_is_struck(book: ArtifactBook) -> None:
    found = verdict(book, WRONG, by_owner=lambda look: look())
    assert found.is_struck
    assert "2.5" in found.reason


def test_an_owner_who_never_comes_leaves_it_open(book: ArtifactBook) -> None:
    def busy(look: Callable[[], CheckedCitation]) -> CheckedCitation:
        raise TimeoutError

    found = verdict(book, POINT, by_owner=busy)
    assert found.verdict is Verdict.UNREADABLE
    assert found.reason
