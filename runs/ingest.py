"""From files to a run: recognise each file's format, feed its reader, collect the harvests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from .bulk import BITE, WORTH_IT, read_in_parallel
from .bulk_tables import read_table_in_parallel
from .config import read_config_file
from .discovery import Purpose, RunFiles
from .errors import FormatError, InputError, MltdError
from .events.source import source_lines
from .formats.format import Format, Reader, ReadsBeside
from .formats.registry import default_registry
from .harvest import Harvest
from .open_artifact import ANYWHERE, NotAFile
from .remote.names import is_mirrored
from .run import Artifact, Run, SourceFile
from .settings import current
from .sources.inputs import InputStream, Utf8Transcoder, open_bytes, refusal
from .sources.looks import shown
from .surroundings import Surroundings
from .thinning import MOST_COLUMN_BYTES, thin_if_larger

HEAD = 64 << 10
ENOUGH_TO_RECOGNISE = 4096
"""A growing file is judged when it has this many bytes, or two lines, or pauses."""
_TEXT_FORMATS = frozenset({"text", "jsonl"})


class FileFeed:
    """One file of a run: bytes go in, the run grows."""

    def __init__(self, run: Run, path: str, root: str = ANYWHERE) -> None:
        self.run = run
        self.path = path
        self.number = run.add_file(SourceFile(path, root=root))
        self._format: Format | None = None
        self._reader: Reader | None = None
        self._waiting = b""
        self._begins_anew = False
        self._has_gap = False

    @property
    def source(self) -> SourceFile:
        """The run's record of this file."""
        return self.run.files[self.number]

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Take the next bytes; with `final`, everything that is left is read."""
        self._waiting += data
        if data:
            self.source.ends_open = not data.endswith(b"\n")
        if self._reader is None:
            if not final or self._waiting.strip(b"\0"):
                self._skip_hole()
            if not self._recognise(final=final):
                return
        assert self._reader is not None
        while True:
            harvest = self._harvest(final=final)
            self.take(harvest)
            self._waiting = self._waiting[harvest.consumed :]
            if not harvest.consumed or not self._waiting or not final:
                return

    def _skip_hole(self) -> None:
        """Leave out NULs at the beginning: a log that was cut while its writer went on has them."""
        text = self._waiting.lstrip(b"\0")
        self.source.bytes += len(self._waiting) - len(text)
        self._waiting = text

    def _harvest(self, *, final: bool) -> Harvest:
        assert self._reader is not None
        try:
            return self._reader.feed(self._waiting, final=final)
        except MltdError:
            raise
        except Exception as problem:
            if self._format is None or type(self._format).__module__.startswith("mltd."):
                raise
            # Somebody else's reader: its fault is a sentence, not our crash.
            raise FormatError(
                f"format {self._format.name!r} cannot read {self.path}: "
                f"{type(problem).__name__}: {problem}",
                hint="tell whoever made it, or uninstall it",
            ) from problem

    def take(self, harvest: Harvest) -> None:
        """Let the run grow by a harvest of this file."""
        if self._begins_anew and harvest.consumed:
            self._begins_anew = False
            # Lightning writes its CSV again, from the first row on, for every new column.
            is_same_again = self.source.format == "csv" and self.run.repeats(self.number, harvest)
            self.run.start_generation(self.number, replaces=is_same_again)
            # What came before is all there again.
            self.source.gaps -= is_same_again and self._has_gap
            self._has_gap = False
        for event in harvest.events:
            if event.frames:
                event.source = source_lines(event, [os.path.dirname(os.path.abspath(self.path))])
        self.run.append(self.number, harvest)

    def settle(self, *, with_tail: bool = False) -> bool:
        """Read what was held back in the hope of more; true if there was anything.

        With `tail` also a last line that nobody ended: for logs that will not grow any more.
        """
        before = self.source.bytes
        if with_tail and self._reader is not None and self.source.format in _TEXT_FORMATS:
            if self._waiting:
                self.feed(b"", final=True)
            return self.source.bytes > before
        if self._reader is None:
            if self._waiting and self._recognise(final=True):
                self.feed(b"")
        elif self.source.format in _TEXT_FORMATS and b"\n" in self._waiting:
            # Complete lines wait only if a traceback or a dump seemed to go on.
            end = self._waiting.rfind(b"\n") + 1
            complete, unfinished = self._waiting[:end], self._waiting[end:]
            self._waiting = b""
            self.feed(complete, final=True)
            self._waiting += unfinished
        return self.source.bytes > before

    def restart(self) -> None:
        """The file begins anew; what that means is seen from its first records."""
        self._reader = None
        self._waiting = b""
        self._begins_anew = True

    def mark_gap(self) -> None:
        """Lines may be missing between what was read and what comes next."""
        self._has_gap = not self.source.is_snapshot
        self.source.gaps += self._has_gap

    def recognise(self, head: bytes) -> Format | None:
        """The format of a file that starts like this."""
        found = default_registry().open(head, self.path)
        if found is None:
            return None
        self._format, self._reader = found
        if isinstance(self._reader, ReadsBeside) and self.source.root != ANYWHERE:
            self._reader.root = self.source.root
        self.source.format = self._format.name
        self.source.is_snapshot = self._format.is_snapshot
        return self._format

    def _recognise(self, *, final: bool) -> bool:
        if (
            not final
            and len(self._waiting) < ENOUGH_TO_RECOGNISE
            and self._waiting.count(b"\n") < 2
        ):
            return False
        if not self._waiting:
            self.source.format = "empty"
            return False
        if self.recognise(self._waiting[:HEAD]) is None:
            raise InputError(
                f"{self.path} is binary data in no format that is known here",
                hint="give the text log, CSV, JSON, TensorBoard, W&B or MLflow file of the run",
            )
        return True


@dataclass(slots=True)
class Loaded:
    """A run, and what could not be read of it."""

    run: Run
    problems: list[MltdError] = field(default_factory=list)


def new_run(files: RunFiles) -> Loaded:
    """A run with its configuration and artifacts, its logs not read yet."""
    loaded = Loaded(Run(files.name, current().roles))
    loaded.run.job = files.job
    loaded.run.surroundings = Surroundings.of(files)
    for file in files.files:
        if file.purpose in LOG_PURPOSES:
            continue
        problem = ""
        if file.purpose is Purpose.CONFIG:
            try:
                loaded.run.add_config(read_config_file(file.path, file.root))
            except MltdError as error:
                loaded.problems.append(error)
                problem = error.message
        loaded.run.artifacts.append(Artifact(file.purpose.value, file.path, file.root, problem))
    return loaded


LOG_PURPOSES = (Purpose.LOG, Purpose.METRICS)


def bring_here(files: RunFiles) -> None:
    """Have whole copies of the logs that are on another host."""
    if any(is_mirrored(path) for path in files.paths(*LOG_PURPOSES)):
        from .remote.links import links

        links().bring(files)


def load(files: RunFiles, *, max_column_bytes: int | None = MOST_COLUMN_BYTES) -> Loaded:
    """Read all the files of a run once, from beginning to end.

    Columns beyond `max_column_bytes` are thinned; with None every point is kept.
    """
    bring_here(files)
    loaded = new_run(files)
    for file in files.files:
        if file.purpose not in LOG_PURPOSES:
            continue
        try:
            read_file(loaded.run, file.path, file.root, max_column_bytes=max_column_bytes)
        except MltdError as problem:
            loaded.problems.append(problem)
    if not loaded.run.files and loaded.problems:
        raise loaded.problems[0]
    return loaded


def read_file(
    run: Run,
    path: str,
    root: str = ANYWHERE,
    *,
    max_column_bytes: int | None = MOST_COLUMN_BYTES,
) -> FileFeed:
    """Read one file into a run."""
    with open_bytes(path, root) as stream:
        feed = FileFeed(run, path, root)
        try:
            if not stream.compression and (form := _format_for_workers(stream, path)):
                for harvest in _harvests_of_workers(feed, stream, form):
                    feed.take(harvest)
                    _bound(run, max_column_bytes)
            else:
                for chunk, final in _chunks(stream):
                    feed.feed(chunk, final=final)
                    _bound(run, max_column_bytes)
        except MltdError:
            run.drop_last_file()
            raise
        except NotAFile as error:
            # Swapped since it was opened, and noticed by a worker that opened it again.
            problem = refusal(shown(path), error)
            feed.source.note = problem.message
            raise problem from None
        feed.source.note = "; ".join(stream.notes)
        return feed


def read_stream(
    run: Run,
    name: str,
    chunks: Iterator[bytes],
    *,
    max_column_bytes: int | None = MOST_COLUMN_BYTES,
) -> FileFeed:
    """Read bytes that come from somewhere else, such as standard input."""
    feed = FileFeed(run, name)
    transcoder = Utf8Transcoder()
    for chunk in chunks:
        feed.feed(transcoder.feed(chunk))
        _bound(run, max_column_bytes)
    feed.feed(transcoder.feed(b"", final=True), final=True)
    return feed


def _chunks(stream: object) -> Iterator[tuple[bytes, bool]]:
    transcoder = Utf8Transcoder()
    while True:
        data = stream.read(BITE)  # type: ignore[attr-defined]
        yield transcoder.feed(data, final=not data), not data
        if not data:
            return


def _format_for_workers(stream: InputStream, path: str) -> str:
    """The format of a file that several processes can read faster than one; else nothing."""
    if os.fstat(stream.fileno()).st_size < WORTH_IT:
        return ""
    head = os.pread(stream.fileno(), HEAD, 0)
    if Utf8Transcoder().feed(head, final=True) != head:
        return ""
    form = default_registry().recognise(head, path)
    return form.name if form is not None and form.name in (*_TEXT_FORMATS, "csv") else ""


def _harvests_of_workers(feed: FileFeed, stream: InputStream, form: str) -> Iterator[Harvest]:
    size = os.fstat(stream.fileno()).st_size
    feed.recognise(os.pread(stream.fileno(), HEAD, 0))
    if form == "csv":
        return read_table_in_parallel(feed.path, size, root=feed.source.root)
    return read_in_parallel(feed.path, size, root=feed.source.root)


def _bound(run: Run, max_column_bytes: int | None) -> None:
    if max_column_bytes is not None:
        thin_if_larger(run, max_column_bytes)
