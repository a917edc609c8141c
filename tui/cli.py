"""The command line: arguments in, exit code out. Heavy imports wait until they are needed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

COMMANDS = ("check", "export", "demo", "explain")


def build_parser() -> argparse.ArgumentParser:
    """All commands and options."""
    from mltd.runs import __version__

    parser = argparse.ArgumentParser(
        prog="mltd-tui",
        description="ML Training Debugger: what is wrong with a training, since when and why.",
        epilog="WHAT: a log file, a directory of one run or of many, a quoted glob, or - (stdin).",
    )
    parser.add_argument("--version", action="version", version=f"mltd-tui {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="say what is wrong with runs, why, and what to do")
    check.add_argument("what", nargs="+", metavar="WHAT")
    check.add_argument("--json", action="store_true", help="one JSON document per run and line")
    check.add_argument("--follow", action="store_true", help="go on as the logs grow")
    check.add_argument(
        "--poll", type=float, metavar="SECONDS", help="look at files this often instead of inotify"
    )
    export = commands.add_parser("export", help="write the columns of a run as a table")
    export.add_argument("what", metavar="WHAT")
    kind = export.add_mutually_exclusive_group()
    kind.add_argument("--csv", action="store_const", const="csv", dest="kind")
    kind.add_argument("--parquet", action="store_const", const="parquet", dest="kind")
    export.add_argument("-o", "--output", metavar="FILE")
    export.add_argument("--wide", action="store_true", help="one row per record, not per value")
    export.set_defaults(kind="csv")
    explain = commands.add_parser("explain", help="what a finding or root cause means")
    explain.add_argument("id", nargs="?", metavar="ID", help="its id; all are listed without one")
    explain.add_argument("--markdown", action="store_true", help="the whole catalogue as Markdown")
    commands.add_parser("demo", help="show bundled recordings of failing trainings")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 fine, 1 something found, 2 unusable input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else ""
    if first == "-" or (first and first not in COMMANDS and not first.startswith("-")):
        arguments.insert(0, "check")
    options = build_parser().parse_args(arguments)
    try:
        return _run(options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output went away; nothing is wrong, and nothing can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(options: argparse.Namespace) -> int:
    from mltd.runs.errors import MltdError
    from mltd.runs.settings import current

    from . import headless as commands

    try:
        current()
        if options.command == "demo":
            return commands.demo()
        if options.command == "explain":
            return commands.explain(options.id, as_markdown=options.markdown)
        if options.command == "export":
            return commands.export(
                options.what, kind=options.kind, output=options.output, wide=options.wide
            )
        if options.follow:
            return commands.follow(options.what, as_json=options.json, poll_seconds=options.poll)
        return commands.check(options.what, as_json=options.json)
    except MltdError as problem:
        commands.complain(problem)
        return commands.UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
