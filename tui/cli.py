"""The command line: arguments in, exit code out. Heavy imports wait until they are needed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

COMMANDS = (
    "open", "check", "inspect", "export", "demo", "explain", "report", "pack", "sessions", "doctor",
)  # fmt: skip


def build_parser() -> argparse.ArgumentParser:
    """All commands and options."""
    from mltd.runs import __version__

    parser = argparse.ArgumentParser(
        prog="mltd-tui",
        description="ML Training Debugger: what is wrong with a training, since when and why.",
        epilog="WHAT: a log file, a directory of one run or of many, a quoted glob, any of these "
        "on another host (HOST:PATH, ssh://USER@HOST:PORT/PATH), a Slurm job (job:48213, or the "
        "bare number), or - (stdin).",
    )
    parser.add_argument("--version", action="version", version=f"mltd-tui {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    opened = commands.add_parser(
        "open", help="open the app on runs; the word can be left out, and so can WHAT"
    )
    opened.add_argument("what", nargs="*", metavar="WHAT")
    _add_screen_options(opened)
    check = commands.add_parser("check", help="say what is wrong with runs, why, and what to do")
    check.add_argument("what", nargs="+", metavar="WHAT")
    check.add_argument("--json", action="store_true", help="one JSON document per run and line")
    check.add_argument("--follow", action="store_true", help="go on as the logs grow")
    _add_poll(check)
    _add_claude(check)
    _add_inspect(commands)
    export = commands.add_parser("export", help="write the columns of a run as a table")
    export.add_argument("what", metavar="WHAT")
    kind = export.add_mutually_exclusive_group()
    kind.add_argument("--csv", action="store_const", const="csv", dest="kind")
    kind.add_argument("--parquet", action="store_const", const="parquet", dest="kind")
    export.add_argument("-o", "--output", metavar="FILE")
    export.add_argument("--force", action="store_true", help="overwrite a file that is there")
    export.add_argument("--wide", action="store_true", help="one row per record, not per value")
    export.set_defaults(kind="csv")
    explain = commands.add_parser("explain", help="what a finding or root cause means")
    explain.add_argument("id", nargs="?", metavar="ID", help="its id; all are listed without one")
    explain.add_argument("--markdown", action="store_true", help="the whole catalogue as Markdown")
    _add_report(commands)
    _add_upkeep(commands)
    demo = commands.add_parser("demo", help="replay recorded failing trainings as if live")
    demo.add_argument("names", nargs="*", metavar="NAME", help="a recording; all without one")
    demo.add_argument("--speed", type=float, default=1.0, help="times the demo's own pace")
    demo.add_argument("--text", action="store_true", help="print the triage instead")
    _add_screen_options(demo)
    return parser


def _add_claude(check: argparse.ArgumentParser) -> None:
    check.add_argument(
        "--claude", action="store_true", help="also ask Claude; shows first what would be sent"
    )
    check.add_argument("--yes", action="store_true", help="with --claude: send it without asking")
    check.add_argument(
        "--redact", action="store_true", help="with --claude: hide users, hosts and paths"
    )
    check.add_argument("--model", metavar="NAME", help="with --claude: which model to ask")
    check.add_argument(
        "--no-claude", action="store_true", help="never ask Claude, whatever else is said"
    )
    _add_source(check)


def _add_inspect(commands: Commands) -> None:
    from .inspect_command import add_parser

    add_parser(commands)


def _add_source(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--source", action="append", default=[], metavar="DIR",
        help="a folder of code that Claude may read in; can be given several times",
    )  # fmt: skip


def _add_report(commands: Commands) -> None:
    report = commands.add_parser("report", help="write what is known about an incident as Markdown")
    report.add_argument(
        "name",
        metavar="SESSION",
        help="id of a session or its beginning, its title, 'last', or the log of a run",
    )
    report.add_argument("-o", "--output", metavar="FILE", help="write it there, with pictures")
    form = report.add_mutually_exclusive_group()
    form.add_argument("--brief", action="store_true", help="five lines")
    form.add_argument("--json", action="store_true", help="the diagnosis as one JSON document")
    report.add_argument("--redact", action="store_true", help="hide users, hosts and paths")
    report.add_argument("--force", action="store_true", help="overwrite a file that is there")


def _add_upkeep(commands: Commands) -> None:
    from .doctor import command as doctor
    from .pack_command import add_parser as add_pack
    from .sessions_command import add_parser

    add_pack(commands)
    add_parser(commands)
    doctor.add_parser(commands)


def _add_poll(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--poll", type=float, metavar="SECONDS", help="look at files this often instead of inotify"
    )


def _add_screen_options(command: argparse.ArgumentParser) -> None:
    _add_poll(command)
    command.add_argument("--theme", metavar="NAME", help="start in this theme")
    command.add_argument("--model", metavar="NAME", help="which model of Claude to ask")
    command.add_argument("--no-claude", action="store_true", help="never ask Claude")
    _add_source(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 fine, 1 something found, 2 unusable input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        try:
            return _run(_parse(arguments))
        finally:
            # Here, where a closed pipe is expected, and not when the interpreter ends.
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output went away, as `head` does: quietly done, like ripgrep and ruff.
        _discard_output()
        return 0


def _discard_output() -> None:
    """Send what is still buffered to nowhere, or the interpreter would fail to write it again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _parse(arguments: list[str]) -> argparse.Namespace:
    """The options; what is not understood ends with the usage of the command that was meant."""
    from .command_names import check_first_word, explain_unknown

    if not arguments or arguments[0] not in (*COMMANDS, "-h", "--help", "--version"):
        check_first_word(arguments, COMMANDS)
        arguments.insert(0, "open")
    parser = build_parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        explain_unknown(parser, options, unknown)
    return options


