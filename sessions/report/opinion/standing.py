"""Whether Claude agrees with what a report calls the best cause, in one clause."""

from __future__ import annotations

from ..causes import Cause
from ..pen import Pen
from ..pieces import Described, parts, text
from .reading import part, sureness_of

_LONGEST = 160
_STANCES = {"agrees": "agrees", "adds": "agrees, and adds to it", "disagrees": "disagrees"}


def standing(pen: Pen, opinion: Described, best: Cause | None) -> str:
    """`agrees`, or what Claude holds for the cause instead."""
    own = parts(opinion, "causes")
    named = [text(part(one, "cause"), "failure_mode") for one in own]
    rival = _best(pen, own[0]) if own else "none"
    if best is None:
        return f"its best cause is {rival}" if own else "names no cause"
    if best.source == "claude":
        return "this is Claude's own proposal"
    stance = _stance(opinion, best.cause) if best.cause else ""
    is_first = bool(best.cause) and named[:1] == [best.cause]
    if stance == "" and is_first:
        stance = "agrees"
    if stance == "" and best.cause and best.cause in named:
        return f"holds it possible, but less likely than {rival}"
    said = stance or "does not name it"
    return said if is_first else f"{said}; its best cause is {rival}"


def _stance(opinion: Described, cause: str) -> str:
    for one in parts(part(opinion, "opinion"), "agreement"):
        if text(one, "id").casefold() == cause.casefold():
            return _STANCES.get(text(one, "stance"), "")
    return ""


def _best(pen: Pen, cause: Described) -> str:
    given, sure = part(cause, "cause"), sureness_of(cause)
    issue = pen.headline(text(given, "issue") or text(given, "failure_mode"), _LONGEST)
    value = "not stated" if sure.confidence is None else f"{sure.confidence:.2f}"
    return f"{issue or 'not stated'} ({value}, basis {sure.basis.value})"
