"""What following a source yields, wherever the source is: pieces of bytes, and a status."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Piece(NamedTuple):
    """Consecutive bytes of one generation; `ends` says that none will follow in it."""

    generation: int
    offset: int
    data: bytes
    ends: bool = False


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
