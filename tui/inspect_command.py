"""The command `inspect`: what is in a checkpoint, what is wrong with it, what moved between two."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mltd.analyzers.memory import MemoryAccount
    from mltd.analyzers.weights import Inspection
    from mltd.runs.run import Run

    from .inspect.target import Target

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

ALARM = 1
"""Exit code when something at or above a warning was found."""


def add_parser(commands: Commands) -> None:
    """The options of the command."""
    inspect = commands.add_parser(
        "inspect", help="look into a checkpoint: modules, balance, broken weights, memory"
    )
    inspect.add_argument(
        "checkpoint", metavar="CKPT", help="a file, a folder, or a run's folder; or HOST:PATH"
    )
    inspect.add_argument("other", nargs="?", metavar="CKPT2", help="a later one: what moved?")
    inspect.add_argument("--json", action="store_true", help="one JSON document")
    inspect.add_argument("--tensors", action="store_true", help="list every tensor, too")
    inspect.add_argument(
        "--depth", type=int, metavar="N", help="levels of the tree of modules (3 without this)"
    )
    inspect.add_argument(
        "--no-values", action="store_true", help="read names and shapes alone: fast, says less"
    )
    inspect.add_argument(
        "--fetch", action="store_true", help="copy one of another host here without asking"
    )
    inspect.add_argument(
        "--run", metavar="WHAT", help="the log or folder of the training: settings, steps, device"
    )


def run(options: argparse.Namespace) -> int:
    """Print what is found; 0 nothing to worry about, 1 something, 2 unusable."""
    from mltd.runs.errors import MltdError

    try:
        return _run(options)
    except MltdError as problem:
        if options.json:
            from .inspect.document import unusable
            from .json_output import write_json

            write_json(unusable(options.checkpoint, problem))
        raise


def _run(options: argparse.Namespace) -> int:
    from mltd.runs.errors import InputError

    from .inspect.fetching import brought

    if options.no_values and options.other:
        raise InputError(
            "two checkpoints are compared by their values", hint="leave --no-values out"
        )
    if options.depth is not None and options.depth < 1:
        raise InputError(f"a tree of {options.depth} levels is none", hint="--depth 1 or more")
    names = [options.checkpoint, *([options.other] if options.other else [])]
    needs_values = not options.no_values
    with brought(names, may_fetch=options.fetch, needs_values=needs_values) as targets:
        return _inspect(targets[0], targets[-1], options)


def _inspect(first: Target, target: Target, options: argparse.Namespace) -> int:
    from mltd.analyzers.weights import inspect_weights

    from .inspect.memory_text import account_of
    from .inspect.reading import compare, read

    summary = read(target, needs_values=not options.no_values)
    summary = replace(summary, notes=(*summary.notes, *target.notes))
    comparison = compare(first, target) if options.other else None
    training = _training(options.run, target)
    found = inspect_weights(summary, comparison, training)
    account = account_of(summary, training)
    if options.json:
        from .inspect.document import document
        from .json_output import write_json

        depth = options.depth or 99
        write_json(document(found, account, target, depth=depth, has_tensors=options.tensors))
    else:
        _print(found, account, target, options)
    for problem in found.problems:
        _note(problem)
    return ALARM if found.has_alarm else 0


def _print(
    found: Inspection, account: MemoryAccount | None, target: Target, options: argparse.Namespace
) -> None:
    from .headless import write_lines
    from .inspect.layout import terminal_layout
    from .inspect.modules_text import DEPTH
    from .inspect.page import page

    depth = options.depth or DEPTH
    layout = terminal_layout()
    write_lines(page(found, account, target, layout, depth=depth, has_tensors=options.tensors))


def _training(name: str | None, target: Target) -> Run | None:
    """The run that was named, or the only one in the run's folder that was."""
    from mltd.runs.discovery import explore
    from mltd.runs.errors import InputError, MltdError
    from mltd.runs.ingest import load

    if name is not None:
        runs = explore(name).runs
        if len(runs) != 1:
            raise InputError(f"{name} holds {len(runs)} runs", hint="name the log of one of them")
        return load(runs[0]).run
    if not target.folder:
        return None
    try:
        runs = explore(target.folder).runs
        return load(runs[0]).run if len(runs) == 1 else None
    except MltdError:
        return None


def _note(sentence: str) -> None:
    import sys

    from .escaping import printable

    sys.stderr.write(f"mltd-tui: note: {printable(sentence)}\n")
