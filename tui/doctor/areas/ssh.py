"""The ssh client, its agent and its configuration, for logs on other machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from ...wording import count
from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings

AREA = "ssh"
OLDEST = (6, 8)
"""The first that makes short names of sockets (`%C`) and tells its configuration (`-G`)."""
_VERSION = re.compile(r"OpenSSH_(\d+)\.(\d+)[^\s,]*")
_FRESH = '`eval "$(tmux show-environment -s SSH_AUTH_SOCK)"`'

_line = partial(Line, AREA)


def client(around: Surroundings) -> Iterator[Line]:
    """Is there an OpenSSH that is new enough, and does it accept its own configuration?"""
    answer = around.ask("ssh", "-V", share=0.4)
    if answer.is_missing:
        yield _line(
            State.WARNING,
            "no ssh in PATH: logs on other machines cannot be followed",
            "install the OpenSSH client, if you want HOST:PATH",
        )
        return
    if answer.is_late:
        yield _line(State.WARNING, "`ssh -V` does not answer", "see why `ssh -V` hangs")
        return
    version = _VERSION.search(answer.errors + answer.output)
    if version is None:
        yield _line(
            State.WARNING,
            f"this ssh is not OpenSSH: {answer.first_words}",
            "install the OpenSSH client",
        )
    elif (int(version[1]), int(version[2])) < OLDEST:
        least = ".".join(map(str, OLDEST))
        yield _line(State.WARNING, f"{version[0]} is older than {least}", "install a newer one")
    else:
        yield _line(State.OK, version[0])
        yield from _configuration(around)


def _configuration(around: Surroundings) -> Iterator[Line]:
    # Prints what would hold for a host; no connection is made.
    answer = around.ask("ssh", "-G", "localhost", share=0.5)
    if not answer.is_good and not answer.is_late:
        yield _line(
            State.PROBLEM,
            f"ssh refuses its configuration: {answer.complaint}",
            "correct ~/.ssh/config; `ssh -G HOST` shows whether it is accepted",
        )


def agent(around: Surroundings) -> Iterator[Line]:
    """Can it be reached, and how many keys does it hold?"""
    is_in_tmux = bool(around.environment.get("TMUX"))
    if not around.environment.get("SSH_AUTH_SOCK"):
        yield _line(
            State.OK,
            "no agent: SSH_AUTH_SOCK is not set",
            "with one a cut connection comes back unasked: `eval $(ssh-agent)`, then `ssh-add`",
        )
        return
    answer = around.ask("ssh-add", "-l", share=0.9)
    if answer.is_good:
        keys = sum(1 for line in answer.output.splitlines() if line.strip())
        yield _line(State.OK, f"the agent holds {count(keys, 'key')}")
    elif answer.code == 1:
        yield _line(State.WARNING, "the agent holds no keys", "`ssh-add`")
    elif answer.is_missing:
        yield _line(State.WARNING, "no ssh-add in PATH to ask the agent", "install it")
    else:
        why = "it does not answer" if answer.is_late else "it cannot be reached"
        renew = f"{_FRESH}, or log in anew" if is_in_tmux else "log in anew, or start one"
        yield _line(State.WARNING, f"there should be an agent, but {why}", renew)


CHECKS = (
    Check(AREA, "the ssh client", client),
    Check(AREA, "the ssh agent", agent),
)