def _run(options: argparse.Namespace) -> int:
    # The app comes first, before anything heavy: it is what people wait for.
    if options.command in ("open", "demo") and _is_screen_wanted(options):
        from . import launch

        return launch.demo(options) if options.command == "demo" else launch.launch(options)
    return _run_headless(options)


def _is_screen_wanted(options: argparse.Namespace) -> bool:
    """A screen needs a terminal for its output; keys can come from elsewhere than a pipe."""
    return sys.stdout.isatty() and not getattr(options, "text", False)


def _run_headless(options: argparse.Namespace) -> int:
    # A thread for each of a login node's hundred cores, for sums of a few thousand numbers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from mltd.runs.errors import MltdError
    from mltd.runs.remote.mirror_root import remove_old_copies
    from mltd.runs.remote.names import allow_own_mirror

    from .complaint import UNUSABLE, complain
    from .leaving import exit_on_signals

    allow_own_mirror()
    try:
        with exit_on_signals():
            remove_old_copies()
            return _carry_out(options)
    except MltdError as problem:
        complain(problem)
        return UNUSABLE
    except BrokenPipeError:
        raise
    except (OSError, UnicodeError) as problem:
        # A disk that is full, a name that is no text: a sentence, too.
        complain(MltdError(f"{options.command} did not come to its end: {problem}"))
        _discard_output()
        return UNUSABLE


def _carry_out(options: argparse.Namespace) -> int:
    if options.command == "doctor":
        # First of all: it also says what is wrong with the settings.
        from .doctor import command

        return command.run(options)
    if options.command == "sessions":
        # Needs no run, and so nothing that reads one.
        from . import sessions_command

        return sessions_command.run(options)
    _tell_mistakes()
    if options.command == "report":
        from .report_command import report

        return report(
            options.name,
            output=options.output,
            brief=options.brief,
            as_json=options.json,
            redact=options.redact,
            force=options.force,
        )
    if options.command == "pack":
        from . import pack_command

        return pack_command.run(options)
    if options.command == "inspect":
        from . import inspect_command

        return inspect_command.run(options)
    from . import headless

    match options.command:
        case "demo":
            return headless.demo(options.names)
        case "explain":
            return headless.explain(options.id, as_markdown=options.markdown)
        case "export":
            return headless.export(
                options.what,
                kind=options.kind,
                output=options.output,
                wide=options.wide,
                force=options.force,
            )
        case "open":
            return headless.check(_named(options), as_json=False)
    if options.claude:
        from . import claude_command

        return claude_command.run(options)
    if options.yes or options.model or options.redact or options.source:
        from mltd.runs.errors import InputError

        raise InputError(
            "--yes, --model, --redact and --source say how Claude is asked", hint="add --claude"
        )
    if options.follow:
        return _follow(options)
    return headless.check(options.what, as_json=options.json)


def _follow(options: argparse.Namespace) -> int:
    from . import headless

    follow = partial(headless.follow, as_json=options.json, poll_seconds=options.poll)
    if "-" not in options.what:
        return follow(options.what)
    from .stdin_spool import StdinSpool

    with StdinSpool(takes_keys=False) as spool:
        names = [str(spool.path) if name == "-" else name for name in options.what]
        is_all = set(options.what) == {"-"}
        return follow(names, until=spool.is_over if is_all else None)


def _tell_mistakes() -> None:
    """Say what is wrong in the configuration file; `SettingsError` if it cannot be read at all."""
    from mltd.runs.config_file import read_config
    from mltd.runs.errors import SettingsError

    from .complaint import complain

    for mistake in read_config().told():
        complain(SettingsError(mistake))


def _named(options: argparse.Namespace) -> list[str]:
    """What is to be opened where there is no screen: it has to be named."""
    from mltd.runs.errors import InputError

    if not options.what:
        raise InputError(
            "there is no terminal to show the runs in", hint="try: mltd-tui check WHAT"
        )
    return list(options.what)


if __name__ == "__main__":
    sys.exit(main())
