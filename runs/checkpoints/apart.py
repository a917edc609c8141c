"""A worker process, watched: its time, its memory, and whether anybody still wants its answer."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import orjson

from ..errors import FormatError, InputError
from ..remote.names import shown
from .errors import CheckpointCancelled, CheckpointLimit, DamagedCheckpoint, unpacked_error
from .limits import Limits

Progress = Callable[[int, int], None]
"""Bytes done, and bytes in all."""
Cancelled = Callable[[], bool]
_MODULE = "mltd.runs.checkpoints.worker"
_LOOK = 0.1
"""Seconds between two looks at the clock, the memory and the wish to stop."""
_LONGEST = 1 << 30
_UNWANTED = ("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "PYTHONSTARTUP", "PYTHONINSPECT")


def ask_worker(
    job: dict[str, object],
    limits: Limits,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> bytes:
    """The worker's result as JSON; its problem is raised."""
    path = shown(str(next(iter(_paths(job)), "")))
    process = _started(job)
    try:
        for line in _lines(process, path, limits, cancelled):
            if line.startswith(b'{"progress"'):
                if progress is not None:
                    done, total = orjson.loads(line)["progress"]
                    progress(done, total)
            elif line.startswith(b'{"result":'):
                return line[len(b'{"result":') : -1]
            else:
                raise unpacked_error(json.loads(line)["problem"])
        raise _ending(process, path, limits)
    finally:
        _end(process)


def _paths(job: dict[str, object]) -> list[object]:
    paths = job["paths"]
    return paths if isinstance(paths, list) else []


def _started(job: dict[str, object]) -> subprocess.Popen[bytes]:
    environment = {key: value for key, value in os.environ.items() if key not in _UNWANTED}
    # One thread is enough, a login node's GPU is not ours, and a reader leaves nothing behind.
    environment |= {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MALLOC_ARENA_MAX": "2",
    }
    try:
        process = subprocess.Popen(
            # Without -P a module of the directory we were started in could replace one of ours.
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise InputError(f"no process could be started to read it: {error.strerror}") from None
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
    return process


def _lines(
    process: subprocess.Popen[bytes], path: str, limits: Limits, cancelled: Cancelled | None
) -> Iterator[bytes]:
    """What the worker says, line by line, as long as it keeps to its limits."""
    assert process.stdout is not None
    handle = process.stdout.fileno()
    deadline = time.monotonic() + limits.seconds
    pieces: list[bytes] = []
    size = 0
    while True:
        ready, _, _ = select.select([handle], [], [], _LOOK)
        if cancelled is not None and cancelled():
            raise CheckpointCancelled(f"{path} is no longer being read")
        if time.monotonic() > deadline:
            raise CheckpointLimit(
                f"reading {path} took longer than {limits.seconds:.0f} s and was given up",
                hint="its file system may be hanging, or it needs more time",
            )
        if not ready:
            _check_memory(process.pid, path, limits)
            continue
        piece = os.read(handle, 1 << 16)
        size += len(piece)
        if not piece or size > _LONGEST:
            return
        pieces.append(piece)
        if b"\n" in piece:
            *whole, rest = b"".join(pieces).split(b"\n")
            pieces, size = [rest], len(rest)
            yield from whole


def _check_memory(pid: int, path: str, limits: Limits) -> None:
    """The kernel bounds what is allocated; this sees what is really used beside mapped files."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            status = file.read()
        used = int(status.split(b"RssAnon:")[1].split()[0]) << 10
    except (OSError, IndexError, ValueError):
        return
    if used > limits.memory_bytes:
        raise CheckpointLimit(
            f"reading {path} took more than {limits.memory_bytes / (1 << 30):.1f} GiB of memory",
            hint="it is damaged or made to do that, or the limit is too low for it",
        )


def _ending(process: subprocess.Popen[bytes], path: str, limits: Limits) -> Exception:
    """Why a worker ended without a word."""
    try:
        code = process.wait(5)
    except subprocess.TimeoutExpired:
        code = 0
    if code == -signal.SIGBUS:
        return DamagedCheckpoint(
            f"{path} became shorter while it was being read",
            hint="wait until the job has saved it, then read it again",
        )
    if code in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGABRT):
        return CheckpointLimit(
            f"the process that read {path} was ended: it took too much time or memory",
            hint="try again where there is more of both",
        )
    return FormatError(f"the process that read {path} ended without an answer (code {code})")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    # Not for long: on a dead file server it may never go.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
