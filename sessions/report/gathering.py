"""From the runs of a session to the material of a report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from mltd.analyzers.core.settings_lookup import Settings
from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.describing import describe_diagnosis
from mltd.runs.remote.names import mirror_root, shown
from mltd.runs.run import Run
from mltd.runs.summary import describe_run, plain, run_state

from ..facts.seen import seen_in
from ..model.experiment import Experiment
from ..model.run_ref import RunPart
from ..model.session import Session
from .chart import Chart
from .curves import MOST_CHARTS, charts_of, find_metric, overlay
from .excerpts import excerpts_of
from .material import Material, RunMaterial
from .pieces import pieces_about
from .values import values_at

FEW_CHARTS = 2
"""Of runs that are not the incident itself."""
MOST_OVERLAYS = 4
MOST_SETTINGS = 24
_FIRST_WORDS = (
    "seed", "lr", "learning_rate", "batch", "optim", "clip", "precision", "fp16", "bf16", "dtype",
    "amp", "warmup", "sched", "decay", "momentum", "epoch", "steps", "iters", "accum", "model",
    "data", "dropout", "hidden", "layers",
)  # fmt: skip


def material_of(
    session: Session,
    runs: Mapping[str, Run],
    diagnoses: Mapping[str, Diagnosis],
    why_not: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> Material:
    """What can be read of the session's runs; `why_not` has a sentence about those that cannot."""
    found: dict[str, RunMaterial] = {}
    incident = session.run("")
    for ref in session.runs:
        run, diagnosis = runs.get(ref.id), diagnoses.get(ref.id)
        if run is None:
            why = (why_not or {}).get(ref.id, "its files were not read")
            found[ref.id] = RunMaterial(False, why, paths=(ref.location,))
            continue
        is_main = incident is not None and ref.id == incident.id
        is_tried = ref.part is RunPart.EXPERIMENT
        most = MOST_CHARTS if is_main else 0 if is_tried else FEW_CHARTS
        found[ref.id] = _material(session, ref.id, run, diagnosis, most)
    return Material(found, dict(_overlays(session, runs)), seconds)


def _material(
    session: Session, name: str, run: Run, diagnosis: Diagnosis | None, charts: int
) -> RunMaterial:
    described = describe_diagnosis(diagnosis) if diagnosis is not None else None
    stored = session.diagnosis_of(name)
    known = described or (stored.body if stored is not None else None)
    pieces = pieces_about(session, name, known)
    excerpts, problems = excerpts_of(run, pieces)
    state, reason = run_state(run)
    settings = _settings(run)
    return RunMaterial(
        available=True,
        state=f"{state.value}: {reason}" if reason else state.value,
        charts=charts_of(run, pieces, known, charts) if charts else (),
        excerpts=excerpts,
        values=values_at(run, pieces, known),
        settings=tuple(settings[:MOST_SETTINGS]),
        more_settings=max(0, len(settings) - MOST_SETTINGS),
        configs=tuple(shown(a.path) for a in run.artifacts if a.kind == "config" and not a.problem),
        paths=tuple(map(shown, (*(s.path for s in run.files), *(a.path for a in run.artifacts)))),
        problems=(*problems, *(shown(a.problem) for a in run.artifacts if a.problem)),
        diagnosis=described,
        document=_document(run),
        seen=seen_in(run, Settings(run.config)),
    )


def _document(run: Run) -> dict[str, object]:
    document = describe_run(run)
    if mirror_root():
        named: dict[str, object] = json.loads(shown(json.dumps(document)))
        return named
    return document


def _settings(run: Run) -> list[tuple[str, str]]:
    """All settings as lines, those first that a repetition depends on."""
    lines = list(_flat("", plain(run.config)))

    def rank(setting: tuple[str, str]) -> int:
        name = setting[0].lower()
        return next((n for n, word in enumerate(_FIRST_WORDS) if word in name), len(_FIRST_WORDS))

    return sorted(lines, key=rank)


def _flat(prefix: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), part)
    elif prefix:
        yield prefix, str(value)


def _overlays(session: Session, runs: Mapping[str, Run]) -> Iterator[tuple[str, Chart]]:
    """The target metric before and after, for each experiment whose runs can be read."""
    drawn = 0
    for experiment in session.experiments:
        before, after = runs.get(_baseline(session, experiment)), runs.get(experiment.run)
        metric, axis = _target(experiment)
        if before is None or after is None or not metric or drawn >= MOST_OVERLAYS:
            continue
        first, second = find_metric(before, metric), find_metric(after, metric)
        if first is None or second is None:
            continue
        name = f"{experiment.id.lower()}-before-after"
        title = f"{experiment.id}: {metric} before and after"
        chart = overlay(name, title, first, second, axis or first.axis_name)
        if chart is not None:
            drawn += 1
            yield experiment.id, chart


def _baseline(session: Session, experiment: Experiment) -> str:
    if experiment.result is not None and session.run(experiment.result.before) is not None:
        return experiment.result.before
    hypothesis = session.hypothesis(experiment.hypothesis)
    ref = session.run(experiment.baseline or (hypothesis.run if hypothesis else ""))
    return ref.id if ref is not None else ""


def _target(experiment: Experiment) -> tuple[str, str]:
    """The metric that decides, and the axis on which the runs were compared."""
    if experiment.result is not None and experiment.result.changes:
        change = experiment.result.changes[0]
        axis = "" if change.axis == "final" else change.axis
        return change.role or change.name, axis
    return (experiment.success[0].metric if experiment.success else ""), ""
