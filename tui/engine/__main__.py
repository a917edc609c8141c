"""Run the engine: wishes on standard input, news on standard output, both from the screen."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import BinaryIO

from .channel import Sender, receive


def main() -> None:
    """Serve until the screen closes its end or goes away."""
    # The screen decides when it is over; a Ctrl+C in its terminal is not meant for us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming = os.fdopen(os.dup(0), "rb")
    sender = Sender(os.fdopen(os.dup(1), "wb"))
    _keep_the_pipe_clean()
    # A thread for each of a login node's hundred cores, for sums of a few thousand numbers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from mltd.runs.sources.watcher import Watcher

    from .inbox import Inbox
    from .protocol import Grew, Open
    from .service import Service

    # Imported before the first wish is there: it may wait for somebody to type a password.
    first = receive(incoming)
    if not isinstance(first, Open):
        return
    inbox = Inbox()
    watcher = Watcher(poll_seconds=first.poll_seconds or _configured_poll())
    inbox.wish(first)
    threading.Thread(target=_listen, args=(incoming, inbox), daemon=True).start()

    def watch() -> None:
        try:
            while not inbox.is_closed:
                paths = watcher.wait(60.0)
                if paths:
                    sender.send(Grew(tuple(str(path) for path in paths)))
                    inbox.changed(paths)
        except OSError:
            inbox.close()

    threading.Thread(target=watch, daemon=True).start()
    service = Service(sender.send, inbox, watcher)
    if first.has_jobs:
        from .jobs import JobWatch

        # What was named comes first; whoever opened the picker waits for the jobs.
        delay = 0.0 if first.is_survey else 1.0
        JobWatch(inbox.jobs, service.runs, delay=delay).start()
    threading.Thread(target=_remove_old_copies, daemon=True).start()
    try:
        service.run()
    except BrokenPipeError:
        pass
    finally:
        # Threads that wait for a dead file server must not keep a dead app's child alive.
        os._exit(0)


def _listen(incoming: BinaryIO, inbox: object) -> None:
    from .inbox import Inbox
    from .protocol import Wish

    assert isinstance(inbox, Inbox)
    try:
        while (wish := receive(incoming)) is not None:
            assert isinstance(wish, Wish)
            inbox.wish(wish)
    finally:
        # The screen is gone: whatever the main thread is doing, nobody needs it.
        inbox.close()
        os._exit(0)


def _remove_old_copies() -> None:
    from mltd.runs.remote.mirror_root import remove_old_copies

    remove_old_copies()


def _configured_poll() -> float | None:
    from mltd.runs.errors import SettingsError
    from mltd.runs.settings import current

    try:
        return current().poll_seconds
    except SettingsError:
        return None


def _keep_the_pipe_clean() -> None:
    """A stray print must not end up between two objects."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    sys.stdout = sys.stderr


if __name__ == "__main__":
    main()
