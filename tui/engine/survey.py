"""A glance at every run of a catalogue, one bite at a time, for the picker's rows."""

from __future__ import annotations

import os

from mltd.runs.discovery import RunFiles
from mltd.runs.ingest import LOG_PURPOSES

from .followed_run import FollowedRun
from .protocol import RunRow
from .remote_files import RemoteFiles
from .rows import make_row

LOOK_AGAIN = 20.0
"""Seconds between two looks at whether the files of a surveyed run have changed."""


class Survey:
    """Fills rows; runs that are open anyway are left to whoever follows them."""

    def __init__(self) -> None:
        self.rows: dict[int, RunRow] = {}
        self._stamps: dict[int, tuple[float, ...]] = {}
        self._under_way: FollowedRun | None = None
        self._waiting: list[int] = []
        self._next_look = 0.0

    def look(
        self, runs: list[RunFiles], open_runs: set[int], now: float, remote: RemoteFiles
    ) -> None:
        """Queue the runs whose files have changed since they were last read."""
        if now < self._next_look:
            return
        self._next_look = now + LOOK_AGAIN
        for number, files in enumerate(runs):
            stamp = tuple(_modified(path) for path in files.paths(*LOG_PURPOSES))
            if number in open_runs or self._stamps.get(number) == stamp:
                continue
            if not remote.may_survey(files.paths(*LOG_PURPOSES)):
                continue  # on another host, and not copied (yet)
            self._stamps[number] = stamp
            if number not in self._waiting:
                self._waiting.append(number)
        # The newest are what somebody is looking for.
        self._waiting.sort(key=lambda number: -max(self._stamps[number], default=0.0))

    def look_soon(self) -> None:
        """There are new runs."""
        self._next_look = 0.0

    def judge_again(self, numbers: set[int]) -> None:
        """Something but their files has changed about these runs."""
        for number in numbers:
            self._stamps.pop(number, None)
        self.look_soon()

    @property
    def has_work(self) -> bool:
        """True if a row is missing or out of date."""
        return self._under_way is not None or bool(self._waiting)

    def work(self, runs: list[RunFiles], now: float) -> RunRow | None:
        """Read one bite; a row if one is done."""
        if self._under_way is None:
            number = self._waiting.pop(0)
            self._under_way = FollowedRun(number, runs[number])
        followed = self._under_way
        if followed.has_work and not followed.is_preview:
            followed.read_some(now)
            if followed.has_work:
                return None
        if not followed.is_preview:
            followed.take_as_it_is()
            followed.judge()
        row = make_row(
            followed.number, followed.files, followed.run, followed.diagnosis, is_open=False
        )
        self.rows[followed.number] = row
        followed.close()
        self._under_way = None
        return row


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0
