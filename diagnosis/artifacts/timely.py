"""Work on files within a time: a file server that does not answer holds nobody up."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from .errors import ArtifactError

T = TypeVar("T")
PATIENCE_SECONDS = 4.0


def timely(work: Callable[[], T], what: str, seconds: float = PATIENCE_SECONDS) -> T:
    """What `work` returns or raises; it is left behind if it takes too long.

    It must touch nothing but files and what it has made itself.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - whoever waits has to deal with it
            errors.append(error)

    thread = threading.Thread(target=run, name="artifact", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise ArtifactError(
            f"{what} did not answer within {seconds:.0f} s", hint="its file system may be hanging"
        )
    return results[0]


def ask_process(
    module: str, descriptors: Sequence[int], arguments: Sequence[str], seconds: float
) -> bytes | None:
    """What a process of ours says about open files; None if it had to be ended.

    Whatever a file or a pattern does to it, it is gone after `seconds`.
    """
    # Without -P a module of the directory we were started in could replace one of ours.
    command = [sys.executable, "-P", "-m", module, *map(str, descriptors), *arguments]
    try:
        finished = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=tuple(descriptors),
            start_new_session=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise ArtifactError(f"no process could be started for this: {error.strerror}") from None
    return finished.stdout or None
