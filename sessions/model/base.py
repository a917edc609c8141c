"""What all parts of a session have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A value that never changes: a newer state is another value.

    What a newer program wrote into it is skipped rather than refused, NaN and infinities
    survive the way to the disk and back.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="strings")
