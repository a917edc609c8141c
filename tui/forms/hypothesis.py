"""Hypotheses by hand: a new one, another wording, and where one stands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.hypotheses import AddHypothesis, EditHypothesis, SetHypothesisStatus
from mltd.sessions.model.hypothesis import Hypothesis, HypothesisStatus

from .confidence import basis_field, confidence_field, read_confidence
from .evidence import evidence_fields, read_evidence
from .field import Field, Kind, Values
from .form import Form, Reading

_GUESS = 0.5
"""What somebody believes who gives no number."""
_QUESTIONS = {
    HypothesisStatus.REFUTED: "What shows that it is wrong?",
    HypothesisStatus.PARKED: "What keeps you from testing it now?",
    HypothesisStatus.CONFIRMED: "What shows that it is right?",
}
_DECISIONS = (
    HypothesisStatus.CONFIRMED,
    HypothesisStatus.REFUTED,
    HypothesisStatus.OPEN,
    HypothesisStatus.PARKED,
)


def hypothesis_form(
    new_id: str, at: datetime, known_causes: Sequence[str] = (), run: str = ""
) -> Form[AddHypothesis]:
    """A hypothesis of one's own, about a run of the session."""

    def read(values: Values) -> AddHypothesis:
        reading = Reading(values)
        confidence = read_confidence(reading)
        shown = read_evidence(reading, run)
        if confidence.basis is Basis.OBSERVATION and shown is None:
            reading.fault("ref", "an observation needs the place where it was seen")
        reading.finish()
        new = Hypothesis(
            id=new_id,
            statement=_sentence(reading),
            cause=reading.text("cause"),
            confidence=confidence,
            evidence=(shown,) if shown is not None else (),
            run=run,
            created=at,
        )
        return AddHypothesis(hypothesis=new)

    return Form(
        f"New hypothesis {new_id}",
        (
            _statement(),
            _cause(known_causes),
            confidence_field(_GUESS),
            basis_field(),
            *evidence_fields(),
        ),
        read,
        accept_label="Add",
    )


def edit_hypothesis_form(
    hypothesis: Hypothesis, known_causes: Sequence[str] = ()
) -> Form[EditHypothesis]:
    """The same hypothesis in other words."""

    def read(values: Values) -> EditHypothesis:
        reading = Reading(values)
        return EditHypothesis(
            id=hypothesis.id, statement=_sentence(reading), cause=reading.text("cause")
        )

    return Form(
        f"Reword {hypothesis.id}",
        (_statement(hypothesis.statement), _cause(known_causes, hypothesis.cause)),
        read,
        note=f"Held with {hypothesis.confidence}. Evidence and history stay as they are.",
    )


def decide_form(hypothesis: Hypothesis) -> Form[SetHypothesisStatus]:
    """Confirm, refute or reopen what is being tested, and say why."""

    def read(values: Values) -> SetHypothesisStatus:
        reading = Reading(values)
        return SetHypothesisStatus(
            id=hypothesis.id,
            status=HypothesisStatus(reading.text("status")),
            reason=reading.text("reason"),
        )

    def question(values: Values) -> str:
        status = HypothesisStatus(values.get("status") or HypothesisStatus.OPEN)
        return _QUESTIONS.get(status, "Why is it open again?")

    others = [one for one in _DECISIONS if one is not hypothesis.status]
    return Form(
        f"Decide {hypothesis.id}",
        (
            Field("status", "It is", others[0].value, Kind.CHOICE,
                  choices=tuple((one.value, one.value) for one in others)),
            Field("reason", "Reason", hint=question, is_required=True),
        ),
        read,
        note=f"{hypothesis.statement}\nis {hypothesis.status.value}, held with "
        f"{hypothesis.confidence}",
        accept_label="Set",
    )  # fmt: skip


def status_form(hypothesis: Hypothesis, status: HypothesisStatus) -> Form[SetHypothesisStatus]:
    """Say where a hypothesis stands now, and why; a verdict is not given without a reason."""

    def read(values: Values) -> SetHypothesisStatus:
        reading = Reading(values)
        return SetHypothesisStatus(id=hypothesis.id, status=status, reason=reading.text("reason"))

    question = _QUESTIONS.get(status, "Why? May stay empty.")
    return Form(
        f"{hypothesis.id} is {status.value}",
        (Field("reason", "Reason", hint=question, is_required=status in _QUESTIONS),),
        read,
        note=f"{hypothesis.statement}\nwas {hypothesis.status.value}, held with "
        f"{hypothesis.confidence}",
        accept_label="Set",
    )


def _statement(text: str = "") -> Field:
    return Field(
        "statement",
        "Statement",
        text,
        hint="one sentence that may be wrong, e.g. the rate is too high",
        is_required=True,
    )


def _cause(known: Sequence[str], cause: str = "") -> Field:
    return Field(
        "cause",
        "Failure mode",
        cause,
        hint="an id of the catalogue; empty if it is none of them",
        suggestions=tuple(known),
    )


def _sentence(reading: Reading) -> str:
    return " ".join(reading.text("statement").split())
