"""The commands without a screen: `check`, `export`, `demo`, `explain`."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from mltd.runs.discovery import RunFile, RunFiles, discover, explore, split_settings
from mltd.runs.errors import InputError, LeadsOutError, MltdError
from mltd.runs.ingest import Loaded, bring_here, load, read_stream
from mltd.runs.remote.names import is_mirrored
from mltd.runs.run import Run
from mltd.runs.schedulers.attaching import attach, refused_runs
from mltd.runs.thinning import MOST_COLUMN_BYTES

from .complaint import UNUSABLE, complain
from .document import document
from .escaping import printable
from .json_output import write_json
from .plain_text import WIDE, render_run

if TYPE_CHECKING:
    from mltd.analyzers.core.finding import Finding
    from mltd.analyzers.diagnosis import Diagnosis, Diagnostician
    from mltd.runs.live import LiveRun

ALARM = 1
"""Exit code when something at or above a warning was found."""
_UPDATES_PER_SECOND = 4.0
_ASK_AGAIN = 30.0
"""Seconds after which the scheduler may have something new to say."""
_LEAST_SHARE = 4 << 20
"""Bytes of columns that each of very many runs may keep; all are held until they are compared."""


def _note(sentence: str) -> None:
    sys.stderr.write(f"mltd-tui: note: {printable(sentence)}\n")


def find_runs(
    names: Iterable[str], settings: Sequence[RunFile] = ()
) -> tuple[list[RunFiles], list[MltdError]]:
    """The runs behind the names a user gave, and what was wrong with some of them.

    Every run gets the files of settings that were named with it, here or in `settings`.
    """
    found: list[RunFiles] = []
    problems: list[MltdError] = []
    names, named = split_settings(names)
    settings = [*settings, *named]
    for name in names:
        try:
            discovery = explore(name)
        except MltdError as problem:
            problems.append(problem)
            continue
        for run in discovery.runs if settings else ():
            run.add_named(settings)
        found.extend(run for run in discovery.runs if run not in found)
        for note in discovery.notes:
            _note(note)
    attach(found)
    return found, problems


def check(names: list[str], *, as_json: bool) -> int:
    """Read the runs once and print what is wrong with them and what is in them."""
    judging = Judging(names)
    for judged in judging:
        if as_json:
            write_json(document(judged.run, judged.seconds, judged.diagnosis))
        else:
            write_run(judged.run, judged.diagnosis)
    return judging.status


class Judged(NamedTuple):
    """A run that was read once, and what is wrong with it."""

    run: Run
    diagnosis: Diagnosis
    seconds: float
    problems: tuple[MltdError, ...] = ()
    """What could not be read of it."""


class Judging:
    """Reads and judges runs one by one, and complains about what cannot be read."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self.status = 0
        """The exit code that the runs judged so far come to."""

    def __iter__(self) -> Iterator[Judged]:
        """Each run with its diagnosis; those that cannot be used are left out."""
        from mltd.analyzers.diagnosis import diagnose

        told: set[str] = set()
        for loaded, siblings, seconds in _with_siblings(_load_all(self._names)):
            if isinstance(loaded, MltdError):
                complain(loaded)
                self.status = UNUSABLE
                continue
            for problem in loaded.problems:
                complain(problem)
                if not isinstance(problem, LeadsOutError):
                    self.status = UNUSABLE
            start = time.perf_counter()
            diagnosis = diagnose(loaded.run, siblings)
            seconds += time.perf_counter() - start
            _tell_once(diagnosis.problems, told)
            if diagnosis.has_alarm:
                self.status = self.status or ALARM
            yield Judged(loaded.run, diagnosis, seconds, tuple(loaded.problems))


def _with_siblings(
    loads: Iterator[tuple[Loaded | MltdError, float]],
) -> Iterator[tuple[Loaded | MltdError, tuple[Finding, ...], float]]:
    """Each run with what the comparison with the others found; a lone run need not wait."""
    first = next(loads, None)
    second = next(loads, None)
    if first is not None and second is None:
        yield first[0], (), first[1]
    if first is None or second is None:
        return
    everything = [first, second, *loads]
    runs = [loaded.run for loaded, _ in everything if isinstance(loaded, Loaded)]
    found = _compare(runs)
    for loaded, seconds in everything:
        own = found.get(loaded.run.name, ()) if isinstance(loaded, Loaded) else ()
        yield loaded, own, seconds


