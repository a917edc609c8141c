"""Which optimizer a run steps with, where it says so or where its program is known."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .finding import Evidence
from .view import RunView

_ADAPTIVE = re.compile(r"adam|lamb\b|lion|adafactor|sophia|rmsprop", re.IGNORECASE)
"""Steps of these are as long as the rate says, whatever the gradient: 3e-4 is usual."""
_LOGGED = (
    ("Megatron-LM", frozenset({"consumed samples", "elapsed time per iteration (ms)"})),
    ("the Trainer of transformers", frozenset({"loss", "learning_rate", "eval_runtime"})),
    ("the Trainer of transformers", frozenset({"loss", "learning_rate", "train_runtime"})),
    ("nanoGPT", frozenset({"loss", "time", "mfu"})),
)
"""Programs that step with Adam unless told otherwise, by what they log,"""
_CONFIGURED = (("the Trainer of transformers", "per_device_train_batch_size"),)
"""and by a setting that no other has."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """The name of an adaptive optimizer, or why it is one, and where that is seen."""

    name: str
    evidence: tuple[Evidence, ...] = ()


def adaptive_optimizer(view: RunView) -> Adaptive | None:
    """The run's optimizer, if it is one whose steps do not depend on the size of the gradient."""
    stated = view.settings.get("optimizer")
    if stated is not None:
        is_adaptive = _ADAPTIVE.search(stated.text) is not None
        return Adaptive(stated.text, (stated.evidence,)) if is_adaptive else None
    names = {series.name for series in view.run.series}
    for trainer, telling in _LOGGED:
        if telling <= names:
            return Adaptive(f"{trainer}, which steps with Adam")
    for setting in view.settings:
        for trainer, telling_name in _CONFIGURED:
            if setting.path.rpartition(".")[2] == telling_name:
                return Adaptive(f"{trainer}, which steps with Adam", (setting.evidence,))
    return None
