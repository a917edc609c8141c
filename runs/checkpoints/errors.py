"""Why a checkpoint was not read.

FormatError
├── UnsafeCheckpoint      loading it would run code; it names the globals
└── DamagedCheckpoint     cut off, half written, or contradicting itself
InputError
├── CheckpointLimit       it took more time or memory than it was given
├── CheckpointCancelled   whoever asked does not want it any more
└── CheckpointElsewhere   only a placeholder of a remote file is here
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import FormatError, InputError, MltdError


class UnsafeCheckpoint(FormatError):
    """Loading it would run code from the file."""

    def __init__(self, message: str, *, hint: str = "", names: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.names = tuple(names)
        """The globals that it asks for, for example `posix.system`."""


class DamagedCheckpoint(FormatError):
    """The file is cut off, half written, or contradicts itself."""


class CheckpointLimit(InputError):
    """Reading it took more time or memory than it was given."""


class CheckpointCancelled(InputError):
    """Whoever asked does not want the answer any more."""


class CheckpointElsewhere(InputError):
    """Only a placeholder of the remote file is on this machine."""


_KINDS: dict[str, type[MltdError]] = {
    kind.__name__: kind
    for kind in (
        FormatError,
        InputError,
        UnsafeCheckpoint,
        DamagedCheckpoint,
        CheckpointLimit,
        CheckpointElsewhere,
    )
}


def packed_error(problem: MltdError) -> dict[str, object]:
    """An error as plain values, for another process."""
    names = list(problem.names) if isinstance(problem, UnsafeCheckpoint) else []
    kind = type(problem).__name__
    return {"kind": kind, "message": problem.message, "hint": problem.hint, "names": names}


def unpacked_error(packed: dict[str, object]) -> MltdError:
    """The error that another process met."""
    kind = _KINDS.get(str(packed.get("kind")), FormatError)
    message, hint = str(packed.get("message", "")), str(packed.get("hint", ""))
    names = packed.get("names")
    if kind is UnsafeCheckpoint and isinstance(names, list):
        return UnsafeCheckpoint(message, hint=hint, names=[str(name) for name in names])
    return kind(message, hint=hint)
