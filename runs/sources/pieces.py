"""What following a source yields, wherever the source is: pieces of bytes, and a status."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

LINES_MISSING = "lines may be missing here"
"""Said of a log that was truncated or deleted before its last lines were read."""


class Piece(NamedTuple):
    """Consecutive bytes of one generation; `ends` says that none will follow in it."""

    generation: int
    offset: int
    data: bytes
    ends: bool = False
    has_gap: bool = False
    """Lines may be missing between the end of this generation and the next one."""


class FollowState(StrEnum):
    """How a followed path is doing."""

    MISSING = "missing"
    FOLLOWING = "following"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """State of a path, and why if it is not simply followed."""

    state: FollowState
    reason: str = ""
