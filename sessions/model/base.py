"""What all parts of a session have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from mltd.runs.name_text import escape_undecodable


def writable(text: str) -> str:
    """Text as it can be written down: names of files may hold bytes that are no text."""
    return escape_undecodable(text)


class Part(BaseModel):
    """A value that never changes: a newer state is another value.

    What a newer program wrote into it is skipped rather than refused, NaN and infinities
    survive the way to the disk and back.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="strings")

    @model_validator(mode="before")
    @classmethod
    def _can_be_written(cls, values: Any) -> Any:
        if isinstance(values, dict):
            return {k: writable(v) if isinstance(v, str) else v for k, v in values.items()}
        return values
