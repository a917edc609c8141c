"""Trainings by reward: two little worlds, and a language model."""

from __future__ import annotations

from collections.abc import Callable

from ..job import Job, Row
from .actor_critic import actor_critic
from .q_learning import q_learning
from .reward_tuning import reward_tuning

POLICIES: dict[str, Callable[[Job], list[Row]]] = {
    "a2c": actor_critic,
    "dqn": q_learning,
    "rlhf": reward_tuning,
}

__all__ = ["POLICIES"]
