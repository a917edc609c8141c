"""The tools that another machine may have, as commands for a shell that has only these."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.runs.sources.sshd_server import require

KINDS = ["sh", "bash", "busybox", "bsd", "ls", "busybox-ls", "without gzip"]
_TOOLS = ["dd", "date", "sleep"]
_BSD_STAT = """#!/bin/sh
aimed=
if [ "$1" = -L ]; then aimed=-L; shift; fi
[ "$1" = -f ] || exit 1
case $2 in
%z) format=%s ;;
%d:%i) format=%d:%i ;;
%d:%i/%z/%Fm/%Fc) format=%d:%i/%s/%.9Y/%.9Z ;;
*) exit 1 ;;
esac
shift 2
[ "$1" != -- ] || shift
exec STAT $aimed -c "$format" -- "$@"
"""


def shell(kind: str, place: Path) -> list[str]:
    """The command for a shell with one of several sets of tools; `place` is for their links."""
    if kind == "sh":
        return ["sh"]
    place.mkdir(parents=True)
    wanted = list(_TOOLS)
    wanted += [] if kind.endswith("ls") or kind == "bsd" else ["stat"]
    wanted += ["ls"] if kind.endswith("ls") else []
    wanted += [] if kind == "without gzip" else ["gzip"]
    if kind.startswith("busybox"):
        (busybox,) = require("busybox")
        for name in (*wanted, "sh"):
            (place / name).symlink_to(busybox)
        return ["env", "-i", f"PATH={place}", str(place / "sh")]
    for name in wanted:
        (place / name).symlink_to(shutil.which(name) or "/nonexistent")
    if kind == "bsd":
        (place / "stat").write_text(_BSD_STAT.replace("STAT", str(shutil.which("stat"))))
        (place / "stat").chmod(0o755)
    (found,) = require("bash" if kind == "bash" else "sh")
    return ["env", "-i", f"PATH={place}", found]
