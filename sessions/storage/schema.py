"""What older versions wrote, turned step by step into what this one reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import StorageError
from ..model.session import SCHEMA

Lines = list[dict[str, Any]]
"""A journal as plain objects: the header first, then the entries."""

MIGRATIONS: dict[int, Callable[[Lines], Lines]] = {}
"""By the schema that they start from; each leads to the next one."""


def can_migrate(schema: int) -> bool:
    """True if there is a way from a schema to ours."""
    return all(step in MIGRATIONS for step in range(schema, SCHEMA))


def migrated(lines: Lines, schema: int) -> Lines:
    """The same journal in our schema; `StorageError` if its content does not allow it."""
    for step in range(schema, SCHEMA):
        try:
            lines = MIGRATIONS[step](lines)
            lines[0]["schema"] = step + 1
        except (LookupError, TypeError, ValueError, AttributeError) as problem:
            raise StorageError(
                f"the session cannot be brought from schema {step} to {step + 1}: {problem!r}"
            ) from problem
    return lines