def _compare(runs: list[Run]) -> Mapping[str, tuple[Finding, ...]]:
    """Findings that only several runs together show, by the run's name."""
    if len(runs) < 2:
        return {}
    try:
        from mltd.analyzers.reproducibility.sweep import compare

        return compare(runs)
    except Exception as problem:  # noqa: BLE001 - each run can still be judged alone
        _note(f"the runs can't be compared: {type(problem).__name__}: {problem}")
        return {}


def _load_all(names: list[str]) -> Iterator[tuple[Loaded | MltdError, float]]:
    names, settings = split_settings(names)
    for name in names:
        if name == "-":
            start = time.perf_counter()
            try:
                yield Loaded(_run_of_standard_input()), time.perf_counter() - start
            except MltdError as problem:
                yield problem, 0.0
            continue
        found, problems = find_runs([name], settings)
        stuck = [files for problem in problems for files in refused_runs(problem)]
        yield from ((complaint, 0.0) for complaint in problems if not stuck)
        share = MOST_COLUMN_BYTES // max(1, len(names), len(found))
        for files in (*found, *stuck):
            start = time.perf_counter()
            try:
                loaded = load(files, max_column_bytes=max(_LEAST_SHARE, share))
                yield loaded, time.perf_counter() - start
            except MltdError as problem:
                yield problem, 0.0


def _run_of_standard_input(max_column_bytes: int | None = MOST_COLUMN_BYTES) -> Run:
    run = Run("standard input")
    read_stream(run, "-", _standard_input(), max_column_bytes=max_column_bytes)
    return run


def _standard_input() -> Iterator[bytes]:
    while data := os.read(sys.stdin.fileno(), 1 << 20):
        yield data


def follow(
    names: list[str],
    *,
    as_json: bool,
    poll_seconds: float | None,
    until: Callable[[], bool] | None = None,
) -> int:
    """Print the runs again whenever they grow, until interrupted or until all is there."""
    from mltd.runs.live import LiveRun
    from mltd.runs.live import follow as watch

    found, problems = find_runs(names)
    for problem in problems:
        complain(problem)
    if not found:
        return UNUSABLE
    for files in found:
        bring_here(files)
    if any(is_mirrored(files.root) for files in found):
        from .link_notes import LinkNotes

        LinkNotes(_note)
    followed = {id(run): _FollowedRun(run) for run in map(LiveRun, found)}
    live = [each.live for each in followed.values()]
    complained = 0
    asked = time.monotonic()
    told: set[str] = set()
    try:
        for changed in watch(live, poll_seconds, report=_note, until=until):
            start = time.monotonic()
            if start - asked > _ASK_AGAIN:
                asked = start
                attach(found, again=True)
                for files, one in zip(found, live, strict=True):
                    one.loaded.run.job = files.job
            for run in changed:
                _tell_once(followed[id(run)].show(as_json=as_json), told)
            fresh = [problem for run in live for problem in run.loaded.problems]
            for problem in fresh[complained:]:
                complain(problem)
            complained = len(fresh)
            # Bursts of writes are one piece of news.
            time.sleep(max(0.0, 1 / _UPDATES_PER_SECOND - (time.monotonic() - start)))
    except KeyboardInterrupt:
        return 0
    finally:
        for run in live:
            run.close()
    return 0


class _FollowedRun:
    """A run that grows, diagnosed anew at each update from its new points alone."""

    def __init__(self, live: LiveRun) -> None:
        self.live = live
        self._diagnostician: Diagnostician | None = None
        self._thinnings = 0
        self._before: tuple[Finding, ...] = ()

    def show(self, *, as_json: bool) -> tuple[str, ...]:
        """Print the run as it is now, and what is no longer found; the analyzers' problems."""
        from mltd.analyzers.describing import describe_finding
        from mltd.analyzers.diagnosis import Diagnostician

        start = time.perf_counter()
        run = self.live.loaded.run
        if self._diagnostician is None or run.thinnings != self._thinnings:
            # It refers to rows by number, and thinning renumbers them.
            self._thinnings = run.thinnings
            self._diagnostician = Diagnostician(run)
        diagnosis = self._diagnostician.diagnose()
        withdrawn = withdrawn_alarms(self._before, diagnosis.findings)
        self._before = diagnosis.findings
        if as_json:
            content = document(run, time.perf_counter() - start, diagnosis)
            content["withdrawn"] = [describe_finding(finding) for finding in withdrawn]
            write_json(content)
        else:
            write_run(run, diagnosis)
            for finding in withdrawn:
                write_lines([f"  withdrawn: {finding.id}: {printable(finding.title)}"])
        return diagnosis.problems


