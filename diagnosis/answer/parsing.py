"""From what a model sent to an opinion, or to a sentence that says what it must correct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mltd.analyzers.core.finding import Basis, Severity

from .citation import Citation, Objection
from .citing import evidence_in, objection_in
from .errors import AnswerError
from .form import Form, number_in, said_by, shown
from .json_text import object_in
from .opinion import (
    Agreement,
    Fix,
    NeededData,
    Opinion,
    OpinionStatus,
    RootCauseOpinion,
    Stance,
)
from .wording import one_line

MOST_CAUSES, MOST_CITATIONS, MOST_FIXES, MOST_NEEDS, MOST_WORDS = 8, 16, 12, 12, 40
_STATUSES = {
    "diagnosed": OpinionStatus.DIAGNOSIS_COMPLETE,
    "complete": OpinionStatus.DIAGNOSIS_COMPLETE,
    "diagnosis_completed": OpinionStatus.DIAGNOSIS_COMPLETE,
    "need_more_data": OpinionStatus.NEEDS_MORE_DATA,
    "no_metrics": OpinionStatus.NEEDS_MORE_DATA,
    "no_access": OpinionStatus.NOT_ENOUGH_ACCESS,
}
_SEVERITIES = {
    "error": Severity.CRITICAL,
    "high": Severity.CRITICAL,
    "major": Severity.CRITICAL,
    "medium": Severity.WARNING,
    "moderate": Severity.WARNING,
    "low": Severity.INFO,
    "minor": Severity.INFO,
}
_STANCES = {
    "agree": Stance.AGREES,
    "agreed": Stance.AGREES,
    "disagree": Stance.DISAGREES,
    "add": Stance.ADDS,
    "partially_agrees": Stance.ADDS,
}
_BASES = {"observed": Basis.OBSERVATION, "inferred": Basis.INFERENCE}
_WRAPPERS = 3
"""Objects with a single field around the answer that are taken off."""


def parse_opinion(data: Mapping[str, Any] | str) -> Opinion:
    """The opinion in a tool's input or in a reply; `AnswerError` is all that it raises."""
    values = object_in(data) if isinstance(data, str) else data
    if not isinstance(values, Mapping):
        raise AnswerError.of([f"it is {shown(values)}; give an object"])
    faults: list[str] = []
    opinion = _opinion(Form(_unwrapped(values), "", faults))
    if opinion is None or faults:
        raise AnswerError.of(faults)
    return opinion


