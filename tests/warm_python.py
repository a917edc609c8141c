"""Python processes for tests, forked from one that has done the slow imports already.

A process of its own is what many tests are about: signals, a terminal, an environment, an exit
code. Its imports are not, and take longer than all the rest. Tests of start-up and of what is
imported start Python themselves.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.waiting import PATIENCE

PRELOADED = (
    "anthropic",
    "anthropic.lib.credentials",
    "mltd.analyzers.diagnosis",
    "mltd.diagnosis.client.sdk_client",
    "mltd.diagnosis.second_opinion",
    "mltd.runs.ingest",
    "mltd.sessions.storage.store",
    "mltd.tui.claude_command",
    "mltd.tui.cli",
    "mltd.tui.headless",
    "mltd.tui.inspect_command",
    "mltd.tui.json_output",
    "mltd.tui.pack_command",
    "mltd.tui.report_command",
    "mltd.tui.sessions_command",
)
_LONGEST = 1_000_000


class WarmProcess:
    """A process that runs a module; the part of `subprocess.Popen` that tests use."""

    def __init__(self, server: _Server, pid: int) -> None:
        self.pid = pid
        self._server = server

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        self._server.listen(0)
        return self._server.codes.get(self.pid)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Wait for its end and return the exit code."""
        deadline = time.monotonic() + timeout
        while (code := self._server.codes.get(self.pid)) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            self._server.listen(max(0.0, deadline - time.monotonic()))
        return code

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def start(
    module: str,
    *arguments: str,
    stdin: int,
    stdout: int,
    stderr: int,
    is_terminal: bool = False,
    folder: Path | None = None,
) -> WarmProcess:
    """Run `python -m module` with these descriptors in a session of its own.

    With `is_terminal`, the terminal behind `stdin` becomes its own, so that Ctrl+C is a signal.
    """
    server = _server()
    call = {
        "module": module,
        "arguments": arguments,
        "folder": str(folder or Path.cwd()),
        "environment": dict(os.environ),
        "is_terminal": is_terminal,
    }
    return WarmProcess(server, server.ask(json.dumps(call).encode(), [stdin, stdout, stderr]))


def run(
    module: str, *arguments: str, folder: Path | None = None, stdin: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m module` to its end, as `subprocess.run` does with captured output."""
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        open(os.devnull) as nothing,
    ):
        process = start(
            module,
            *arguments,
            stdin=nothing.fileno() if stdin is None else stdin,
            stdout=output.fileno(),
            stderr=errors.fileno(),
            folder=folder,
        )
        code = process.wait()
        for file in (output, errors):
            file.seek(0)
        said, complained = output.read().decode(), errors.read().decode()
    return subprocess.CompletedProcess([module, *arguments], code, said, complained)


def close() -> None:
    """End the process from which others are forked, if there is one."""
    if _server.cache_info().currsize:
        _server().close()
        _server.cache_clear()


class _Server:
    """The process from which others are forked, as the tests see it."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self._line, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "default", "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self.codes: dict[int, int] = {}
        self._pids: list[int] = []

    def ask(self, call: bytes, descriptors: list[int]) -> int:
        socket.send_fds(self._line, [call], descriptors)
        while not self._pids:
            self.listen(PATIENCE)
        return self._pids.pop()

    def listen(self, seconds: float) -> None:
        """Take one message, if one comes in time."""
        if not select.select([self._line], [], [], seconds)[0]:
            return
        told = json.loads(self._line.recv(_LONGEST) or b"{}")
        assert told, "the process from which others are forked has ended"
        if "code" in told:
            self.codes[told["pid"]] = told["code"]
        else:
            self._pids.append(told["pid"])

    def close(self) -> None:
        self._line.close()
        self._process.wait(PATIENCE)


@cache
def _server() -> _Server:
    return _Server()


# -- inside the process from which others are forked ---------------------------------------------


class _Call(NamedTuple):
    asked: dict[str, Any]
    descriptors: list[int]


def _serve(line: socket.socket) -> _Call | None:
    """Fork for each call: return it in the new process, and None when nobody asks any more."""
    ended, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: set[int] = set()
    while True:
        ready = select.select([line.fileno(), ended], [], [])[0]
        if ended in ready:
            os.read(ended, 4096)
            for pid in list(running):
                gone, status = os.waitpid(pid, os.WNOHANG)
                if gone:
                    running.discard(pid)
                    code = os.waitstatus_to_exitcode(status)
                    line.send(json.dumps({"pid": pid, "code": code}).encode())
        if line.fileno() in ready:
            data, descriptors, _, _ = socket.recv_fds(line, _LONGEST, 3)
            if not data:
                return None
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for descriptor in (ended, tell):
                    os.close(descriptor)
                return _Call(json.loads(data), descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            running.add(pid)
            line.send(json.dumps({"pid": pid}).encode())


def _become(call: _Call) -> None:
    """Make this process what a new one would be, and run the module in it."""
    os.setsid()
    for number, descriptor in enumerate(call.descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if call.asked["is_terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(call.asked["environment"])
    os.chdir(call.asked["folder"])
    sys.path[0] = call.asked["folder"]
    random.seed()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = [call.asked["module"], *call.asked["arguments"]]
    sys.modules.pop(call.asked["module"], None)
    runpy.run_module(call.asked["module"], run_name="__main__", alter_sys=True)


def _main() -> None:
    with socket.socket(fileno=int(sys.argv[1])) as line:
        for name in PRELOADED:
            importlib.import_module(name)
        gc.collect()
        gc.freeze()
        call = _serve(line)
    if call is not None:
        _become(call)


if __name__ == "__main__":
    _main()
