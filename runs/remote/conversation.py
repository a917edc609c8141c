"""One `sh` on another machine that is asked one thing after another.

Scripts go in through its standard input, so no shell on the way parses them; answers come back
through its standard output. A line that begins with a number nobody can guess is a *mark*
(`say WORDS...` in a script); all other bytes are content, whatever they look like.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

from .alarm import Alarm
from .far_numbers import whole_number
from .marks import Mark, MarkReader
from .problems import LinkKind, LinkLost, meaningful_lines, unreadable

__all__ = ["Answer", "Conversation", "Mark"]

PATIENCE = 15.0
"""Seconds of silence while an answer is due after which the link counts as dead."""
MOST_BYTES = 64 << 20
"""In an answer of which nothing better is known."""
_GREETING_BYTES = 1 << 20
"""What a log-in shell may print by itself."""
_LEAST_PROGRESS = 64
"""Bytes; less than this within all patience is as good as silence: no link is that slow."""
_LEAST_RATE = 100
"""Bytes per second below which an answer may not go on for ever."""
_MOST_PATIENCE = 5
"""So many times the patience an answer may take, however few bytes it has."""
_READ_BYTES = 1 << 18
_WORDS_KEPT = 4096
"""So much of what ssh says is remembered, to explain an end."""
_GLANCE = 1.0
"""Seconds after which a silent process is looked at: its master may hold the pipe open."""
_END = b"."
"""First word of the mark that ends an answer."""
_READY = (b".", b"ready")


class _Limit(NamedTuple):
    """What an answer may take."""

    size: int
    seconds: float


class Answer(Iterator[bytes | Mark]):
    """Output of one script as it arrives; one not read to its end is drained by the next."""

    def __init__(self, conversation: Conversation, number: int, patience: float) -> None:
        self._conversation = conversation
        self._number = number
        self._patience = patience

    def __next__(self) -> bytes | Mark:
        """The next bytes or mark, as soon as they are there."""
        item = self._conversation._next_item(self._number, self._patience)
        if item is None:
            raise StopIteration
        return item


class Conversation:
    """Speaks with one `sh`; one thread asks, any thread may close."""

    def __init__(self, argv: Sequence[str], *, patience: float = PATIENCE) -> None:
        self.patience = patience
        nonce = secrets.token_hex(16).encode()
        self._marks = MarkReader(nonce)
        self._lock = threading.RLock()
        self._unsent = bytearray(_opening(nonce))
        self._said = bytearray()
        self._asked = 0
        self._answered = 0
        self._is_ready = False
        self._is_closed = False
        self._heard_at: float | None = None
        self._limits: deque[_Limit] = deque()
        """Of the answers that are due, in order."""
        self._taken = 0
        """Bytes of the present answer."""
        self._waited = 0.0
        """Seconds of waiting for the present answer."""
        self._idle = 0.0
        """Seconds of waiting since there was progress."""
        self._dribble = 0
        """Bytes since there was progress."""
        # In a session of its own: Ctrl-C in the terminal is not meant for it, nor is the terminal.
        self._process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self._pipes = [
            pipe
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
            if pipe is not None
        ]
        self._input, self._output, self._errors = (pipe.fileno() for pipe in self._pipes)
        self._alarm = Alarm()
        for descriptor in (self._input, self._output, self._errors):
            os.set_blocking(descriptor, False)
        self._sources = {self._output, self._errors, self._alarm.descriptor}

    @property
    def pid(self) -> int:
        """The process here that carries the conversation."""
        return self._process.pid

    @property
    def heard_at(self) -> float | None:
        """When the last byte came, in seconds since 1970; None before the first."""
        return self._heard_at

    @property
    def is_over(self) -> bool:
        """True if nothing can be asked any more; a silent link does not show."""
        return self._is_closed or self._process.poll() is not None

    def define(self, script: bytes) -> None:
        """Run a silent script in the shell itself, so that its functions and variables stay."""
        with self._lock:
            self._unsent += b"{\n" + script + b"\n} </dev/null >/dev/null\n"

    def ask(
        self,
        script: bytes,
        *,
        patience: float | None = None,
        seconds: float | None = None,
        most: int = MOST_BYTES,
    ) -> Answer:
        """Run a script over there, on its own and without input, and give what it prints.

        The script is on its way when this returns; several may be, and answers come in order. An
        answer is given up when it makes no progress for the patience, is longer than `most` bytes,
        or takes more than `seconds` though it is slower than any link.
        """
        with self._lock:
            self._refuse_if_closed()
            patience = self.patience if patience is None else patience
            self._asked += 1
            self._limits.append(
                _Limit(most, _MOST_PATIENCE * patience if seconds is None else seconds)
            )
            self._unsent += b"(\n" + script + b"\n) </dev/null\nsay . %d\n" % self._asked
            self._send()
            return Answer(self, self._asked, patience)

    def close(self) -> None:
        """End the process and wait for it; whoever reads an answer is told."""
        self._is_closed = True
        # A master of ssh may hold our pipes longer than the process lives.
        self._alarm.ring()
        with self._lock:
            self._end_process()
            for pipe in self._pipes:
                pipe.close()
            self._alarm.close()

    def __enter__(self) -> Self:
        """Converse for the length of a `with` block."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End the conversation."""
        self.close()

    def _next_item(self, number: int, patience: float) -> bytes | Mark | None:
        with self._lock:
            while self._answered < number:
                item = self._take()
                if item is None:
                    self._refuse_if_closed()
                    self._await_more(patience)
                elif self._is_wanted(item, number):
                    return item
            return None

    def _take(self) -> bytes | Mark | None:
        """The next item that has come; an answer that is too long or cannot be read is an end."""
        try:
            item = self._marks.take()
            if item is not None:
                self._count(item)
            return item
        except LinkLost:
            self._end_process()
            raise

    def _count(self, item: bytes | Mark) -> None:
        # A mark is as long as its words and the number before them.
        size = sum(map(len, item.words)) + 40 if isinstance(item, Mark) else len(item)
        self._taken += size
        self._dribble += size
        if isinstance(item, Mark) or self._dribble >= _LEAST_PROGRESS:
            self._idle, self._dribble = 0.0, 0
        if not self._is_ready and self._taken > _GREETING_BYTES:
            raise unreadable("the log-in shell prints text without end")
        if self._is_ready and self._limits and self._taken > self._limits[0].size:
            raise unreadable("it is longer than what was asked for")

    def _await_more(self, patience: float) -> None:
        """Wait for bytes, unless too much time has gone by waiting already."""
        seconds = self._limits[0].seconds if self._limits else _MOST_PATIENCE * patience
        seconds += self._taken / _LEAST_RATE
        if self._idle >= patience:
            self._end_process()
            raise LinkLost(f"no answer for {patience:.0f} s", kind=LinkKind.TIMEOUT)
        if self._waited >= seconds:
            self._end_process()
            raise LinkLost(f"the answer did not end within {seconds:.0f} s", kind=LinkKind.TIMEOUT)
        before = time.monotonic()
        self._exchange(min(_GLANCE, patience - self._idle, seconds - self._waited))
        waited = time.monotonic() - before
        self._idle += waited
        self._waited += waited

    def _begin_answer(self) -> None:
        self._taken = 0
        self._waited = 0.0

    def _is_wanted(self, item: bytes | Mark, number: int) -> bool:
        """True if the item belongs to that answer; marks of our own are noted."""
        if isinstance(item, Mark) and item.words[:1] == (_END,):
            if item.words == _READY and not self._is_ready:
                self._is_ready = True
            elif self._is_ready and whole_number(item.words[-1]) == self._answered + 1:
                self._answered += 1
                self._limits.popleft()
            else:
                self._end_process()
                raise unreadable()
            self._begin_answer()
            return False
        # What a login shell prints by itself comes before the conversation is ready.
        return self._is_ready and self._answered == number - 1

    def _exchange(self, seconds: float) -> None:
        """Send what is waiting and take in what arrives, for so long at most."""
        poll = select.poll()
        for descriptor in self._sources:
            poll.register(descriptor, select.POLLIN)
        if self._unsent:
            poll.register(self._input, select.POLLOUT)
        ready = dict(poll.poll(seconds * 1000))
        if self._errors in ready and not self._listen_to_errors():
            self._sources.discard(self._errors)
        if self._output in ready:
            data = os.read(self._output, _READ_BYTES)
            if not data:
                self._explain_end()
            self._heard_at = time.time()
            self._marks.feed(data)
        elif not ready and self._process.poll() is not None:
            self._explain_end()
        if self._input in ready:
            self._send()

    def _send(self) -> None:
        try:
            while self._unsent:
                sent = os.write(self._input, self._unsent[:65536])
                del self._unsent[:sent]
        except BlockingIOError:
            return
        except BrokenPipeError:
            # The end shows at the output too, and there with its reason.
            self._unsent.clear()

    def _listen_to_errors(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._errors, _WORDS_KEPT)
            self._said += data
            del self._said[:-_WORDS_KEPT]
            return bool(data)
        return False

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise LinkLost("the connection was closed", kind=LinkKind.LOST)

    def _explain_end(self) -> None:
        """Raise for a process that ended, in its own words."""
        self._refuse_if_closed()
        self._end_process()
        while self._listen_to_errors():
            pass
        said = meaningful_lines(bytes(self._said))
        raise LinkLost(said[-1] if said else "the connection ended", kind=LinkKind.LOST)

    def _end_process(self) -> None:
        self._is_closed = True
        if self._process.returncode is None:
            # With what it started: a `dd` would hold the pipe. The group outlives its leader.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def _opening(nonce: bytes) -> bytes:
    """Define `say`, and tell what a login shell printed by itself from what comes later."""
    return (
        b"LC_ALL=C; export LC_ALL; unset CDPATH ENV LANGUAGE\n"
        b"say() { ifs_=$IFS; IFS=' '; printf '\\n%s %%s\\n' \"$*\"; IFS=$ifs_; }\n"
        % nonce
        + b"say . ready\n"
    )
