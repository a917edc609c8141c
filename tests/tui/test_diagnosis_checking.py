"""While citations are looked up, how far that has come."""

from __future__ import annotations

from mltd.diagnosis.events import Answered, Checking
from mltd.tui.claude.turn import Turn
from mltd.tui.claude.turn_blocks import turn_blocks
from mltd.tui.findings.spans import text_of


def shown(turn: Turn) -> str:
    blocks = turn_blocks(turn, 0, "a run", "a model", 100, ())
    return " ".join(" ".join(text_of(line) for block in blocks for line in block.lines).split())


def test_it_is_told_and_counts_on() -> None:
    turn = Turn()
    turn.take(Answered("{}"))
    assert shown(turn).endswith("its citations are looked up now")
    for done in (7, 8):
        version = turn.version
        turn.take(Checking(done, 15))
        assert turn.version > version, "it is to be drawn anew"
        assert shown(turn).endswith(f"its citations are looked up now: {done} of 15")


def test_who_has_stopped_it_is_not_told_any_more() -> None:
    turn = Turn()
    turn.take(Answered("{}"))
    turn.stop()
    turn.take(Checking(7, 15))
    assert "7 of 15" not in shown(turn)
