"""An ssh client that cuts its own connection at a chosen call."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.runs.sources.sshd_server import SshdServer

CUTS = ("killed", "ended", "socket", "server")
"""The master is killed or asked to end, its socket is removed, or the server drops it."""

_PROGRAM = """#!/bin/sh
cd {folder} || exit 1
real() {{ {words} "$@"; }}
is_login() {{ case "$*" in *ControlPersist*) return 0 ;; esac; return 1; }}
is_check() {{ case "$*" in *"-O check"*) return 0 ;; esac; return 1; }}
cut() {{
    socket=
    for word; do [ "$before" != -S ] || socket=$word; before=$word; done
    pid=$(real -S "$socket" -O check any 2>&1 | sed -n 's/.*pid=\\([0-9]*\\).*/\\1/p')
    if [ -n "$pid" ]; then
        case $kind in
        killed) kill -9 $pid ;;
        ended) kill $pid ;;
        socket) rm -f "$socket" ;;
        server) kill -9 $(cat /proc/{server}/task/{server}/children) ;;
        esac
        while real -S "$socket" -O check any 2>/dev/null; do :; done
    fi
    echo $when $kind >>cuts
}}
if read when kind 2>/dev/null <wanted; then
    case $when in
    fresh) if is_check "$@" && [ -e logged-in ]; then rm wanted; cut "$@"; fi ;;
    1) rm wanted; cut "$@" ;;
    *) echo $((when - 1)) $kind >wanted.new; mv wanted.new wanted ;;
    esac
fi
rm -f logged-in
if is_login "$@"; then
    real "$@"
    code=$?
    [ $code -ne 0 ] || : >logged-in
    exit $code
fi
exec {words} "$@"
"""


class CuttingClient:
    """Writes the program, and tells it when to cut; one link at a time uses it."""

    def __init__(self, folder: Path, words: str, server: SshdServer) -> None:
        self._folder = folder
        folder.mkdir()
        program = folder / "ssh"
        program.write_text(
            _PROGRAM.format(folder=shlex.quote(str(folder)), words=words, server=server.pid)
        )
        program.chmod(0o700)
        self.command = shlex.quote(str(program))

    def cut_after_login(self, kind: str) -> None:
        """Cut between the next log-in's answer and the question whether it has a master."""
        self._want(f"fresh {kind}")

    def cut_at_call(self, number: int, kind: str) -> None:
        """Cut just before so many calls from now, whatever they are for."""
        self._want(f"{number} {kind}")

    @property
    def cuts(self) -> list[str]:
        """The cuts that were made."""
        place = self._folder / "cuts"
        return place.read_text().splitlines() if place.exists() else []

    def _want(self, wish: str) -> None:
        fresh = self._folder / "wanted.new"
        fresh.write_text(f"{wish}\n")
        fresh.rename(self._folder / "wanted")
