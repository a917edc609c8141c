"""Files that the app keeps for itself, in the XDG state directory, for their owner alone."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def state_directory() -> Path:
    """Our part of the XDG state directory."""
    home = os.environ.get("HOME") or os.path.expanduser("~")
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        # As the specification has it: otherwise every working directory would get its own.
        base = os.path.join(home, ".local", "state")
    return Path(base, "mltd")


def private_folder(folder: Path) -> None:
    """Make a folder that nobody else can look into, whatever the umask says."""
    for parent in (*reversed(folder.parents), folder):
        # Not by `parents=True`: that would leave the ones above to the umask.
        if not parent.exists():
            parent.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)


def replace_privately(path: Path, data: bytes) -> None:
    """Write a file as a whole: whoever reads it finds the old or the new one."""
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
