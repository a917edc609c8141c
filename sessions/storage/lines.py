"""The lines of a journal: one JSON object each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from ..errors import Refused
from ..model.session import SCHEMA, Session
from ..triage import Entry


class UnknownKindError(ValueError):
    """An entry of a kind that a newer version knows."""


def entry_line(entry: Entry) -> bytes:
    """One thing that was done."""
    return as_json(entry) + b"\n"


def header_line(session: Session) -> bytes:
    """How the journal of a new session begins."""
    values = session.model_dump(mode="json", include={"id", "title", "created"})
    return object_line({"schema": SCHEMA, **values})


def base_line(session: Session, n: int, spent: Iterable[str]) -> bytes:
    """How a journal begins whose older entries were added up."""
    numbers = orjson.dumps({"n": n, "spent": list(spent)})[1:]
    return b'{"schema":%d,"base":%b,%b\n' % (SCHEMA, as_json(session), numbers)


def object_line(values: dict[str, Any]) -> bytes:
    """Any object as a line."""
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def as_json(part: BaseModel) -> bytes:
    """A value as JSON on one line; `Refused` if it holds something that JSON cannot."""
    try:
        return part.model_dump_json().encode()
    except PydanticSerializationError:
        pass
    try:
        # Names of files may hold bytes that are no UTF-8: escaped, they survive.
        return json.dumps(part.model_dump(mode="json"), separators=(",", ":")).encode()
    except (ValueError, TypeError, RecursionError) as problem:
        raise Refused(f"this cannot be written down: {problem}") from problem


def object_in(line: bytes) -> dict[str, Any] | None:
    """The object in a line, if there is one."""
    for read in (orjson.loads, json.loads):
        # The first is fast, the second accepts what `as_json` had to escape.
        try:
            found = read(line)
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None


def entry_in(line: bytes) -> Entry:
    """The entry in a line; `ValueError` if there is none, or one of a kind yet unknown."""
    try:
        return Entry.model_validate_json(line)
    except ValidationError as problem:
        if _is_unknown_kind(problem):
            raise UnknownKindError(_kind_in(line)) from problem
        values = object_in(line)
        if values is None:
            raise
    try:
        return Entry.model_validate(values)
    except RecursionError as problem:
        raise ValueError("nested too deeply") from problem


def _is_unknown_kind(problem: ValidationError) -> bool:
    errors = problem.errors(include_url=False, include_input=False, include_context=False)
    return any(
        error["type"] == "union_tag_invalid" or error["loc"] == ("kind",) for error in errors
    )


def _kind_in(line: bytes) -> str:
    values = object_in(line) or {}
    action = values.get("action")
    found = action.get("op") if isinstance(action, dict) else values.get("kind")
    return str(found)[:40]
