"""The answer for programs: one JSON document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from ..escaping import printable
from .line import Line, State, worst

SCHEMA = 1


def document(lines: Sequence[Line]) -> str:
    """All lines and a summary; ASCII, so that it survives any pipe."""
    numbers = Counter(line.state for line in lines)
    return json.dumps(
        {
            "schema": SCHEMA,
            "lines": [
                {
                    "area": line.area,
                    "state": line.state.value,
                    "fact": printable(line.fact),
                    "advice": printable(line.advice),
                }
                for line in lines
            ],
            "summary": {
                "state": worst(lines).value,
                "ok": numbers[State.OK],
                "warnings": numbers[State.WARNING],
                "problems": numbers[State.PROBLEM],
            },
        }
    )
