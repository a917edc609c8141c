"""Copies of remote files that are not whole yet: their lines have no numbers."""

from __future__ import annotations

import errno
import os

from mltd.runs.remote.names import is_mirrored

from .artifact import Artifact
from .errors import ArtifactError


def refuse_half(artifact: Artifact, descriptor: int) -> None:
    """Raise while only the end of a remote file is here, as that is what is copied first."""
    if not is_mirrored(os.path.abspath(artifact.path)):
        return
    try:
        begins = os.lseek(descriptor, 0, os.SEEK_DATA)
    except OSError as error:
        # No data at all, in a file that is said to have some.
        is_hole = error.errno == errno.ENXIO and os.fstat(descriptor).st_size > 0
        begins = int(is_hole)
    if begins > 0:
        raise ArtifactError(
            f"{artifact.name} is still being copied, and its lines cannot be counted yet",
            hint="ask for its series, or try again in a while",
        )
