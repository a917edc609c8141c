"""The usual settings of every family."""

from __future__ import annotations

from typing import Any

from ..job import Job

USUAL: dict[str, dict[str, Any]] = {
    "lm": {"steps": 400, "lr": 3e-3, "warmup": 30},
    "sft": {"steps": 300, "lr": 3e-4},
    "tagger": {"steps": 600, "lr": 5e-3},
    "ddpm": {"steps": 1000, "lr": 2e-3},
    "mf": {"steps": 1000, "lr": 2e-2},
    "seq2seq": {"steps": 600, "lr": 4e-3},
    "moe": {"steps": 400, "lr": 5e-3},
    "triplet": {"steps": 600, "lr": 2e-3},
    "a2c": {"steps": 500, "lr": 2e-3, "clip": 0.5},
    "dqn": {"steps": 2500, "lr": 1e-3, "clip": 10.0, "every": 50},
    "rlhf": {"steps": 100, "lr": 3e-4, "every": 2},
}


def job(family: str, **settings: Any) -> Job:
    """A job with what differs from the usual; what no job knows is an option of its family."""
    known = {name: settings.pop(name) for name in list(settings) if name in Job.__annotations__}
    return Job(family, **{**USUAL[family], **known}, options=settings)
