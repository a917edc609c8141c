"""Connections for tests: opened, asked, and let in by keys that run a command."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from mltd.runs.remote.address import Host
from mltd.runs.remote.connection import Connection
from tests.runs.sources.sshd_server import SshdServer

from .conftest import Configure


def opened(host: Host, persist_seconds: int = 60) -> Connection:
    connection = Connection(host, persist_seconds=persist_seconds)
    connection.open(interactive=False)
    return connection


def said(connection: Connection, script: bytes) -> bytes:
    """What a shell over there prints."""
    answer = subprocess.run(
        connection.channel(), input=script, capture_output=True, timeout=60, check=False
    )
    return answer.stdout + answer.stderr


def forced(command: str, sshd: SshdServer, configure: Configure, tmp_path: Path) -> None:
    """Let a key of its own run this command instead of a log-in shell."""
    key = tmp_path / "forced"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    quoted = command.replace('"', '\\"')
    with (sshd.folder / "authorized_keys").open("a") as keys:
        keys.write(f'command="{quoted}" {key.with_suffix(".pub").read_text()}')
    configure("")
    config = (tmp_path / "ssh_config").read_text()
    (tmp_path / "ssh_config").write_text(re.sub(r"(IdentityFile )\S+", rf"\1{key}", config))
