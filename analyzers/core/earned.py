"""What an agent earns, under whatever name it is logged."""

from __future__ import annotations

import re

from mltd.runs.roles import normalise

from .curve import Curve
from .view import RunView

_SHORT = re.compile(
    r"(?:ep(?:isode)? )?(?:r|ret|rew|score)(?: (?:mean|avg))?|"
    r"(?:avg|mean|ep(?:isode)?) (?:r|ret|rew|score)|"
    r"(?:avg|mean|ma)(?: (?:r|ret|rew|score))? ?\d+"
)
"""A letter, or the number of episodes of which it is a mean: only for those who know that it is
an agent."""


def earned(view: RunView) -> Curve | None:
    """The reward, else the curve whose short name may mean one; means rather than episodes."""
    known = view.curve("reward")
    if known is not None:
        return known
    found = [c for c in view.all_curves() if _SHORT.fullmatch(normalise(c.name))]
    return max(found, key=lambda curve: len(normalise(curve.name)), default=None)
