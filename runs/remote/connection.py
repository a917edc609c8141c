"""One connection to a host, shared by everything that is read from it.

ssh keeps it in a process of its own, a *master*, which others reach by a socket. If the user has
one, it is used and left alone. Ours detaches itself after the log-in, and ends by itself a minute
after its last use, also if we are killed; who closes it last ends it at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import time
from pathlib import Path

from .address import Host
from .client import LOCAL_SECONDS, REMOTE_COMMAND, Answer, call, configuration, options, ssh_words
from .problems import (
    LinkError,
    LinkKind,
    LinkLost,
    behind_proxy,
    endless_greeting,
    explain,
    meaningful_lines,
    no_shell,
    too_late,
)
from .runtime import NAME, runtime_folder

LOGIN_SECONDS = 30.0
"""For a log-in that asks nothing; people may take as long as they like."""
PROBE_SECONDS = 8.0
"""For one more shell over a connection that is said to live; a laptop may have slept since."""
PERSIST_SECONDS = 60
_PROXIES = ("proxyjump", "proxycommand")
_IN_KEY = ("hostname", "user", "port", *_PROXIES)
_DOCTOR = "see what `mltd-tui doctor` says about sockets"


class Connection:
    """The shared connection to one host."""

    def __init__(
        self, host: Host, *, persist_seconds: int = PERSIST_SECONDS, trusted_seconds: float = 0.0
    ) -> None:
        self.host = host
        self._trusted_seconds = trusted_seconds
        """So young a connection had an answer a moment ago, and is not asked for another."""
        self._persist_seconds = persist_seconds
        self._options: list[str] = []
        self._has_proxy = False
        self._socket = ""
        """As ssh is told of it; empty while there is no connection."""
        self._use: _Use | None = None
        """None also while the master is the user's own."""
        self._has_worked = False
        """A shell has answered before: from then on a missing master is a lost connection."""

    def open(self, *, interactive: bool) -> None:
        """Have a living connection over which a shell answers; `LinkError` if there is none."""
        try:
            settings = configuration(self.host)
            self._options = options(settings)
            self._has_proxy = any(settings.get(key, "none") != "none" for key in _PROXIES)
            if not self._take_users_own(settings.get("controlpath", "none")):
                self._take_ours(settings, interactive)
            self._has_worked = True
        except OSError as error:
            # No room for a file, no descriptor left: nothing that ssh is to blame for.
            self._forget()
            raise LinkError(
                f"no link to {self.host.label}: {error.strerror or error}", may_pass=True
            ) from error
        except BaseException:
            self._forget()
            raise

    def channel(self) -> list[str]:
        """The command for one more shell over there, which can ask nothing."""
        if not self._socket:
            raise LinkLost(f"there is no connection to {self.host.label}")
        # Without the proxy that fails, ssh would log in anew where the master is gone.
        alone = ("-o", "ControlMaster=no", "-o", "BatchMode=yes", "-o", "ProxyCommand=false")
        return self._command(*alone, *self._options, remote=REMOTE_COMMAND)

    def is_alive(self) -> bool:
        """True if there is a master; the network may still be gone for a while."""
        try:
            return bool(self._socket) and self._has_master()
        except (LinkError, OSError):
            return False

    def close(self) -> None:
        """End our master, unless another app uses it; never the user's own."""
        if self._use is not None and self._use.is_sole():
            with contextlib.suppress(LinkError, OSError):
                self._end_master()
        self._forget()

    def _has_master(self) -> bool:
        return self._check_master().code == 0

    def _check_master(self) -> Answer:
        return call(self._command("-O", "check"), LOCAL_SECONDS)

    def _take_users_own(self, socket: str) -> bool:
        if socket.lower() in ("", "none"):
            return False
        self._socket = socket
        if not self._has_master() or self._probe() is not None:
            return False
        self._release()
        return True

    def _take_ours(self, settings: dict[str, str], interactive: bool) -> None:
        place = runtime_folder() / _key(self.host, settings)
        if self._use is None or self._use.place != place:
            self._release()
            self._use = _Use(place)
        self._socket = str(place).replace("%", "%%")
        if place.exists():
            if not self._has_master():
                # Of a master that was killed, or that hangs; ssh itself removes only the first.
                place.unlink(missing_ok=True)
            elif self._is_trusted(place) or (problem := self._probe()) is None:
                return
            elif problem.kind is LinkKind.REFUSED:
                raise problem
            else:
                self._end_master()
        try:
            self._log_in(interactive)
        except BaseException:
            # The log-in may have worked, and only what came after it failed.
            if self._use.is_sole():
                self._end_master()
            raise

    def _is_trusted(self, place: Path) -> bool:
        with contextlib.suppress(OSError):
            return 0 <= time.time() - place.stat().st_mtime < self._trusted_seconds
        return False

    def _log_in(self, interactive: bool) -> None:
        persist = ("-o", "ControlMaster=auto", "-o", f"ControlPersist={self._persist_seconds}")
        batch = () if interactive else ("-o", "BatchMode=yes")
        argv = self._command(*persist, *batch, *self._options, remote=REMOTE_COMMAND)
        question = _Question()
        if interactive:
            from .prompts import call_asking

            answer = call_asking(argv, question.script)
        else:
            answer = call(argv, LOGIN_SECONDS, question.script)
        problem = self._problem(answer, question, LOGIN_SECONDS, is_asking=interactive)
        if problem is not None and problem.kind is LinkKind.LOST and self._has_proxy:
            problem = self._problem_of_proxy(interactive)
        if problem is not None:
            raise problem
        check = self._check_master()
        if check.code is None:
            raise too_late(self.host, LOCAL_SECONDS)
        if check.code != 0:
            raise self._missing_master(answer)

    def _missing_master(self, login: Answer) -> LinkError:
        """The problem of a log-in that worked and left no master behind.

        A connection that is cut at this moment looks the same as one that cannot be shared, unless
        ssh said why it could not make the socket.
        """
        refusal = explain(login.errors, self.host)
        if not self._has_worked and refusal.kind is LinkKind.CONFIGURATION:
            return LinkError(
                f"the connection to {self.host.label} cannot be shared: "
                + meaningful_lines(login.errors)[-1],
                hint=_DOCTOR,
                kind=LinkKind.CONFIGURATION,
            )
        return LinkError(
            f"the connection to {self.host.label} was lost right after the log-in",
            hint="" if self._has_worked else f"if that happens every time, {_DOCTOR}",
            kind=LinkKind.LOST,
        )

    def _problem_of_proxy(self, interactive: bool) -> LinkError:
        """What a jump host has to say: ssh hides that where a connection is to be shared."""
        batch = ("-S", "none", "-o", "BatchMode=yes")
        argv = [*ssh_words(), *batch, *self._options, *self.host.target, REMOTE_COMMAND]
        question = _Question()
        problem = self._problem(call(argv, LOGIN_SECONDS, question.script), question, LOGIN_SECONDS)
        is_about_questions = problem is not None and not problem.may_pass
        if problem is None or problem.kind is LinkKind.LOST or (interactive and is_about_questions):
            # The person may have answered all that now could not be asked.
            return behind_proxy(self.host)
        return problem

    def _probe(self) -> LinkError | None:
        """What is wrong with a connection whose master lives."""
        question = _Question()
        answer = call(self.channel(), PROBE_SECONDS, question.script)
        return self._problem(answer, question, PROBE_SECONDS)

    def _problem(
        self, answer: Answer, question: _Question, seconds: float, is_asking: bool = False
    ) -> LinkError | None:
        if question.is_answered(answer.output):
            return None
        if answer.is_endless:
            return endless_greeting(self.host)
        if answer.code is None:
            return too_late(self.host, seconds)
        if answer.code == 0:
            return no_shell(answer.errors + answer.output, self.host)
        # What a log-in says before it ends comes on either.
        said = answer.errors if answer.code == 255 else answer.errors + answer.output
        return explain(said, self.host, code=answer.code, is_asking=is_asking)

    def _end_master(self) -> None:
        place = Path(self._socket.replace("%%", "%"))
        if not place.exists():
            return
        call(self._command("-O", "exit"), LOCAL_SECONDS)
        deadline = time.monotonic() + 1.0
        while place.exists() and time.monotonic() < deadline:
            time.sleep(0.01)  # it says that it will end, not that it has
        place.unlink(missing_ok=True)

    def _command(self, *words: str, remote: str = "") -> list[str]:
        # Not as `-o ControlPath`, in which spaces and quotes would have a meaning.
        argv = [*ssh_words(), "-S", self._socket, *words, *self.host.target]
        return [*argv, remote] if remote else argv

    def _forget(self) -> None:
        self._socket = ""
        self._release()

    def _release(self) -> None:
        if self._use is not None:
            self._use.release()
            self._use = None


class _Question:
    """Something that only a shell can answer: its own text does not hold the answer."""

    def __init__(self) -> None:
        nonce = secrets.token_hex(8)
        self.script = f"printf 'mltd-%s\\n' {nonce}\n".encode()
        self._answer = f"mltd-{nonce}\n".encode()

    def is_answered(self, output: bytes) -> bool:
        return self._answer in output


class _Use:
    """Tells other apps that this one uses a socket; the kernel takes it back if we die."""

    def __init__(self, place: Path) -> None:
        self.place = place
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(place.with_name(place.name + ".use"), flags, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_SH)

    def is_sole(self) -> bool:
        """True if nobody else uses it, nor will until we release it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def release(self) -> None:
        os.close(self._file)


def _key(host: Host, settings: dict[str, str]) -> str:
    """The same for what leads to the same place by the same way."""
    parts = [*ssh_words(), "", host.name, host.user, str(host.port)]
    parts += [settings.get(key, "") for key in _IN_KEY]
    whole = "\0".join([str(os.geteuid()), *parts])
    return hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()[:NAME]