def withdrawn_alarms(before: Iterable[Finding], now: Iterable[Finding]) -> list[Finding]:
    """Alarms that were raised earlier and are not upheld; one that moved counts as upheld."""
    alarms = [finding for finding in now if finding.is_alarm]
    kept = {(finding.id, finding.first_step) for finding in alarms}
    counts = Counter(finding.id for finding in alarms)
    gone: list[Finding] = []
    earlier = [finding for finding in before if finding.is_alarm]
    missing = Counter(finding.id for finding in earlier) - counts
    for finding in earlier:
        if (finding.id, finding.first_step) not in kept and missing[finding.id] > 0:
            missing[finding.id] -= 1
            gone.append(finding)
    return gone


def export(name: str, *, kind: str, output: str | None, wide: bool, force: bool) -> int:
    """Write the columns of one run as CSV or Parquet."""
    from mltd.runs.export import check_parquet, write_csv, write_parquet

    from .output_file import write_output

    found = discover(name) if name != "-" else []
    if len(found) > 1:
        raise InputError(
            f"{name} holds {len(found)} runs",
            hint="name one of them: " + ", ".join(str(run.root) for run in found[:3]),
        )
    is_file = output not in (None, "-")
    if kind == "parquet":
        check_parquet()
        if not is_file:
            raise InputError("Parquet is binary", hint="say where to write it: -o FILE")
    if is_file:
        from mltd.sessions.report import check_target

        check_target(str(output), force)
    every_point = None
    if found:
        run = load(found[0], max_column_bytes=every_point).run
    else:
        run = _run_of_standard_input(every_point)
    write = partial(write_parquet if kind == "parquet" else write_csv, run, wide=wide)
    if is_file:
        write_output(str(output), write, force=force, evidence=[file.path for file in run.files])
    else:
        write(sys.stdout.buffer)
    return 0


def demo(names: Sequence[str] = ()) -> int:
    """Print the triage of bundled recordings, of all unless some are named, with the truth."""
    from mltd.analyzers.diagnosis import diagnose

    from . import recordings

    chosen = [recordings.load(name) for name in dict.fromkeys(names or recordings.names())]
    write_lines(["Recordings of real small trainings, as `mltd-tui check` reads them."])
    for recording in chosen:
        own = {str(file.path) for file in recording.files}
        (files,) = discover(str(recordings.HERE / recording.name))
        kept = [file for file in files.files if file.path in own]
        loaded = load(RunFiles(recording.title, files.root, kept))
        loaded.run.is_over = True
        write_lines([""])
        write_run(loaded.run, diagnose(loaded.run))
        told = f"what was really done: {recording.truth}"
        if recording.causes:
            told += f" Right answers: {' or '.join(recording.causes)}."
        write_lines(
            textwrap.wrap(told, _columns() or WIDE, initial_indent="  ", subsequent_indent="  ")
        )
    return 0


def explain(identity: str | None, *, as_markdown: bool = False) -> int:
    """Print a page of the catalogue, or the list of all."""
    from mltd.analyzers.catalogue.catalogue import pages, similar

    from .catalogue_text import render_index, render_page

    if as_markdown:
        from mltd.analyzers.catalogue.markdown import render_catalogue

        write_lines(render_catalogue().splitlines())
        return 0
    columns = min(_columns() or WIDE, WIDE)
    if identity is None:
        write_lines(render_index(columns))
        return 0
    found = pages(identity)
    if not found:
        close = similar(identity)
        hint = f"did you mean {' or '.join(close)}?" if close else "mltd-tui explain lists all"
        raise InputError(f"there is no finding or root cause called {identity!r}", hint=hint)
    for number, entry in enumerate(found):
        write_lines([""] if number else [])
        write_lines(render_page(entry, columns))
    return 0


def write_run(run: Run, diagnosis: Diagnosis) -> None:
    """A run and its diagnosis as text on stdout."""
    write_lines(render_run(run, diagnosis, unicode=_is_unicode(), columns=_columns()))


def _tell_once(problems: Iterable[str], told: set[str]) -> None:
    """Say on stderr what failed in the analysis, each thing once."""
    for problem in problems:
        if problem not in told:
            told.add(problem)
            _note(problem)


def write_lines(lines: Iterable[str]) -> None:
    """Lines on stdout, whatever it can encode."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        sys.stdout.write(line.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stdout.flush()


def _columns() -> int:
    """Width of the terminal, 0 if the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def _is_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
