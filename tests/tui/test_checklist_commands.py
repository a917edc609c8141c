from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

from mltd.tui.checklist.copying import copied_text
from mltd.tui.checklist.keys import offers, open_question
from mltd.tui.checklist.pick import Pick
from mltd.tui.checklist.saving import Draft
from mltd.tui.checklist.shown import Shown
from mltd.tui.checklist.wishes import wish

from .triages import LIVE, MISSING, TRIAGE, series

SHOWN = Shown(TRIAGE, "E4", MISSING, LIVE)


class Saving(NamedTuple):
    state: str
    pending: int = 0
    problem: str = ""
    is_held: bool = False


def test_every_command_of_a_row_means_something_for_it() -> None:
    def names(kind: str, name: str) -> list[str]:
        return [said for _, said in offers(SHOWN, Pick(kind=kind, id=name), Draft()).footer]

    assert names("check", "seeds") == ["Tick", "Waive", "Answer", "Hypothesis"]
    assert names("check", "logs")[0] == "Untick"
    assert names("hypothesis", "H4")[:2] == ["Plan experiment", "Evidence"]
    assert "Take up" in names("hypothesis", "H4")
    assert "Park" in names("hypothesis", "H1")
    assert names("experiment", "E4")[:3] == ["Start", "Link run", "Copy command"]
    assert names("experiment", "E1")[0] == "Verdict"
    assert "Cancel" not in names("experiment", "E1")
    assert "Take up" in names("experiment", "E5")
    assert names("fact", "hardware")[:2] == ["Confirm", "Correct"]
    assert names("fact", "data")[0] == "Answer"
    assert names("phase", "intake")[:2] == ["Fold", "Make current"]
    assert names("prevention", "P2")[0] == "Not done"


def test_undo_saving_elsewhere_and_taking_over_are_there_when_they_do_something() -> None:
    pick = Pick(kind="check", id="seeds")
    usual = offers(SHOWN, pick, Saving("saved")).allowed
    assert not usual & {"undo", "redo", "save_elsewhere", "take_over"}
    assert {"undo", "redo"} <= offers(SHOWN, pick, Saving("saved"), "x", "y").allowed
    assert offers(SHOWN, pick, Saving("unsaved", 1)).footer[0][0] == "save_elsewhere"
    frozen = offers(
        SHOWN, Pick(kind="experiment", id="E1"), Saving("read_only", is_held=True), "x"
    ).allowed
    assert frozen == {"take_over", "verdict", "copy"}
    nobodys = offers(SHOWN, Pick(kind="experiment", id="E1"), Saving("read_only"), "x").allowed
    assert nobodys == {"verdict", "copy"}


def test_commands_become_wishes_about_rows() -> None:
    e4, h1 = Pick(kind="experiment", id="E4"), Pick(kind="hypothesis", id="H1")
    assert wish("surer", h1, SHOWN)[:4] == ("confidence", "hypothesis", "H1", 1)
    assert wish("less_sure", h1, SHOWN).amount == -1
    assert wish("move_up", e4, SHOWN)[:4] == ("move", "experiment", "E4", -1)
    assert wish("plan", e4, SHOWN)[:3] == ("plan", "hypothesis", "H3")
    assert wish("waive", e4, SHOWN)[:3] == ("waive", "experiment", "E4")
    assert wish("undo", e4, SHOWN)[:3] == ("undo", "session", TRIAGE.id)
    assert wish("answer", e4, SHOWN)[:3] == ("answer", "fact", "data")
    assert wish("answer", Pick(kind="check", id="seeds"), SHOWN)[:3] == ("answer", "fact", "seeds")
    assert wish("add_hypothesis", None, None)[:3] == ("add_hypothesis", "session", "")
    piece = Pick(kind="hypothesis", id="H1", reference=series("a@1", ""), is_against=True)
    assert wish("remove", piece, SHOWN) == ("remove", "evidence", "H1", -1, series("a@1", ""))
    assert open_question(SHOWN) == "data"


def test_what_is_copied_is_what_one_would_type() -> None:
    def copied(kind: str, name: str) -> str:
        return copied_text(SHOWN, Pick(kind=kind, id=name))

    assert copied("experiment", "E1").startswith("torchrun --nproc_per_node 8")
    assert copied("experiment", "E5") == "fp32 from step 12,000 on"
    assert copied("hypothesis", "H1") == "--lr 3e-4"
    assert copied("hypothesis", "H2").startswith("A corrupt shard")
    assert copied("fact", "hardware") == "8x A100 80GB on gpu-17"
    assert copied("check", "logs") == "Logs collected"
    assert copied("decision", "D1").startswith("Restart")
    assert copied("note", "N1").endswith("dropout 0.1")
    assert copied("prevention", "P1").startswith("Alert")
    piece = Pick(kind="hypothesis", id="H1", reference=series("a@1", "9.4"))
    assert copied_text(SHOWN, piece) == "a@1: 9.4"


def test_an_id_alone_means_the_item_of_the_checklist() -> None:
    found = SHOWN.find("hardware")
    assert found is not None
    assert found.kind == "check"
    fact = SHOWN.find("hardware", "fact")
    assert fact is not None
    assert fact.row == ("fact", "hardware")
    assert SHOWN.find("H99") is None


def test_the_pane_can_be_loaded_before_anything_heavy() -> None:
    code = (
        "import sys, mltd.tui.widgets.checklist_pane\n"
        "heavy = {'pydantic', 'numpy', 'pandas', 'torch', 'plotext'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
