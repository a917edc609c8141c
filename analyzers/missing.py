"""What a run does not hold, and which questions that leaves open."""

from __future__ import annotations

from collections.abc import Iterator

from .core.view import RunView


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
