"""What tests of a consultation share: small tools, a small form of answer, quick settings."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mltd.diagnosis.consultation import Consultation, ConsultationResult
from mltd.diagnosis.events import Event, Failed
from mltd.diagnosis.settings import ConsultSettings
from mltd.runs.errors import MltdError

from .messages_server import KEY, tool

QUICK = ConsultSettings(
    model="claude-sonnet-5-5", seconds=120.0, silence_seconds=60.0, retry_seconds=0.01
)
SCHEMA = {
    "type": "object",
    "properties": {"status": {"type": "string"}, "cause": {"type": "string"}},
    "required": ["status", "cause"],
}
OPINION = {"status": "diagnosis_complete", "cause": "the learning rate is too high"}
SUBMIT = tool("submit_diagnosis", **OPINION)
LOOK = tool("read_lines", name="run1/train.log", first=1)


class AnswerError(MltdError):
    """The answer does not have the form that these tests ask for."""


class Spec(NamedTuple):
    name: str
    description: str
    schema: dict[str, Any]


class Result(NamedTuple):
    text: str
    is_error: bool = False
    brief: str = "looked"


SPECS = (
    Spec("read_lines", "Reads lines.", {"type": "object", "properties": {}}),
    Spec("grep", "Finds lines.", {"type": "object", "properties": {}}),
)


def parse(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise AnswerError("there is no JSON in it") from None
    if not isinstance(value, dict) or not isinstance(value.get("cause"), str):
        raise AnswerError("cause is missing")
    return value


@dataclass
class Bench:
    """A consultation with its events and the calls that reached the tools."""

    settings: ConsultSettings = QUICK
    results: dict[str, Result] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.consultation = Consultation(
            self.settings, SPECS, self.call, schema=SCHEMA, parse=parse
        )

    async def call(self, name: str, arguments: dict[str, Any]) -> Result:
        self.calls.append((name, arguments))
        return self.results.get(name, Result(f"result of {name}"))

    def ask(self, pack: str = "# Evidence\nloss is nan") -> ConsultationResult:
        return asyncio.run(self.consultation.ask(pack, self.events.append))

    def follow_up(self, question: str) -> ConsultationResult:
        return asyncio.run(self.consultation.follow_up(question, self.events.append))

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


def failing(bench: Bench, kind: str) -> ConsultationResult:
    """Ask; the failure must be of this kind and be told with something to do."""
    result = bench.ask()
    assert result.error is not None, result
    assert result.error.kind == kind, result.error
    assert result.error.sentence
    assert result.error.hint
    assert result.opinion is None
    assert bench.events[-1] == Failed(result.error.sentence, result.error.hint)
    assert KEY not in f"{result.error!r} {result.error} {bench.events}"
    return result
