"""The lines of a journal: one JSON object each."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from ..errors import Refused
from ..model.session import SCHEMA, Session
from ..triage import Entry

ENTRY_KEYS = frozenset(("n", "at", "kind", "action", "of"))
HEADER_KEYS = frozenset(("schema", "id", "title", "created", "base", "n", "spent"))
"""Keys of a line that was written before lines had checksums."""

_CHECKSUM = re.compile(rb',"crc":"([0-9a-f]{8})"}\Z')


class UnknownKindError(ValueError):
    """An entry of a kind that a newer version knows."""


def entry_line(entry: Entry) -> bytes:
    """One thing that was done."""
    return with_checksum(as_json(entry))


def header_line(session: Session) -> bytes:
    """How the journal of a new session begins."""
    values = session.model_dump(mode="json", include={"id", "title", "created"})
    return object_line({"schema": SCHEMA, **values})


def base_line(session: Session, n: int, spent: Iterable[str]) -> bytes:
    """How a journal begins whose older entries were added up."""
    numbers = orjson.dumps({"n": n, "spent": list(spent)})[1:]
    return with_checksum(b'{"schema":%d,"base":%b,%b' % (SCHEMA, as_json(session), numbers))


def object_line(values: dict[str, Any]) -> bytes:
    """Any object as a line with a checksum."""
    return with_checksum(_plain_json(values))


def with_checksum(text: bytes) -> bytes:
    """A JSON object as a line that ends with the CRC-32 of everything before it.

    The checksum is a key of the object, so versions that do not know it skip it.
    """
    content = text[:-1]
    return b'%b,"crc":"%08x"}\n' % (content, zlib.crc32(content))


def is_intact(text: bytes) -> bool | None:
    """Whether the checksum of a line without its end of line is right; None if it has none."""
    found = _CHECKSUM.search(text, max(0, len(text) - 32))
    if found is None:
        return None
    return int(found[1], 16) == zlib.crc32(memoryview(text)[: found.start()])


def as_json(part: BaseModel) -> bytes:
    """A value as JSON on one line; `Refused` if it holds something that JSON cannot."""
    try:
        return part.model_dump_json().encode()
    except PydanticSerializationError:
        pass
    try:
        # Names of files may hold bytes that are no UTF-8: escaped, they survive.
        return _plain_json(part.model_dump(mode="json"))
    except (ValueError, TypeError, RecursionError) as problem:
        raise Refused(f"this cannot be written down: {problem}") from problem


def _plain_json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()


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
