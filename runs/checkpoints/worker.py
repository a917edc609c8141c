"""The process that reads a checkpoint: a hostile or huge one costs it, not whoever asked.

It is told what to do on stdin and answers with lines of JSON: progress, then one result or one
problem. It ends when whoever asked is gone.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import time
from typing import Any

from ..errors import MltdError
from ..open_artifact import ANYWHERE
from .errors import CheckpointLimit, packed_error
from .limits import Limits
from .plain_json import from_plain, to_json

_BETWEEN = 0.1
"""Seconds between two words about progress."""


def main() -> None:
    """Do what stdin says, then go without waiting for anything."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A hundred thousand tensors are millions of objects, and none of them is garbage.
    gc.disable()
    # Nothing that a library prints may get between the answers.
    answers = os.dup(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_owner, daemon=True).start()
    try:
        answer = b'{"result":' + answer_of(job, _Teller(answers)) + b"}\n"
    except BrokenPipeError:
        os._exit(1)
    except MltdError as problem:
        answer = _problem(problem)
    except (MemoryError, RecursionError):
        answer = _problem(too_large(job))
    except Exception as error:  # noqa: BLE001 - a file that we did not foresee is told, not lost
        sentence = f"{job['paths'][0]} could not be read: {type(error).__name__}: {error}"
        answer = _problem(MltdError(sentence[:1000]))
    while answer:
        answer = answer[os.write(answers, answer) :]
    os._exit(0)


def answer_of(job: dict[str, Any], tell: Any) -> bytes:
    """The summary or the comparison that a job asks for, as JSON."""
    from .inside.caps import set_caps

    limits = from_plain(Limits, job["limits"])
    if job.get("is_capped", True):
        set_caps(limits.memory_bytes, limits.seconds)
    # numpy comes with these, after the limits are set.
    from .inside.comparing import compared
    from .inside.gathering import gather
    from .inside.summing import summed_up

    paths: list[str] = job["paths"]
    needs_values = bool(job["needs_values"])
    contents = [
        gather(path, limits, needs_values=needs_values, root=root)
        for path, root in zip(paths, job.get("roots", [ANYWHERE] * len(paths)), strict=True)
    ]
    try:
        if len(contents) == 2:
            pair = (contents[0], contents[1])
            return to_json(compared((paths[0], paths[1]), pair, tell))
        return to_json(summed_up(paths[0], contents[0], tell, needs_values=needs_values))
    finally:
        for content in contents:
            content.close()


def too_large(job: dict[str, Any]) -> CheckpointLimit:
    """The sentence about memory."""
    gigabytes = job["limits"]["memory_bytes"] / (1 << 30)
    return CheckpointLimit(
        f"{job['paths'][0]} needs more than {gigabytes:.1f} GiB of memory to be described",
        hint="it is damaged or made to do that, or the limit is too low for it",
    )


def _problem(problem: MltdError) -> bytes:
    packed = {key: _clean(value) for key, value in packed_error(problem).items()}
    return json.dumps({"problem": packed}).encode() + b"\n"


def _clean(value: object) -> object:
    return [str(one) for one in value] if isinstance(value, list) else str(value)


class _Teller:
    """Says how far the work is, but not all the time."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._last = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= _BETWEEN or done == total:
            self._last = now
            os.write(self._handle, b'{"progress":[%d,%d]}\n' % (done, total))


def _end_with_owner() -> None:
    """Whoever asked holds the other end of stdin; if it is closed, nobody wants the answer."""
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
