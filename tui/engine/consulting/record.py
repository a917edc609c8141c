"""What a session keeps of one question to Claude: no secret, and nothing that JSON cannot hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mltd.diagnosis.citations import CheckedOpinion, describe_opinion, opinion_in
from mltd.diagnosis.client.plain import sendable
from mltd.diagnosis.events import Event, ToolCalled, ToolDone

if TYPE_CHECKING:
    from mltd.diagnosis.client.errors import ConsultError
    from mltd.diagnosis.events import Usage

_WORDS_OF_OURS = frozenset({"kind", "verdict", "status", "severity", "basis", "stance"})
"""Keys whose values are ours: a user who is called like one of them must not change it."""


class Looks:
    """One line for each look that the model took."""

    def __init__(self) -> None:
        self._called: dict[str, int] = {}
        self.lines: list[str] = []

    def take(self, event: Event) -> None:
        """Note a look, and what came of it."""
        if isinstance(event, ToolCalled):
            self._called[event.id] = len(self.lines)
            self.lines.append(f"{event.name} {event.brief}".strip())
        elif isinstance(event, ToolDone) and event.id in self._called:
            self.lines[self._called.pop(event.id)] += (
                f" -> {'refused: ' if event.is_error else ''}{event.brief}"
            )


def clean_opinion(checked: CheckedOpinion, clean: Callable[[str], str]) -> CheckedOpinion:
    """The same without secrets: what a check says may quote files."""
    content = _cleaned(checked.model_dump(mode="json"), clean)
    return CheckedOpinion.model_validate(sendable(content))


def body_of(
    checked: CheckedOpinion | None,
    *,
    at: datetime,
    model: str,
    host: str,
    is_redacted: bool,
    question: str,
    text: str,
    looks: list[str],
    usage: Usage | None,
    error: ConsultError | None,
    is_cancelled: bool,
) -> str:
    """JSON for the session's record."""
    content: dict[str, object] = {
        **(describe_opinion(checked) if checked is not None else {}),
        "at": at.isoformat(),
        "model": model or None,
        "host": host,
        "is_redacted": is_redacted,
        "question": question,
        "text": text,
        "looks": looks,
        "is_cancelled": is_cancelled,
        "usage": usage._asdict() if usage is not None else None,
        "error": error
        and {
            "kind": error.kind,
            "message": error.sentence,
            "hint": error.hint,
            "is_temporary": error.is_temporary,
        },
    }
    return json.dumps(sendable(content), ensure_ascii=False)


def opinion_kept(body: str) -> tuple[CheckedOpinion | None, datetime, bool]:
    """The opinion in a record, when it was given, and whether names were masked in it."""
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        return None, datetime.fromtimestamp(0, UTC), False
    try:
        at = datetime.fromisoformat(str(content.get("at")))
    except ValueError:
        at = datetime.fromtimestamp(0, UTC)
    return opinion_in(content), at, content.get("is_redacted") is True


def _cleaned(value: Any, clean: Callable[[str], str], key: str = "") -> Any:
    if isinstance(value, str):
        return value if key in _WORDS_OF_OURS else clean(value)
    if isinstance(value, dict):
        return {name: _cleaned(each, clean, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each, clean) for each in value]
    return value
