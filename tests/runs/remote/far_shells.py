"""Shells of this machine in the place of another machine's, with the tools that it may have."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from mltd.runs.remote.conversation import MOST_BYTES, Conversation, Mark
from tests.runs.sources.sshd_server import require

KINDS = ["sh", "bash", "busybox", "bsd", "ls", "busybox-ls", "without gzip"]
_BSD_STAT = """#!/bin/sh
aimed=
if [ "$1" = -L ]; then aimed=-L; shift; fi
[ "$1" = -f ] || exit 1
shift 2
exec {stat} $aimed -c '%f %s %Y %d %i' "$@"
"""


class FarShell:
    """A `sh` that is asked as if it were far away; counts how often."""

    def __init__(self, argv: Sequence[str], home: Path) -> None:
        self.home = os.fsencode(home)
        self.asked = 0
        self.received = 0
        self._conversation = Conversation(list(argv), patience=60)

    def ask(self, script: bytes, most: int = MOST_BYTES) -> list[bytes | Mark]:
        self.asked += 1
        answer = list(self._conversation.ask(script, most=most))
        self.received += sum(len(item) for item in answer if isinstance(item, bytes))
        return answer

    def close(self) -> None:
        self._conversation.close()


def shell_of_nobody(home: Path) -> FarShell:
    """A shell that may not read everything, even if these tests run as root."""
    if os.geteuid() != 0:
        return FarShell(["sh"], home)
    (setpriv,) = require("setpriv")
    return FarShell([setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "sh"], home)


def far_shell(kind: str, place: Path) -> FarShell:
    """A shell with one of several sets of tools; `place` is for their links and the home."""
    home = place / "far home"
    home.mkdir(parents=True)
    if kind == "sh":
        return FarShell(["sh"], home)
    tools = place / "tools"
    tools.mkdir()
    names = ["ls", "date", "dd", *([] if kind == "without gzip" else ["gzip"])]
    names += [] if kind in ("ls", "busybox-ls", "bsd") else ["stat"]
    if kind.startswith("busybox"):
        (busybox,) = require("busybox")
        for name in (*names, "sh"):
            (tools / name).symlink_to(busybox)
        return FarShell(["env", f"PATH={tools}", str(tools / "sh")], home)
    for name in names:
        (tools / name).symlink_to(shutil.which(name) or "/nonexistent")
    if kind == "bsd":
        (tools / "stat").write_text(_BSD_STAT.format(stat=shutil.which("stat")))
        (tools / "stat").chmod(0o755)
    (shell,) = require("bash" if kind == "bash" else "sh")
    return FarShell(["env", f"PATH={tools}", shell], home)
