"""From the command line to the app: everything that happens before the screen is taken."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from mltd.runs.errors import InputError, MltdError

from .bridge import Bridge, begin, start_idle
from .engine.protocol import Open
from .escaping import printable
from .leaving import SIGNALS, exit_on_signals
from .terminal import own_environment, terminal_of

if TYPE_CHECKING:
    from .app import Wanted
    from .replay import Replay

UNUSABLE = 2
MOST_RECENT = 20


def launch(options: argparse.Namespace) -> int:
    """Open the app on what was named, or on the picker."""
    names = list(options.what)
    with exit_on_signals(), ExitStack() as stack:
        try:
            _check_poll(options.poll)
            if "-" in names:
                from .stdin_spool import StdinSpool

                spooled = str(stack.enter_context(StdinSpool()).path)
                names = [spooled if name == "-" else name for name in names]
            engine = None
            if any(":" in name for name in names):
                from .remote_start import connected

                engine = stack.enter_context(connected(names))
            return _run(options, tuple(names), engine=engine)
        except MltdError as problem:
            _complain(str(problem))
            return UNUSABLE


def demo(options: argparse.Namespace) -> int:
    """Open the app on recordings that are being replayed."""
    from .replay import Replay

    try:
        _check_poll(options.poll)
        with exit_on_signals(), Replay(options.names or None, speed=options.speed) as replay:
            return _run(options, (str(replay.directory),), replay)
    except MltdError as problem:
        _complain(str(problem))
        return UNUSABLE


def _run(
    options: argparse.Namespace,
    names: tuple[str, ...],
    replay: Replay | None = None,
    engine: subprocess.Popen[bytes] | None = None,
) -> int:
    # Nothing that is made during the start is garbage; looking for some would take a third of it.
    gc.disable()
    # Recordings have nothing to do with what the user has running.
    wish = Open(
        names or _neighbourhood(), options.poll, is_survey=not names, has_jobs=replay is None
    )
    # Both processes import what they need at the same time, each on a core of its own.
    engine = engine or start_idle()
    begin(engine, wish)
    # Textual looks at COLORTERM alone, which ssh does not pass on.
    colours = terminal_of(own_environment()).colour_system
    os.environ.setdefault("TEXTUAL_COLOR_SYSTEM", colours)
    # `eval $(resize)` in a profile exports these, and then no resize would ever be noticed.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    # The thread that reads the log gives up the interpreter at each system call, and would
    # wait five milliseconds for it each time.
    sys.setswitchinterval(0.001)
    try:
        from .app import MltdApp

        app = MltdApp(wanted(options, wish), Bridge(wish, engine), replay=replay)
        for number in SIGNALS:
            # Until the app can leave in good order it must not be killed in the middle.
            signal.signal(number, app.note_signal)
        app.run()
    finally:
        engine.kill()
        engine.wait()
    for problem in app.problems:
        _complain(problem)
    for sentence in app.farewells if replay is None else ():
        sys.stdout.write(f"{printable(sentence)}\n")
    return app.return_code or 0


def wanted(options: argparse.Namespace, wish: Open) -> Wanted:
    """What the command line and the configuration file ask of the app."""
    from .app import Wanted
    from .settings import load

    return Wanted(
        wish,
        options.theme,
        load(),
        model=options.model or "",
        is_claude_off=options.no_claude,
        sources=tuple(map(_folder, options.source)),
    )


def _folder(name: str) -> str:
    folder = os.path.abspath(os.path.expanduser(name))
    if not os.path.isdir(folder):
        raise InputError(f"--source: there is no folder {folder}", hint="name one of code")
    return folder


def _neighbourhood() -> tuple[str, ...]:
    """Where runs are looked for if none is named: here, and those opened lately elsewhere."""
    from .recent import RecentRuns

    here = os.getcwd()
    return (here, *RecentRuns().elsewhere(here)[:MOST_RECENT])


def _check_poll(seconds: float | None) -> None:
    if seconds is not None and not 0 < seconds <= 3600:
        raise InputError(f"{seconds:g} s is no polling interval", hint="give up to 3600 seconds")


def _complain(problem: str) -> None:
    sys.stderr.write(f"mltd-tui: {printable(problem)}\n")
