"""One run that the engine follows: read in bites, judged now and then, told about briefly."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.diagnosis import Diagnostician
from mltd.runs.discovery import RunFiles
from mltd.runs.live import LiveRun
from mltd.runs.remote.names import is_mirrored
from mltd.runs.run import Run, SourceFile
from mltd.runs.sources.pieces import FollowState
from mltd.runs.summary import EMPTY_SO_FAR, interval_of, run_state
from mltd.runs.thinning import thin_if_larger

from .pace import Pace
from .preview import preview
from .protocol import LogFile, RunStatus
from .remote_files import RemoteFiles
from .rows import health

if TYPE_CHECKING:
    from mltd.runs.schedulers.job import Job

BITE = 1 << 20
"""Bytes read between two looks at what the screen wants: some 10 ms of work."""
MOST_COLUMN_BYTES = 24 << 20
"""Columns beyond this are thinned: the whole app is to fit into 300 MiB whatever it opens."""
_OVER_AFTER = 10.0
"""Seconds without growth after which a line without an end will not get one."""
_PREVIEW_EVERY = 2.0
"""Seconds between two readings of the end of a log whose beginning is still being copied."""
_OLD_ENOUGH = 5.0
"""Seconds without growth after which a log is taken as it stands."""


class FollowedRun:
    """A run, its verdict, and how far it has been read."""

    def __init__(self, number: int, files: RunFiles, remote: RemoteFiles | None = None) -> None:
        self.number = number
        self.files = files
        self.live = LiveRun(files)
        self._remote = remote
        self.diagnosis: Diagnosis | None = None
        self.is_complete = False
        """Everything that was there when it was opened has been read."""
        self.has_news = True
        """Something was read since the last verdict."""
        self.reports: list[str] = []
        """Sentences that have not been told yet."""
        self._reported: set[str] = set()
        """Sentences about verdicts that have been told or are about to be."""
        self._is_awaited = not self._has_arrived()
        """Files on another host are being copied; only their ends are here."""
        self._pending: set[Path] = set() if self._is_awaited else set(self.live.paths)
        self._pace = Pace()
        self._preview = self._make_preview()
        self._next_preview = 0.0
        self._diagnostician: Diagnostician | None = None
        self._thinnings = 0
        self._waiting_since: float | None = None
        self._told_problems = 0
        self._sizes: dict[Path, int] = {}

    @property
    def run(self) -> Run:
        """The columns that there are: those of the end while a big log is being read."""
        return self._preview if self._preview is not None else self.live.loaded.run

    @property
    def is_preview(self) -> bool:
        """True while only the end of a big log can be shown."""
        return self._preview is not None

    # -- reading --------------------------------------------------------------------------

    def changed(self, paths: set[Path], now: float) -> bool:
        """These files may have grown; true if there is something else to show already."""
        is_news = False
        mine = paths & set(self.live.paths)
        if mine and self._is_awaited:
            mine = self._arrive() if self._has_arrived() else set()
            if not mine and (self._preview is None or now >= self._next_preview):
                self._preview = self._make_preview()
                self._next_preview = now + _PREVIEW_EVERY
                is_news = True
        if mine:
            self._pending |= mine
            if self._waiting_since is None:
                self._waiting_since = now
        return is_news

    def _has_arrived(self) -> bool:
        remote = self._remote
        return remote is None or all(remote.is_whole(str(path)) for path in self.live.paths)

    def _arrive(self) -> set[Path]:
        """All files are here from their first byte on: now they can be read like any others."""
        self._is_awaited = False
        self.live.close()
        self.live = LiveRun(self.files)
        return set(self.live.paths)

    def _make_preview(self) -> Run | None:
        heads = {}
        if self._remote is not None and self._is_awaited:
            heads = {str(path): self._remote.head(str(path)) for path in self.live.paths}
        return preview(
            self.live.loaded.run, self.files, [str(path) for path in self.live.paths], heads
        )

    @property
    def is_remote(self) -> bool:
        """True if the files are copies of those on another host."""
        return self._remote is not None and any(map(is_mirrored, self.live.paths))

    @property
    def is_awaited(self) -> bool:
        """True while not even the files are here."""
        return self._is_awaited

    @property
    def has_work(self) -> bool:
        """True if there is something to read."""
        return bool(self._pending)

    def read_some(self, now: float) -> bool:
        """Read one bite; true if the run grew."""
        path = min(self._pending, key=self._order)
        grew = self.live.read_some(path, BITE)
        if not self.live.unread(path):
            self._pending.discard(path)
        if grew:
            self.has_news = True
            self._bound_memory()
        if not self._pending:
            self._waiting_since = None
            if not self.is_complete:
                self._complete(now)
            self._pace.note(now, self._lines, self._furthest("step"))
        return grew

    def _order(self, path: Path) -> int:
        return self.live.paths.index(path)

    def _complete(self, now: float) -> None:
        """The first reading is over: the whole takes the place of its end."""
        if self._silent_for(now) > _OLD_ENOUGH:
            self.take_as_it_is()
        self.is_complete = True
        self.has_news = True
        self._preview = None

    def settle(self, now: float) -> bool:
        """Nothing came for a while: take what was held back, in the end the last line too."""
        is_over = self._silent_for(now) > _OVER_AFTER
        if self._pending or not self.live.settle(with_tail=is_over):
            return False
        self.has_news = True
        return True

    def take_as_it_is(self) -> None:
        """Take everything as if nothing came any more."""
        self.live.settle(with_tail=True)

    def _silent_for(self, now: float) -> float:
        newest = max((m for m in map(_modified, self.live.paths) if m is not None), default=now)
        return now - newest

    def _bound_memory(self) -> None:
        run = self.live.loaded.run
        thin_if_larger(run, MOST_COLUMN_BYTES)
        if run.thinnings != self._thinnings:
            self._thinnings = run.thinnings
            self._diagnostician = None

    def take_job(self, job: Job | None) -> None:
        """The scheduler says something else about the job that trains it."""
        self.live.loaded.run.job = job
        if self._preview is not None:
            self._preview.job = job
        self.has_news = True

    @property
    def is_judgeable(self) -> bool:
        """True if all is read, there is something new in it, and something at all."""
        is_read = self.is_complete and not self.has_work
        return self.has_news and is_read and not self.is_waiting

    @property
    def is_waiting(self) -> bool:
        """True if its job waits and has written nothing."""
        job = self.live.loaded.run.job
        is_written = any(source.bytes for source in self._sources())
        return job is not None and job.is_waiting and not is_written

    def close(self) -> None:
        """Let go of the files."""
        self.live.close()

    # -- judging --------------------------------------------------------------------------

    def judge(self) -> bool:
        """Make a new verdict; true if it differs from the last one."""
        self.has_news = False
        if self._diagnostician is None:
            self._diagnostician = Diagnostician(self.live.loaded.run)
        verdict = self._diagnostician.diagnose().for_display()
        is_new = verdict != self.diagnosis
        self.diagnosis = verdict
        fresh = [problem for problem in verdict.problems if problem not in self._reported]
        self._reported.update(fresh)
        self.reports += fresh
        return is_new

    # -- telling --------------------------------------------------------------------------

    def problems(self) -> list[str]:
        """Sentences about files that could not be read, each once."""
        fresh = self.live.loaded.problems[self._told_problems :]
        self._told_problems += len(fresh)
        told, self.reports = self.reports, []
        return [str(problem) for problem in fresh] + told

    def status(self, now: float, modes: Mapping[Path, str], notes: Mapping[Path, str]) -> RunStatus:
        """How the run is doing."""
        run = self.run
        state, reason = run_state(run, now)
        paths = [str(path) for path in self.live.paths]
        is_written = any(source.bytes for source in self._sources())
        if not is_written and not self._is_awaited and reason != EMPTY_SO_FAR:
            reason = "nothing was logged yet"
        if self._is_awaited and self._preview is None:
            reason = "its log is being copied"
        step, total = self._furthest("step"), run.totals.get("step")
        worst = health(self.diagnosis)
        findings = self.diagnosis.findings if self.diagnosis else ()
        files = tuple(self._file(source, modes, notes) for source in self._sources())
        written = [file.modified for file in files if file.modified is not None]
        is_running = state.value == "running"
        return RunStatus(
            run=self.number,
            name=self.files.name,
            state=state.value,
            reason=reason,
            step=step,
            total_steps=total,
            epoch=self._furthest("epoch"),
            total_epochs=run.totals.get("epoch"),
            eta_seconds=self._pace.eta(run, step, total) if is_running else None,
            interval_seconds=min(
                (i for i in map(interval_of, run.files) if i is not None), default=None
            ),
            last_line_at=max(written, default=None),
            lines_per_second=round(self._pace.lines_per_second(now), 1),
            lag_seconds=0.0 if self._waiting_since is None else now - self._waiting_since,
            share_read=self._share_read(files),
            thinned=self.live.loaded.run.thinned,
            health=worst,
            alarms=sum(f.severity.value == worst.value for f in findings if f.is_alarm),
            files=files,
            link=self._remote.link(paths) if self._remote is not None else None,
        )

    def _sources(self) -> list[SourceFile]:
        return self.live.loaded.run.files

    def _share_read(self, files: tuple[LogFile, ...]) -> float:
        if self.is_complete:
            return 1.0
        if self._is_awaited and self._remote is not None:
            # Copying is what takes long; reading what is here does not.
            return min(0.99, self._remote.share(file.path for file in files))
        size = sum(file.size for file in files)
        return min(1.0, sum(file.read for file in files) / size) if size else 1.0

    def _file(
        self, source: SourceFile, modes: Mapping[Path, str], notes: Mapping[Path, str]
    ) -> LogFile:
        path = Path(source.path)
        followed = self.live.status_of(path)
        note = source.notice or notes.get(path, "")
        if followed.state is not FollowState.FOLLOWING and not self._is_awaited:
            note = followed.reason
        if self._remote is not None:
            note = self._remote.trouble(source.path) or note
        size, modified = _size_and_time(path)
        return LogFile(
            path=source.path,
            root=source.root,
            format=source.format,
            size=size,
            read=source.bytes,
            lines=source.lines,
            generation=source.generations,
            mode="not read" if self.live.is_given_up(path) else modes.get(path, ""),
            note=note,
            has_gap=source.gaps > 0,
            modified=modified,
        )

    @property
    def _lines(self) -> int:
        return sum(source.lines for source in self._sources())

    def _furthest(self, axis: str) -> float | None:
        """The newest place on an axis, of whichever file got furthest."""
        places = []
        for source in self.run.files:
            column = source.coordinates.axes.get(axis)
            if column is not None and len(column):
                last = float(column.view()[-1])
                if math.isfinite(last):
                    places.append(last)
        return max(places, default=None)


def waiting_for(path: str) -> RunFiles:
    """A run whose log is not there yet."""
    from mltd.runs.discovery import Purpose, RunFile

    return RunFiles(
        os.path.basename(path), os.path.dirname(path) or ".", [RunFile(path, Purpose.LOG)]
    )


def is_same_but_for_clock(one: RunStatus | None, other: RunStatus) -> bool:
    """True if two statuses would be drawn alike."""
    if one is None:
        return False
    lag = other.lag_seconds if abs(one.lag_seconds - other.lag_seconds) > 0.5 else one.lag_seconds
    eta = other.eta_seconds
    if one.eta_seconds is not None and eta is not None and abs(one.eta_seconds - eta) < 30:
        eta = one.eta_seconds
    link = other.link
    if link is not None and one.link is not None and link.state == one.link.state == "connected":
        link = one.link
    return one == other._replace(lag_seconds=lag, eta_seconds=eta, link=link)


def _modified(path: Path) -> float | None:
    return _size_and_time(path)[1]


def _size_and_time(path: Path) -> tuple[int, float | None]:
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return 0, None
    return seen.st_size, seen.st_mtime


def clock() -> float:
    """Seconds since 1970; in one place so that it can be replaced."""
    return time.time()
