"""What an agent earns, under whatever name it is logged."""

from __future__ import annotations

import re

from mltd.runs.roles import normalise

from .curve import Curve
from .view import RunView

_SHORT = re.compile(
    r"(?:ep(?:isode)? )?(?:r|ret|rew|score)(?: (?:mean|avg))?|"
    r"(?:avg|mean|ep(?:isode)?) (?:r|ret|rew|score)|avg ?\d+"
)
"""A letter, or the number of episodes of which it is a mean: only for those who know that it is
an agent."""


def earned(view: RunView) -> Curve | None:
    """The reward, else the curve whose short name may mean one."""
    known = view.curve("reward")
    if known is not None:
        return known
    return next((c for c in view.all_curves() if _SHORT.fullmatch(normalise(c.name))), None)
