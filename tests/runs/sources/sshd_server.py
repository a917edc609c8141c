"""A real sshd on a loopback port, with keys and configuration of its own; and sshfs on top.

Nothing of the user's own ssh configuration is read or written, and everything that was started
is ended by its process id.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_EXTRA_PLACES = "/usr/sbin:/usr/local/sbin:/sbin"


def require(*programs: str) -> list[str]:
    """Paths of programs; skip the test where one is missing, unless services are required."""
    search = os.pathsep.join((os.environ.get("PATH", os.defpath), _EXTRA_PLACES))
    places = [shutil.which(program, path=search) for program in programs]
    for program, place in zip(programs, places, strict=True):
        if place is None:
            give_up(f"{program} is not installed")
    return [place for place in places if place is not None]


def give_up(reason: str) -> None:
    """Skip with a reason, or fail if this machine promised to have all services."""
    if os.environ.get("MLTD_REQUIRE_SERVICES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass(frozen=True)
class SshdServer:
    """A running sshd and what a client needs to reach it."""

    pid: int
    port: int
    user: str
    folder: Path
    host: str = "127.0.0.1"

    @property
    def client_config(self) -> Path:
        """For `ssh -F`: it knows the host as `mltd-test` too, and asks nothing."""
        return self.folder / "ssh_config"

    @property
    def log(self) -> str:
        """What the server has said so far."""
        return (self.folder / "sshd.log").read_text(errors="replace")

    def connections(self) -> list[int]:
        """Process ids of the server's children, one or two for each connection."""
        return _descendants(self.pid)

    def drop_connections(self) -> None:
        """Cut every connection, as a rebooting login node would; new ones are welcome."""
        for pid in self.connections():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            parents[int(entry.parent.name)] = int(fields[1])
    found = [pid]
    for ancestor in found:
        found += [child for child, parent in parents.items() if parent == ancestor]
    return found[1:]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _configure(folder: Path, keygen: str, port: int, user: str, extra: str) -> None:
    for name in ("host_key", "user_key"):
        command = [keygen, "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(folder / name)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    # What a log-in shell would run at each start is not part of the test: it may take long, and
    # leave locks behind when it is killed.
    (folder / "home").mkdir()
    host_key = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}mltd-test {host_key}")
    (folder / "sshd_config").write_text(
        f"""{extra}
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile {folder}/sshd.pid
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PrintMotd no
SetEnv HOME={folder}/home
PrintLastLog no
MaxStartups 100
Subsystem sftp internal-sftp
"""
    )
    (folder / "ssh_config").write_text(
        f"""Host mltd-test
    HostName 127.0.0.1
    HostKeyAlias mltd-test
Host *
    Port {port}
    User {user}
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 10
"""
    )


def _await_banner(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as line:
            if line.recv(4) == b"SSH-":
                return
        time.sleep(0.02)  # nothing announces a listening port
    give_up(f"sshd does not start here: {log.read_text(errors='replace')[-500:]}")


@contextlib.contextmanager
def running_sshd(folder: Path, extra: str = "") -> Iterator[SshdServer]:
    """Start sshd with everything it needs in `folder`, and end it and its connections.

    Lines in `extra` come first in its configuration, where they overrule what follows.
    """
    sshd, keygen = require("sshd", "ssh-keygen")
    require("ssh")
    folder.mkdir(parents=True, exist_ok=True)
    user, port = getpass.getuser(), _free_port()
    _configure(folder, keygen, port, user, extra)
    if os.geteuid() == 0:
        # Debian's service makes this directory when it starts; sshd of root refuses without it.
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    log = folder / "sshd.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sshd, "-D", "-e", "-f", str(folder / "sshd_config")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    server = SshdServer(process.pid, port, user, folder)
    try:
        _await_banner(process, port, log)
        yield server
    finally:
        server.drop_connections()
        process.terminate()
        process.wait(60)


@contextlib.contextmanager
def mounted_sshfs(server: SshdServer, remote: Path, mount_point: Path) -> Iterator[Path]:
    """Mount a directory of the server with sshfs's defaults, and unmount it."""
    sshfs, unmount = require("sshfs", "fusermount3")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        give_up("/dev/fuse may not be used here")
    mount_point.mkdir(parents=True, exist_ok=True)
    target = f"{server.user}@{server.host}:{remote}"
    log = mount_point.with_name(mount_point.name + ".sshfs.log")
    with log.open("wb") as output:
        # In the foreground, so that its process is ours to end.
        process = subprocess.Popen(
            [sshfs, "-f", "-F", str(server.client_config), target, str(mount_point)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + 60
        while not os.path.ismount(mount_point):
            if process.poll() is not None or time.monotonic() > deadline:
                give_up(f"sshfs does not mount here: {log.read_text(errors='replace')[-500:]}")
            time.sleep(0.02)  # nothing announces a finished mount
        yield mount_point
    finally:
        if os.path.ismount(mount_point):
            subprocess.run([unmount, "-u", "-z", str(mount_point)], check=False)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        if process.poll() is None:
            process.kill()
            process.wait(60)
