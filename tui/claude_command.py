"""`check --claude`: the analyzers' verdict, and a second opinion whose citations were looked up."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shlex
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mltd.runs.errors import InputError, MltdError

from .complaint import UNUSABLE, complain
from .document import document
from .escaping import printable
from .headless import Judged, Judging, write_lines, write_run
from .json_output import write_json

if TYPE_CHECKING:
    from mltd.diagnosis.citations import CheckedOpinion
    from mltd.diagnosis.client.errors import ConsultError
    from mltd.diagnosis.consultation import ConsultationResult
    from mltd.diagnosis.events import Event
    from mltd.diagnosis.second_opinion import SecondOpinion
    from mltd.diagnosis.settings import ConsultSettings
    from mltd.sessions.masking import Masker

MOST_RUNS = 3
"""Each is a conversation of its own, which somebody has to agree to, pay and read."""
CANCELLED = 130


class Second(NamedTuple):
    """What came of asking about one run."""

    model: str = ""
    checked: CheckedOpinion | None = None
    result: ConsultationResult | None = None
    error: ConsultError | None = None
    is_declined: bool = False
    is_cancelled: bool = False
    masker: Masker | None = None


def run(options: argparse.Namespace) -> int:
    """Print verdict and opinion for each run; the exit code of `check`, or 2 if asking failed."""
    from mltd.diagnosis.client.access import obstacle
    from mltd.diagnosis.settings import load

    if options.follow:
        raise InputError(
            "--claude judges a run as it is now, and --follow has no end", hint="leave one out"
        )
    settings = load(
        model=options.model or "", is_disabled=options.no_claude, sources=options.source
    )
    error = obstacle(settings)
    if error is None and not options.yes:
        error = _nobody_to_ask()
    judging = Judging(options.what)
    runs = list(judging)
    if error is None and len(runs) > MOST_RUNS:
        error = _too_many(len(runs))
    if error is not None:
        complain(error)
    has_failed = error is not None
    for number, judged in enumerate(runs):
        if not options.json:
            write_run(judged.run, judged.diagnosis)
        what = options.what if len(runs) == 1 else [file.path for file in judged.run.files]
        second = Second(error=error) if error else _consult(judged, options, settings, what)
        _write(judged, second, as_json=options.json)
        has_failed = has_failed or second.error is not None
        if second.is_cancelled:
            for rest in runs[number + 1 :]:
                if not options.json:
                    write_run(rest.run, rest.diagnosis)
                _write(rest, Second(second.model, is_cancelled=True), as_json=options.json)
            return CANCELLED
    return UNUSABLE if has_failed else judging.status


def _nobody_to_ask() -> ConsultError | None:
    from .claude_consent import has_terminal, no_terminal

    return None if has_terminal() else no_terminal()


def _too_many(count: int) -> ConsultError:
    from mltd.diagnosis.client.errors import ConsultError

    return ConsultError(
        f"These are {count} runs, and Claude is asked about {MOST_RUNS} at most",
        hint="name the one that matters",
        kind="invalid",
    )


def _consult(
    judged: Judged, options: argparse.Namespace, settings: ConsultSettings, what: list[str]
) -> Second:
    from mltd.diagnosis.client.errors import ConsultError
    from mltd.diagnosis.second_opinion import SecondOpinion

    from .claude_consent import is_agreed, tell_destination
    from .claude_material import material_of
    from .claude_stream import Stream

    material, masker = material_of(judged, options.what, settings, redact=options.redact)
    opinion = SecondOpinion(material, masker, settings)
    try:
        preview = opinion.preview()
    except ConsultError as error:
        complain(error)
        return Second(opinion.model, error=error)
    if options.yes:
        tell_destination(preview)
    elif not is_agreed(preview, judged.run.name, shlex.join(what)):
        sys.stderr.write("Nothing was sent.\n")
        return Second(opinion.model, is_declined=True)
    stream = Stream()
    result = asyncio.run(_talk(opinion, stream.show))
    stream.end(result.usage)
    if result.error is not None:
        complain(result.error)
    checked, is_cancelled = None, result.is_cancelled
    if (check := opinion.checking(result)) is not None:
        try:
            check.run()
        except KeyboardInterrupt:
            is_cancelled = True
        check.stop()
        checked = check.result()
    if is_cancelled:
        complain(MltdError("cancelled; what Claude said until then is kept"))
    return Second(
        opinion.model, checked, result, result.error, is_cancelled=is_cancelled, masker=masker
    )


async def _talk(opinion: SecondOpinion, show: Callable[[Event], None]) -> ConsultationResult:
    cancel = asyncio.Event()
    loop = asyncio.get_running_loop()
    # Only the main thread has signals; elsewhere whoever called has its own way to end this.
    with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
        loop.add_signal_handler(signal.SIGINT, cancel.set)
    try:
        return await opinion.ask(show, cancel)
    finally:
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)


def _write(judged: Judged, second: Second, *, as_json: bool) -> None:
    if as_json:
        content = document(judged.run, judged.seconds, judged.diagnosis)
        write_json({**content, "claude": describe(second)})
    elif second.checked is not None:
        from mltd.diagnosis.answer.markdown import markdown

        text = markdown(second.checked, model=second.model, masker=second.masker)
        write_lines(["", *map(printable, text.splitlines())])
    elif second.result is not None and second.result.text.strip():
        # Kept, and marked as what it is: words that nobody has checked.
        said = second.result.text.strip().splitlines()
        write_lines(["", "## Claude, until it was cut short (not checked)", ""])
        write_lines(f"> {printable(line)}" for line in said)


def describe(second: Second) -> dict[str, object]:
    """The key `claude` of the run's document; always the same keys beside the diagnosis."""
    from mltd.diagnosis.citations import describe_opinion
    from mltd.diagnosis.client.plain import sendable

    result, error = second.result, second.error
    content: dict[str, object] = {
        **(describe_opinion(second.checked) if second.checked is not None else {}),
        "model": second.model or None,
        "is_checked": second.checked is not None,
        "is_declined": second.is_declined,
        "is_cancelled": second.is_cancelled,
        "text": result.text if result is not None else "",
        "usage": result.usage._asdict() if result is not None else None,
        "error": error
        and {
            "kind": error.kind,
            "message": error.sentence,
            "hint": error.hint,
            "is_temporary": error.is_temporary,
        },
    }
    # Half a character, which a stream may hold, is none that JSON can.
    clean: dict[str, object] = sendable(content)
    return clean
