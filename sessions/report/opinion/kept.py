"""Claude's records as JSON for other programs: as they were kept, and of bounded size."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from ...model.records import DiagnosisRecord
from ..neutral import shortened

_LONGEST = 10_000
"""Characters of a text."""
_MOST_ITEMS = 200
"""Of a list or an object; an opinion that was not tampered with has fewer."""


def kept_opinions(records: Sequence[DiagnosisRecord]) -> list[dict[str, JsonValue]]:
    """Every record in the order of time: when, about which run, how it ended, and its body."""
    own = sorted((one for one in records if one.is_claudes), key=lambda one: one.at.timestamp())
    return [
        {
            **record.body,
            "at": record.at.isoformat(),
            "run": record.run or None,
            "status": record.status or record.body.get("status"),
        }
        for record in own
    ]


def capped(value: JsonValue) -> JsonValue:
    """The same without what nobody reads; to be cut after secrets were masked, not before."""
    if isinstance(value, str):
        return shortened(value, _LONGEST)
    if isinstance(value, list):
        more = len(value) - _MOST_ITEMS
        rest: list[JsonValue] = [f"[{more:,} more left out]"] if more > 0 else []
        return [*map(capped, value[:_MOST_ITEMS]), *rest]
    if isinstance(value, dict):
        some = {name: capped(value[name]) for name in list(value)[:_MOST_ITEMS]}
        more = len(value) - _MOST_ITEMS
        return {**some, "left_out": more} if more > 0 else some
    return value
