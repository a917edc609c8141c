"""Questions of an earlier day, from what the session has kept of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from mltd.diagnosis.events import Usage

from .flow import Flow
from .turn import Look, State, Turn, Words

if TYPE_CHECKING:
    from pydantic import JsonValue

_REFUSED = "refused: "


def kept_turn(at: datetime, body: Mapping[str, JsonValue]) -> Turn:
    """One question as it was kept; whatever cannot be read is left out."""
    turn = Turn(_text(body.get("question")), at=at, kept_at=at, model=_text(body.get("model")))
    looks = body.get("looks")
    turn.items += [_look(one) for one in looks] if isinstance(looks, list) else []
    said = _text(body.get("text"))
    if said.strip():
        turn.items.append(Words(False, Flow(said)))
    turn.usage = _usage(body.get("usage"))
    turn.problem, turn.hint = _error(body.get("error"))
    if body.get("opinion") or body.get("root_causes"):
        turn.state = State.OPINION
    elif turn.problem:
        turn.state = State.FAILED
    else:
        is_cancelled = body.get("is_cancelled") is True or not said.strip()
        turn.state = State.CANCELLED if is_cancelled else State.REPLIED
    return turn


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _look(value: JsonValue) -> Look:
    if isinstance(value, str):
        asked, _, result = value.partition(" -> ")
        name, _, what = asked.partition(" ")
        is_error = result.startswith(_REFUSED)
        return Look("", name, what, result.removeprefix(_REFUSED), is_error, is_done=True)
    if not isinstance(value, Mapping):
        return Look("", "a look", is_done=True)
    named = (_text(value.get(name)) for name in ("name", "what", "result"))
    name, what, result = named
    is_error = value.get("is_error") is True
    return Look("", name or "a look", what, result, is_error, is_done=True)


def _usage(value: JsonValue) -> Usage | None:
    if not isinstance(value, Mapping):
        return None
    sent, answered, cached = (
        int(_number(value.get(name))) for name in ("input", "output", "cached")
    )
    dollars = value.get("dollars")
    known = _number(dollars) if dollars is not None else None
    return Usage(sent, answered, cached, known, _number(value.get("seconds")))


def _number(value: JsonValue) -> float:
    is_number = isinstance(value, int | float) and 0 <= value < 1e15
    return float(value) if is_number and isinstance(value, int | float) else 0.0


def _error(value: JsonValue) -> tuple[str, str]:
    if isinstance(value, Mapping):
        sentence = _text(value.get("message")) or _text(value.get("sentence"))
        return sentence or _text(value.get("kind")), _text(value.get("hint"))
    return _text(value), ""
