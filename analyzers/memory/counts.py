"""How many parameters a device holds: from the checkpoint, else the log, else the config."""

from __future__ import annotations

from dataclasses import dataclass

from mltd.runs.roles import normalise
from mltd.runs.run import Run
from mltd.runs.statements import Statement, StatementKind
from mltd.runs.statements.sizes import count_of, plain_number

from ..core.finding import Evidence, EvidenceKind
from ..core.view import RunView
from .agreement import agreement
from .amount import Origin
from .keys import NAMES, Known
from .shape import Shape
from .weights import WeightFacts

_MOST = 1e15


@dataclass(frozen=True, slots=True)
class Count:
    """Parameters of the whole model, or of the part that one device holds."""

    total: float
    trainable: float
    origin: Origin
    how: str
    sources: tuple[Evidence, ...]
    is_per_device: bool = False
    """Tensor or pipeline parallelism is taken into account already."""


def count_parameters(
    view: RunView, known: Known, shape: Shape, weights: WeightFacts | None
) -> Count | None:
    """The best that is known; None if nothing says it."""
    said = _said(view.run)
    if weights is not None and weights.parameters > 0:
        total = float(weights.parameters)
        trainable, sources = total, [weights.evidence]
        if weights.trainable is not None and 0 <= weights.trainable <= total:
            trainable = float(weights.trainable)
        # The log knows what is frozen, the file does not.
        stated = agreement(view.run, weights.parameters).trainable
        trained = sum(one.value or 0.0 for one in stated)
        if weights.trainable is None and stated and _is_part(trained, total):
            trainable = min(trained, total)
            sources += [statement_evidence(view.run, one) for one in stated]
        how = f"{weights.parameters:,} in {weights.name}"
        return Count(total, trainable, Origin.MEASURED, how, tuple(sources))
    found = _from_log(view.run, said) or _from_config(known)
    return found or _from_series(view) or _from_shape(shape)


def statement_evidence(run: Run, stated: Statement) -> Evidence:
    """A statement of a log as evidence: file and line."""
    name = run.files[stated.file].path.rpartition("/")[2] if stated.file < len(run.files) else ""
    return Evidence(EvidenceKind.LOG, f"{name or 'log'}:{stated.line}", stated.text[:200])


def _said(run: Run) -> dict[str, Statement]:
    """The last statement of each kind; of several ranks, the fullest."""
    found: dict[str, Statement] = {}
    for stated in run.statements:
        if stated.kind is not StatementKind.PARAMETERS or not stated.value:
            continue
        best = found.get(stated.subject)
        is_rank = stated.subject == "rank" and best is not None
        if not is_rank or (best is not None and stated.value > (best.value or 0.0)):
            found[stated.subject] = stated
    return found


def _is_part(value: float | None, total: float) -> bool:
    return value is not None and 0 < value <= 1.01 * total


def _from_log(run: Run, said: dict[str, Statement]) -> Count | None:
    if (own := said.get("rank")) is not None and own.value:
        how = f"{own.value:,.0f} on one device"
        source = (statement_evidence(run, own),)
        return Count(own.value, own.value, Origin.MEASURED, how, source, is_per_device=True)
    total, trainable, frozen = said.get("total"), said.get("trainable"), said.get("frozen")
    stated = [one for one in (total, trainable, frozen) if one is not None]
    sources = tuple(statement_evidence(run, one) for one in stated)
    if total is None and trainable is None:
        return None
    trained = trainable.value if trainable is not None else None
    whole = total.value if total is not None else None
    if whole is None and trained is not None:
        whole = trained + ((frozen.value if frozen is not None else None) or 0.0)
    whole = whole or 0.0
    if trained is None and frozen is not None and frozen.value and frozen.value < whole:
        trained = whole - frozen.value
    if not _is_part(trained, whole):
        trained = whole
    part = "" if trained == whole else f", of which {trained:,.0f} are trained"
    return Count(whole, trained or whole, Origin.MEASURED, f"{whole:,.0f}{part}", sources)


def _from_config(known: Known) -> Count | None:
    found: dict[str, tuple[float, Evidence]] = {}
    for meaning in ("count", "trainable"):
        for name in NAMES[meaning]:
            setting = known.settings.get(name)
            if setting is None or isinstance(setting.value, bool):
                continue
            text = str(setting.value).strip()
            value = plain_number(text)
            if value is None and text[-1:].isalpha():
                value = count_of(text[:-1].strip(), text[-1])
            if value is not None and 100 <= value < _MOST:
                found.setdefault(meaning, (value, setting.evidence))
    if not found:
        return None
    trained = found.get("trainable")
    whole = found.get("count") or trained
    assert whole is not None
    trainable = trained[0] if trained is not None and _is_part(trained[0], whole[0]) else whole[0]
    sources = tuple(dict.fromkeys(source for _, source in found.values()))
    return Count(whole[0], trainable, Origin.MEASURED, f"{whole[0]:,.0f}", sources)


def _from_series(view: RunView) -> Count | None:
    """Some loops log the count with every record."""
    for series in view.series:
        if len(series) and normalise(series.name.rpartition("/")[2]) in NAMES["count"]:
            value = float(series.values[-1])
            if 100 <= value < _MOST:
                evidence = Evidence(EvidenceKind.SERIES, series.name, f"{value:,.0f}")
                return Count(value, value, Origin.MEASURED, f"{value:,.0f}", (evidence,))
    return None


def _from_shape(shape: Shape) -> Count | None:
    found = shape.parameters()
    if found is None:
        return None
    value, how = found
    return Count(
        value, value, Origin.ESTIMATED, how, shape.sources("layers", "hidden", "vocabulary")
    )
