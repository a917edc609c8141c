"""Hosts that were named on the command line, connected while ssh can still ask its questions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from mltd.runs.errors import MltdError
from mltd.runs.remote.address import Host, parse_address
from mltd.runs.remote.connection import Connection
from mltd.runs.remote.mirror_root import MirrorRoot

from .bridge import start_idle
from .complaint import complain
from .escaping import printable


@contextmanager
def connected(names: Sequence[str]) -> Iterator[subprocess.Popen[bytes] | None]:
    """Log in to every host that is named; raise only if none lets us in.

    Gives an engine that got ready meanwhile; None if no host is named.
    """
    hosts = hosts_of(names)
    if not hosts:
        yield None
        return
    with ExitStack() as stack:
        stack.enter_context(MirrorRoot())
        engine = start_idle()
        stack.callback(end, engine)
        problems: list[MltdError] = []
        for host in hosts:
            connection = Connection(host)
            stack.callback(connection.close)
            problem = _log_in(connection, host)
            if problem is not None:
                problems.append(problem)
        is_hopeless = len(problems) == len(hosts) and all(map(_is_remote, names))
        for problem in problems[:-1] if is_hopeless else problems:
            complain(problem)
        if is_hopeless:
            raise problems[-1]
        yield engine


def end(engine: subprocess.Popen[bytes]) -> None:
    """End an engine; it has nothing to save."""
    engine.kill()
    engine.wait()
    for pipe in (engine.stdin, engine.stdout):
        if pipe is not None:
            pipe.close()


def hosts_of(names: Sequence[str]) -> list[Host]:
    """The hosts behind names, each once."""
    addresses = (parse_address(name) for name in names if ":" in name)
    return list(dict.fromkeys(address.host for address in addresses if address is not None))


def _is_remote(name: str) -> bool:
    return ":" in name and parse_address(name) is not None


def _log_in(connection: Connection, host: Host) -> MltdError | None:
    sys.stderr.write(f"connecting to {printable(host.label)}\n")
    try:
        connection.open(interactive=True)
    except MltdError as problem:
        return problem
    return None
