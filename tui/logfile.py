"""Where the app writes what went wrong inside it, for whoever reports a bug."""

from __future__ import annotations

import os
import time
from pathlib import Path

from mltd.runs.state_files import private_folder, state_directory

MOST_BYTES = 1 << 20
"""A longer file is begun anew: a broken pane on a login node must not fill a home directory."""


def log_path() -> Path:
    """The file that notices point to."""
    return state_directory() / "mltd-tui.log"


def write_entry(text: str) -> bool:
    """Add an entry with a time stamp; false if it cannot be written, which is no reason to end."""
    try:
        descriptor = open_log()
    except OSError:
        return False
    with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as file:
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        file.write(f"{stamp} {text.rstrip()}\n")
    return True


def open_log() -> int:
    """A descriptor that appends to the log, readable by its owner alone."""
    path = log_path()
    private_folder(path.parent)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    if path.exists() and path.stat().st_size > MOST_BYTES:
        flags |= os.O_TRUNC
    descriptor = os.open(path, flags, 0o600)
    os.fchmod(descriptor, 0o600)
    return descriptor
