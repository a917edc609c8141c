"""A piece of evidence: what kind, where it stands, and what it says there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mltd.sessions.actions.hypotheses import AddEvidence
from mltd.sessions.model.evidence import EvidenceRef, RefKind

from .field import Field, Kind, Values
from .form import Form, Reading

_EXAMPLES = {
    RefKind.SERIES: "train/loss@24590..25010",
    RefKind.LOG: "train.err:812",
    RefKind.CONFIG: "config:optimizer.lr",
    RefKind.CHECKPOINT: "step-500.pt:blocks.0.weight",
    RefKind.JOB: "job:48213",
    RefKind.EXPERIMENT: "E2",
}
_MEANINGS = {
    RefKind.SERIES: "a metric and the steps where it shows",
    RefKind.LOG: "a file and its line",
    RefKind.CONFIG: "the key of a setting",
    RefKind.CHECKPOINT: "a checkpoint and a tensor in it",
    RefKind.JOB: "the number of a job",
    RefKind.EXPERIMENT: "the id of an experiment of this session",
}
_NUMBER = r"[-+]?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
_SHAPES = {
    RefKind.SERIES: rf"[^@]+(?:@{_NUMBER}(?:\.\.{_NUMBER})?)?",
    RefKind.LOG: r".+:\d+(?:-\d+)?",
    RefKind.CONFIG: r".+",
    RefKind.CHECKPOINT: r".+:.+",
    RefKind.JOB: r"(?:job:)?\d+\S*",
    RefKind.EXPERIMENT: r"[Ee]\d+",
}


def evidence_form(
    hypothesis: str,
    *,
    is_against: bool = False,
    run: str = "",
    runs: Sequence[tuple[str, str]] = (),
    ref: str = "",
    kind: RefKind = RefKind.SERIES,
    quote: str = "",
) -> Form[AddEvidence]:
    """Evidence for or against a hypothesis; `runs` are ids and names, asked for if several."""
    has_choice = len(runs) > 1

    def read(values: Values) -> AddEvidence:
        reading = Reading(values)
        piece = read_evidence(reading, reading.text("run") if has_choice else run)
        reading.finish()
        if piece is None:
            raise ValueError("evidence needs a place where it shows")
        is_opposed = reading.text("side") == "against"
        return AddEvidence(id=hypothesis, evidence=piece, is_against=is_opposed)

    side = Field(
        "side",
        "Speaks",
        "against" if is_against else "for",
        Kind.CHOICE,
        choices=(("for", f"for {hypothesis}"), ("against", f"against {hypothesis}")),
        hint="what speaks against it is worth as much as what speaks for it",
    )
    of_run = Field("run", "Run", run, Kind.CHOICE, choices=tuple(runs)) if has_choice else None
    kind_of, place, said = evidence_fields(kind=kind, ref=ref, quote=quote, is_required=True)
    fields = (side, kind_of, place, said, of_run)
    return Form(
        f"Evidence on {hypothesis}",
        tuple(field for field in fields if field is not None),
        read,
        accept_label="Add",
    )


def evidence_fields(
    *,
    kind: RefKind = RefKind.SERIES,
    ref: str = "",
    quote: str = "",
    is_required: bool = False,
) -> tuple[Field, Field, Field]:
    """What kind it is, where it stands, what stands there."""
    return (
        Field(
            "kind",
            "Evidence",
            kind.value,
            Kind.CHOICE,
            choices=tuple((one.value, one.value) for one in RefKind),
            hint=_meaning,
        ),
        Field("ref", "Where", ref, hint=_example, is_required=is_required),
        Field("quote", "Quote", quote, hint="the value or the text as it stands there"),
    )


def read_evidence(reading: Reading, run: str = "") -> EvidenceRef | None:
    """The piece that was entered; None if no place was given."""
    kind, ref = _kind(reading.text("kind")), reading.text("ref")
    if not ref:
        if reading.text("quote"):
            reading.fault("ref", f"where does it stand? {_example({'kind': kind.value})}")
        return None
    if not re.fullmatch(_SHAPES[kind], ref):
        reading.fault("ref", f"{ref!r} is not {_MEANINGS[kind]}: say e.g. {_EXAMPLES[kind]}")
        return None
    if kind is RefKind.EXPERIMENT:
        ref = ref.upper()
    elif kind is RefKind.JOB:
        ref = f"job:{ref.removeprefix('job:')}"
    return EvidenceRef(kind=kind, ref=ref, quote=reading.text("quote"), run=run)


def _kind(text: str) -> RefKind:
    return RefKind(text) if text in list(RefKind) else RefKind.SERIES


def _meaning(values: Values) -> str:
    return _MEANINGS[_kind(values.get("kind", ""))]


def _example(values: Values) -> str:
    kind = _kind(values.get("kind", ""))
    return f"{_MEANINGS[kind]}, e.g. {_EXAMPLES[kind]}"
