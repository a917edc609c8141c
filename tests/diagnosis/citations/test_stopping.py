"""A check that is stopped: what is known stays known, and the rest is open."""

from __future__ import annotations

from typing import Any

from mltd.diagnosis.answer import parse_opinion
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.artifacts.artifact import Hits
from mltd.diagnosis.citations import Check, Verdict

from ..answer.answers import answer, cause, log
from .checking import LINES

GOOD, BAD = log(LINES[4], 5), log("nobody wrote this line", 60)


class StoppingBook:
    """Has the check stopped by somebody while it searches."""

    check: Check

    def __init__(self, book: ArtifactBook) -> None:
        self._book = book

    def __getattr__(self, name: str) -> Any:
        return getattr(self._book, name)

    def search(self, *asked: Any, **more: Any) -> Hits:
        self.check.stop()
        return self._book.search(*asked, **more)


def test_nothing_was_looked_up_yet(book: ArtifactBook) -> None:
    check = Check(parse_opinion(answer(cause(GOOD, BAD, confidence=0.85))), book)
    check.stop()
    check.run()
    found = check.result()
    assert [one.verdict for one in found.citations] == [Verdict.UNREADABLE] * 2
    assert {one.reason for one in found.citations} == {"the check was stopped"}
    assert found.causes[0].confidence == 0.50
    assert found.status == "needs_more_data"
    assert found.notes[0] == "the check was stopped: 2 of 2 citations were not looked up"


def test_between_two_citations(book: ArtifactBook) -> None:
    opinion = parse_opinion(answer(cause(GOOD, BAD)))
    check = Check(opinion, book, on_progress=lambda done, total: check.stop())
    check.run()
    assert [one.verdict.value for one in check.result().citations] == ["confirmed", "unreadable"]
    assert "1 of 2" in check.result().notes[0]


def test_while_the_rest_of_a_file_is_searched(book: ArtifactBook) -> None:
    stopping = StoppingBook(book)
    stopping.check = check = Check(parse_opinion(answer(cause(GOOD, BAD))), stopping)
    check.run()
    found = check.result()
    assert [one.verdict.value for one in found.citations] == ["confirmed", "wrong"]
    assert found.citations[1].reason == (
        "what is quoted is not at line 60; the rest of the file was not searched"
    )
    assert "not looked for elsewhere" in found.notes[0]


def test_a_stop_after_the_end_changes_nothing(book: ArtifactBook) -> None:
    check = Check(parse_opinion(answer(cause(GOOD, BAD))), book)
    check.run()
    before = check.result()
    check.stop()
    assert check.result() == before
    assert before.notes == ()
