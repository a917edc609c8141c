"""Which commands make sense for a row, and which of them are worth a place at the bottom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .saving import Saving, is_read_only, is_unsaved

if TYPE_CHECKING:
    from .pick import Pick
    from .shown import Shown


_HARMLESS = ("copy", "verdict", "fold", "go")
"""What changes nothing."""


_SETTLED_HERE = {
    "seeds": "Answer",
    "hardware": "Answer",
    "revision": "Answer",
    "baseline": "Answer",
    "reproduced": "Plan",
    "isolate_data": "Plan",
    "isolate_model": "Plan",
    "isolate_optimiser": "Plan",
    "hypotheses": "Add",
    "monitors": "Add",
}
"""Items that the key which opens can do something about, and what."""


class Offers(NamedTuple):
    """Commands that do something here; those at the bottom of the screen, with their names."""

    allowed: frozenset[str] = frozenset()
    footer: tuple[tuple[str, str], ...] = ()


def offers(
    shown: Shown | None,
    pick: Pick | None,
    saving: Saving,
    undoable: str = "",
    redoable: str = "",
    *,
    is_jump: bool = False,
) -> Offers:
    """What can be done to a row in this state, the most useful first.

    `is_jump`: the cursor is in the detail, on the name of another row.
    """
    if shown is None:
        return _offered({"add_hypothesis": "Hypothesis", "note": "Note"})
    own = {"go": "Go there"} if is_jump else {}
    own |= dict(_for_row(shown, pick)) if pick is not None else {}
    rescue = {"save_elsewhere": "Save elsewhere"} if is_unsaved(saving) else {}
    if is_read_only(saving):
        harmless = {name: said for name, said in own.items() if name in _HARMLESS}
        taking = {"take_over": "Take over"} if saving.is_held else {}
        return _offered({**rescue, **taking, **harmless})
    named = {**rescue, **own}
    for name in ("add_hypothesis", "note", "decision", "prevention"):
        named.setdefault(name, "Hypothesis" if name == "add_hypothesis" else "")
    if open_question(shown) or (pick is not None and shown.find(pick.id, "fact") is not None):
        named.setdefault("answer", "Answer" if pick is not None and pick.kind == "phase" else "")
    named |= dict.fromkeys(("owner", "timeline", "baseline", "rename"), "")
    named |= {"undo": ""} if undoable else {}
    named |= {"redo": ""} if redoable else {}
    return _offered(named)


def open_question(shown: Shown) -> str:
    """The first circumstance that nobody knows yet; empty if all are known."""
    from mltd.sessions.model.constraints import Topic

    facts = shown.session.constraints.facts
    return next((topic.value for topic in Topic if topic not in facts), "")


def _offered(named: dict[str, str]) -> Offers:
    shown = tuple((name, said) for name, said in named.items() if said)
    return Offers(frozenset(named), shown)


def _for_row(shown: Shown, pick: Pick) -> Iterator[tuple[str, str]]:
    """Commands of a kind of row; those without a name are not shown at the bottom."""
    if pick.reference is not None:
        yield "go", "Go there"
        if pick.kind == "hypothesis":
            yield "remove", "Take back"
        yield "copy", "Copy"
        return
    match pick.kind:
        case "phase":
            yield "fold", "Fold"
            if shown.session.phase.value != pick.id:
                yield "advance", "Make current"
        case "check":
            yield from _for_check(shown, pick)
        case "fact":
            facts = shown.session.constraints.facts
            fact = next((fact for topic, fact in facts.items() if topic.value == pick.id), None)
            if fact is not None and fact.is_prefilled:
                yield "advance", "Confirm"
            yield "answer", "Answer" if fact is None else "Correct"
            if fact is not None:
                yield from (("remove", "Forget"), ("copy", "Copy"))
        case "hypothesis":
            yield from _for_hypothesis(shown, pick)
        case "experiment":
            yield from _for_experiment(shown, pick)
        case "prevention":
            is_done = any(item.id == pick.id and item.is_done for item in shown.session.prevention)
            yield from (("advance", "Not done" if is_done else "Done"), ("edit", "Edit"))
            yield from (("remove", "Remove"), ("prevention", "Add another"), ("copy", ""))
        case "decision" | "note":
            yield from (("edit", "Edit"), ("remove", "Remove"), ("copy", "Copy"))


def _for_check(shown: Shown, pick: Pick) -> Iterator[tuple[str, str]]:
    given = shown.session.marks.get(pick.id)
    state = given.state.value if given is not None else "open"
    yield "advance", {"done": "Untick", "waived": "Open again"}.get(state, "Tick")
    if state != "waived":
        yield "waive", "Waive"
    if pick.id in _SETTLED_HERE:
        yield "edit", _SETTLED_HERE[pick.id]
    yield "copy", ""


def _for_hypothesis(shown: Shown, pick: Pick) -> Iterator[tuple[str, str]]:
    hypothesis = shown.session.hypothesis(pick.id)
    is_parked = hypothesis is not None and hypothesis.status.value == "parked"
    yield from (("plan", "Plan experiment"), ("add_evidence", "Evidence"))
    yield from (("surer", "Surer"), ("less_sure", "Less sure"))
    yield from (("advance", "Status"), ("waive", "Take up" if is_parked else "Park"))
    yield from (("edit", ""), ("remove", ""), ("copy", ""), ("move_down", ""), ("move_up", ""))


def _for_experiment(shown: Shown, pick: Pick) -> Iterator[tuple[str, str]]:
    experiment = shown.session.experiment(pick.id)
    if experiment is None:
        return
    status = experiment.status.value
    result = shown.result_of(pick.id)
    if result is not None:
        yield "verdict", "Verdict"
    is_ended = experiment.is_run_over or experiment.status.is_over
    if experiment.run and not is_ended and (result is None or result.is_preliminary):
        yield "end_run", "Run is over"
    if not experiment.status.is_over:
        yield "advance", "Start" if status == "planned" else ""
    if status != "cancelled":
        yield "link_run", "Link run" if not experiment.run else ""
    yield "copy", "Copy command" if experiment.command else "Copy"
    if status not in ("passed", "failed"):
        yield "waive", "Take up" if status == "cancelled" else "Cancel"
    yield from (("edit", "Edit"), ("plan", ""), ("add_evidence", ""))
    yield from (("remove", ""), ("move_down", ""), ("move_up", ""))
