"""A file of a checkpoint, opened for reading and for nothing else."""

from __future__ import annotations

import errno
import os

from ...errors import InputError
from ...open_artifact import ANYWHERE, NotAFile, Roots, open_artifact
from ...remote.names import is_mirrored, shown
from ...sources.inputs import refusal
from ..errors import CheckpointElsewhere, DamagedCheckpoint


class Handle:
    """An open regular file that is watched for changes while it is read."""

    def __init__(self, path: str, root: Roots = ANYWHERE) -> None:
        self.path = path
        self.name = os.path.basename(path)
        try:
            self.descriptor = open_artifact(path, root)
        except NotAFile as error:
            raise refusal(shown(path), error) from None
        except OSError as error:
            raise InputError(
                f"cannot read {shown(path)}: {error.strerror}", hint=_advice(error)
            ) from None
        except ValueError:
            raise InputError("cannot read a file whose name holds a NUL character") from None
        status = os.fstat(self.descriptor)
        self.size = status.st_size
        self._stamp = _stamp(status)
        if is_mirrored(path) and status.st_blocks * 512 < min(self.size, 4096):
            self.close()
            raise CheckpointElsewhere(
                f"{shown(path)} ({self.size:,} bytes) is on the remote host, not here",
                hint="copy it to this machine, or run mltd-tui inspect over there",
            )
        if not self.size:
            self.close()
            raise DamagedCheckpoint(f"{self.name} is empty", hint="it may just be being written")

    @property
    def own_path(self) -> str:
        """A path that leads to this very file, whatever stands at its name by now."""
        place = f"/proc/self/fd/{self.descriptor}"
        return place if os.path.exists(place) else self.path

    def read(self, size: int, offset: int) -> bytes:
        """So many bytes from a place; fewer only at the end of the file."""
        pieces: list[bytes] = []
        while size > 0:
            try:
                piece = os.pread(self.descriptor, min(size, 1 << 26), offset)
            except OSError as error:
                raise InputError(f"cannot read {self.name}: {error.strerror}") from None
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
            offset += len(piece)
        return b"".join(pieces)

    def check_unchanged(self) -> None:
        """Complain if somebody wrote to the file since it was opened."""
        if _stamp(os.fstat(self.descriptor)) != self._stamp:
            raise DamagedCheckpoint(
                f"{self.name} was changed while it was being read",
                hint="wait until the job has saved it, then read it again",
            )

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.descriptor)


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _advice(error: OSError) -> str:
    if error.errno == errno.EACCES:
        return "you need the right to read it"
    return "check the name" if error.errno == errno.ENOENT else ""
