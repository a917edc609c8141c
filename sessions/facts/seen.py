"""Which artifacts of a run there are."""

from __future__ import annotations

import os

from mltd.analyzers.core.settings_lookup import Settings
from mltd.runs.event import EventKind
from mltd.runs.remote.names import shown
from mltd.runs.run import Run
from mltd.runs.series import Series
from mltd.runs.summary import run_state

from .gathered import Seen, SeenLog, SeenMetric
from .lines import name_of
from .material import tidy
from .provenance import seed_settings
from .reach import reach_of

MOST_METRICS = 100
MOST_LOGS = 50
_GRADIENT_ROLES = ("grad_norm",)


def seen_in(run: Run, settings: Settings) -> Seen:
    """Count everything that a checklist asks for."""
    state, reason = run_state(run)
    metrics = [series for series in run.series if not (series.role or "").startswith("axis/")]
    metrics.sort(key=lambda series: series.role is None)
    reach = reach_of(run)
    kinds = [event.kind for _, event in run.events]
    saved = [e for _, e in run.events if e.kind is EventKind.CHECKPOINT and "saved" in e.title]
    generations = sum(source.generations - 1 for source in run.files)
    return Seen(
        run=tidy(run.name, 200),
        state=state.value,
        state_reason=tidy(reason, 300),
        logs=tuple(
            SeenLog(
                name=tidy(name_of(source)) or "log",
                path=shown(source.path),
                format=source.format,
                lines=source.lines,
                generations=source.generations,
            )
            for source in run.files[:MOST_LOGS]
        ),
        metrics=tuple(_metric(series) for series in metrics[:MOST_METRICS]),
        metric_count=len(metrics),
        points=sum(series.logged for series in metrics),
        settings=sum(1 for _ in settings),
        config_files=tuple(_config_files(run)),
        checkpoint_files=sum(artifact.kind == "checkpoint" for artifact in run.artifacts),
        checkpoints_logged=sum(event.count for event in saved),
        gradients=tuple(tidy(s.name) for s in metrics if _is_gradient(s))[:20],
        seeds=tuple(tidy(f"{s.path} = {s.value}") for s in seed_settings(settings)),
        restarts=kinds.count(EventKind.RESTART) + generations,
        first_step=reach.first,
        last_step=reach.last,
        axis=reach.axis,
    )


def _config_files(run: Run) -> list[str]:
    names = (os.path.basename(a.path) for a in run.artifacts if a.kind == "config")
    return [tidy(name) for name in names][:20]


def _metric(series: Series) -> SeenMetric:
    role = series.role or ""
    split = role.partition("/")[0] if "/" in role else series.split
    return SeenMetric(
        name=tidy(series.name) or "?",
        role=role,
        split=split if split in ("train", "val", "test") else "",
        points=series.logged,
    )


def _is_gradient(series: Series) -> bool:
    return series.role in _GRADIENT_ROLES or "grad" in series.name.casefold().split("/")[0]