def _unwrapped(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer without what it is packed in: {"diagnosis": {...}}."""
    for _ in range(_WRAPPERS):
        inner = next(iter(values.values()), None) if len(values) == 1 else None
        if isinstance(inner, str) and inner.lstrip().startswith("{"):
            inner = object_in(inner)
        if not isinstance(inner, Mapping):
            break
        values = inner
    return values


def _opinion(form: Form) -> Opinion | None:
    notes: list[str] = []
    status = form.choice("status", OpinionStatus, _STATUSES)
    causes = tuple(_cause(one, notes) for one in form.forms("root_causes"))
    fixes = tuple(
        _fix(one, number) for number, one in enumerate(form.forms("recommended_fixes", "fixes"), 1)
    )
    summary = form.text("summary", most=2000, is_needed=True)
    quick = _quick(form)
    needs = tuple(map(_need, _objects(form, "needed_data", "requests", key="what")))
    words = tuple(map(_word, form.forms("agreement")))
    if form.faults or status is None:
        return None
    known = tuple(one for one in causes if one is not None)
    _refuse_contradictions(form, status, known)
    return Opinion(
        status=status,
        summary=summary,
        root_causes=_some(known, MOST_CAUSES, "root causes", notes),
        quick_fixes=_some(quick, MOST_FIXES, "quick fixes", notes),
        recommended_fixes=_some(
            tuple(sorted((one for one in fixes if one is not None), key=lambda f: f.priority)),
            MOST_FIXES,
            "fixes",
            notes,
        ),
        needed_data=_some(needs, MOST_NEEDS, "requests", notes),
        agreement=_some(
            tuple(one for one in words if one is not None), MOST_WORDS, "remarks", notes
        ),
        notes=tuple(notes),
    )


def _refuse_contradictions(
    form: Form, status: OpinionStatus, causes: tuple[RootCauseOpinion, ...]
) -> None:
    if status is OpinionStatus.DIAGNOSIS_COMPLETE and not causes:
        form.fault(
            "status",
            "is diagnosis_complete, but root_causes is empty; name a root cause, or give "
            "needs_more_data and say in needed_data what is missing",
        )
    alarming = [cause for cause in causes if cause.severity is not Severity.INFO]
    if status is OpinionStatus.HEALTHY and alarming:
        form.fault(
            "status",
            f"is healthy, but root_causes holds {len(alarming)} of severity warning or critical; "
            "give another status, or leave them out",
        )


def _cause(form: Form, notes: list[str]) -> RootCauseOpinion | None:
    before = len(form.faults)
    issue = form.line("issue", "title", most=400, is_needed=True)
    mode = form.line("failure_mode", "failure_mode_id", "id", most=80) or "unnamed"
    severity = form.choice("severity", Severity, _SEVERITIES, Severity.WARNING)
    basis = form.choice("basis", Basis, _BASES, Basis.INFERENCE)
    confidence = _confidence(form)
    evidence = _evidence(form, notes)
    against = _against(form, notes)
    explains = tuple(one_line(said, 80) for said in map(said_by, form.items("explains")) if said)
    explanation = form.text("explanation", most=3000)
    if len(form.faults) > before or severity is None or basis is None or confidence is None:
        return None
    return RootCauseOpinion(
        issue=issue,
        failure_mode=mode.casefold().replace(" ", "_").replace("-", "_"),
        severity=severity,
        explains=tuple(dict.fromkeys(explains))[:MOST_WORDS],
        explanation=explanation,
        evidence=_some(evidence, MOST_CITATIONS, "citations", notes),
        against=_some(against, MOST_CITATIONS, "counter-arguments", notes),
        confidence=confidence,
        basis=basis,
    )


def _evidence(form: Form, notes: list[str]) -> tuple[Citation, ...]:
    """The citations; one that is none is left out, unless nothing would be left."""
    aside = Form(form.values, form.where, [])
    values = form.items("evidence")
    read = (evidence_in(value, aside, index) for index, value in enumerate(values))
    found = tuple(one for one in read if one is not None)
    if values and not found:
        form.faults += aside.faults
    else:
        notes += [f"left out: {fault}" for fault in aside.faults]
    return found


def _against(form: Form, notes: list[str]) -> tuple[Objection, ...]:
    aside = Form(form.values, form.where, [])
    values = form.items("against")
    found = tuple(objection_in(value, aside, index) for index, value in enumerate(values))
    notes += [f"left out: {fault}" for fault in aside.faults]
    return tuple(one for one in found if one)


def _confidence(form: Form) -> float | None:
    """From 0 to 1; `85%` and a whole 85 can only mean 0.85."""
    value = form.get("confidence")
    said = value.strip() if isinstance(value, str) else ""
    is_percent = said.endswith("%")
    found = number_in(said.removesuffix("%") if is_percent else value)
    if found is None:
        form.fault("confidence", f"is {shown(value)}; give a number from 0 to 1")
        return None
    is_percent |= 2 <= found <= 100 and found.is_integer()
    found = found / 100 if is_percent else found
    if not 0 <= found <= 1:
        form.fault("confidence", f"is {found:g}; give a number from 0 to 1")
        return None
    return found


def _fix(form: Form, number: int) -> Fix | None:
    before = len(form.faults)
    how = form.get("implementation")
    inner = form.inner("implementation", how) if isinstance(how, Mapping) else form
    title = form.line("title", most=200)
    change = inner.text("change", "implementation", "description", most=1000) or title
    example = inner.text("example", "code", "command", most=4000)
    priority = form.number("priority") if form.get("priority") is not None else number
    if not change:
        form.fault("change", "is missing or empty")
    fix = Fix(
        priority=int(min(max(priority or number, 1), 99)),
        title=title or one_line(change, 120),
        addresses=form.line("addresses", most=80).casefold(),
        change=change,
        example=example,
        metric=form.line("metric", most=120),
        expected_impact=form.line("expected_impact", most=500),
        verify=form.text("verify", most=1000),
        if_it_fails=form.text("if_it_fails", most=1000),
        is_reversible=form.flag("is_reversible", "reversible", default=True),
    )
    return fix if len(form.faults) == before else None


def _quick(form: Form) -> tuple[str, ...]:
    found = []
    for index, value in enumerate(form.items("quick_fixes")):
        inner = value if isinstance(value, Mapping) else {"title": value}
        one = form.inner(f"quick_fixes[{index}]", inner)
        found.append(one.line("title", "change", "fix", "text", most=400))
    return tuple(one for one in found if one)


def _objects(form: Form, *names: str, key: str) -> list[Form]:
    """The objects of a list in which words alone stand for the main field."""
    values = form.items(*names)
    return [
        form.inner(f"{names[0]}[{index}]", value if isinstance(value, Mapping) else {key: value})
        for index, value in enumerate(values)
    ]


def _need(form: Form) -> NeededData:
    return NeededData(
        what=form.line("what", most=400, is_needed=True),
        why=form.line("why", most=600),
        how=form.text("how", "how_to_get_it", most=1000),
    )


def _word(form: Form) -> Agreement | None:
    stance = form.choice("stance", Stance, _STANCES)
    found = form.line("id", most=80, is_needed=True).casefold()
    why = form.line("why", "reason", most=600)
    return Agreement(id=found, stance=stance, why=why) if stance is not None else None


def _some(found: tuple[Any, ...], most: int, what: str, notes: list[str]) -> tuple[Any, ...]:
    if len(found) > most:
        notes.append(f"of {len(found)} {what} the first {most} are kept")
    return found[:most]
