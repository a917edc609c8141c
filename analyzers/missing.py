"""What a run does not hold, and which questions that leaves open."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.runs.state import RunState

from .core.view import RunView
from .distributed.progress import last_step

_NEARLY = 0.95
"""Of the planned steps: logs with few lines end a little before."""


def missing_artifacts(view: RunView, *, is_sure: bool) -> Iterator[str]:
    """Requests for whole artifacts; for a sure diagnosis only where nothing could be judged."""
    has_metrics = any(True for _ in view.all_curves())
    if not has_metrics:
        if view.events:
            yield (
                "the standard output or metrics file of this run: only messages were found, so "
                "nothing can be said about loss or gradients before the failure"
            )
        elif view.run.config:
            yield (
                "the training log (stdout, .out, metrics.csv or events file): there is a "
                "configuration but nothing that the run has logged"
            )
        else:
            yield (
                "a training log (stdout/.out, .err, metrics.csv, trainer_state.json or event "
                "file): nothing that a run has logged was found here"
            )
        return
    if view.state is RunState.UNKNOWN and (end := _early_end(view)):
        yield (
            f"why the log ends at {end} without a last word: the .err file, or the scheduler's "
            "record (`sacct -j JOB --format=State%30,ExitCode,MaxRSS,Elapsed,Timelimit`)"
        )
    if is_sure:
        return
    if view.curve("train/loss") is not None and view.curve("grad_norm") is None:
        yield (
            "grad_norm per step: tells a learning rate that is too high (rises before the loss) "
            "from a bad batch (same step only)"
        )
    if view.curve("lr") is None and view.settings.learning_rate() is None:
        yield "the learning rate, as a logged series or in the config: it decides lr hypotheses"
    if not view.run.config:
        yield "the run's config (yaml, json or the args dump): fixes can then name its own values"


def _early_end(view: RunView) -> str:
    """The step at which a log ends well before the planned one; empty if it does not."""
    planned, last = view.planned_steps, last_step(view)
    if planned is None or last is None or last >= _NEARLY * planned - 1:
        return ""
    return f"step {last:.10g} of {planned:.10g}"
