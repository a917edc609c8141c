"""How sure one is: the questions that all beliefs share, and the form that changes one."""

from __future__ import annotations

from datetime import datetime

from mltd.analyzers.core.finding import Basis
from mltd.sessions.actions.hypotheses import SetConfidence
from mltd.sessions.model.confidence import Confidence, why_too_sure
from mltd.sessions.model.hypothesis import Hypothesis

from .field import Field, Kind, Values
from .form import Form, Reading

_BASES = (
    (Basis.INFERENCE, "reasoned from other facts"),
    (Basis.RESEARCH, "matches a documented failure pattern"),
    (Basis.OBSERVATION, "an artifact or an experiment shows it"),
)
_SHOWN_CHANGES = 3


def basis_field(basis: Basis = Basis.INFERENCE) -> Field:
    """What a belief rests on."""
    return Field(
        "basis",
        "Basis",
        basis.value,
        Kind.CHOICE,
        choices=tuple((one.value, f"{one.value} {one.ceiling:.2f}") for one, _ in _BASES),
        hint=_basis_hint,
    )


def confidence_field(value: float) -> Field:
    """How sure one is, with what the chosen basis allows."""
    return Field("confidence", "Confidence", f"{value:.2f}", hint=_ceiling_hint, is_required=True)


def read_confidence(reading: Reading) -> Confidence:
    """The belief that was entered; a fault if its basis cannot bear it."""
    basis = Basis(reading.text("basis") or Basis.INFERENCE)
    value = reading.parsed("confidence", _number, 0.0)
    if problem := why_too_sure(value, basis):
        reading.fault("confidence", problem)
        value = 0.0
    return Confidence(value=value, basis=basis)


def confidence_form(hypothesis: Hypothesis, by: float = 0.0) -> Form[SetConfidence]:
    """Be surer or less sure by so much, as far as the basis allows, and say why."""
    held = hypothesis.confidence
    wished = max(0.0, min(held.ceiling, held.value + by))
    why = "What makes you surer?" if by > 0 else "What makes you doubt it?" if by < 0 else "Why?"

    def read(values: Values) -> SetConfidence:
        reading = Reading(values)
        confidence = read_confidence(reading)
        reading.finish()
        return SetConfidence(id=hypothesis.id, confidence=confidence, reason=reading.text("reason"))

    return Form(
        f"How sure is {hypothesis.id}?",
        (
            Field("reason", "Reason", hint=f"{why} It is kept in the history.", is_required=True),
            confidence_field(wished),
            basis_field(held.basis),
        ),
        read,
        note=hypothesis.statement,
        accept_label="Set",
        asides=_history(hypothesis),
    )


def _number(text: str) -> float:
    """0.6, .6, 0,6 and 60% all say the same."""
    try:
        value = float(text.rstrip("% ").replace(",", "."))
    except ValueError:
        raise ValueError(f"{text!r} is no number: say e.g. 0.6 or 60%") from None
    return value / 100 if text.endswith("%") else value


def _basis_hint(values: Values) -> str:
    return next((why for basis, why in _BASES if basis.value == values.get("basis")), "")


def _ceiling_hint(values: Values) -> str:
    basis = Basis(values.get("basis") or Basis.INFERENCE)
    return f"from 0 to {basis.ceiling:.2f}, the ceiling of {basis.value}"


def _history(hypothesis: Hypothesis) -> tuple[str, ...]:
    """The last few changes, the newest first."""
    lines = (
        f"{_moment(change.at)}  {change.confidence.value:.2f} {change.confidence.basis.value:<11}"
        f"  {' '.join(change.reason.split())}"
        for change in reversed(hypothesis.history[-_SHOWN_CHANGES:])
    )
    return tuple(lines) or (f"now {hypothesis.confidence}",)


def _moment(at: datetime) -> str:
    return at.astimezone().strftime("%d %b %H:%M")
