"""The remote files that the engine follows: their copies here, and how their hosts are doing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mltd.runs.discovery import RunFiles
from mltd.runs.ingest import LOG_PURPOSES
from mltd.runs.remote.names import is_mirrored
from mltd.runs.remote.problems import LinkError

from .protocol import Link

if TYPE_CHECKING:
    from mltd.runs.remote.links import Links

MOST_SURVEYED = 1 << 20
"""Bytes of a remote log that are worth copying for a row of the picker."""


class RemoteFiles:
    """Nothing is imported or started before a remote run is followed."""

    def __init__(self, changed: Callable[[set[Path]], None]) -> None:
        self._changed = changed
        self._links: Links | None = None

    def open(self, files: RunFiles) -> None:
        """Have copies of a run's logs and settings here, and keep the logs up to date."""
        remote = [path for path in files.paths(*LOG_PURPOSES) if is_mirrored(path)]
        for path in remote:
            self._use().follow(path)
        if remote:
            with suppress(LinkError):  # the header says what is wrong with the link
                self._use().complete(files)

    def leave(self, paths: Iterable[str]) -> None:
        """Let these copies be as they are."""
        for path in paths:
            if is_mirrored(path) and self._links is not None:
                self._links.unfollow(path)

    def prefer(self, paths: Iterable[str]) -> None:
        """Somebody looks at these: what is missing of them is copied first."""
        for path in paths:
            if is_mirrored(path) and self._links is not None:
                self._links.prefer(path)

    def is_whole(self, path: str) -> bool:
        """True if everything that was there is here, from the first byte on."""
        return not is_mirrored(path) or self._links is None or self._links.is_whole(path)

    def may_survey(self, paths: Iterable[str]) -> bool:
        """True if files can be read for a row; small remote ones are copied for that, behind."""
        far = [path for path in paths if is_mirrored(path)]
        if not far or self.excuse(far):
            return not far
        return self._use().copy_soon(far)

    def excuse(self, paths: Iterable[str]) -> str:
        """Why a run is not read for a row of the picker; empty if it is."""
        far = [path for path in paths if is_mirrored(path)]
        size = sum(self._use().size(path) for path in far)
        return (
            f"{size / 1e6:,.0f} MB on another host: open it to read it"
            if size > MOST_SURVEYED
            else ""
        )

    def head(self, path: str) -> bytes:
        """How a file begins that is not here as a whole."""
        return self._links.head(path) if self._links is not None and is_mirrored(path) else b""

    def share(self, paths: Iterable[str]) -> float:
        """How much of the files is here, from 0 to 1."""
        here = whole = 0
        for path in paths:
            if self._links is not None and is_mirrored(path):
                there = self._links.copied(path)
                here, whole = here + there[0], whole + there[1]
        return here / whole if whole else 0.0

    def trouble(self, path: str) -> str:
        """Why a file over there cannot be read; empty if it can."""
        return self._links.trouble(path) if self._links is not None and is_mirrored(path) else ""

    def link(self, paths: Iterable[str]) -> Link | None:
        """How the host of these files is doing; None if they are on this machine."""
        path = next((path for path in paths if is_mirrored(path)), None)
        if path is None or self._links is None:
            return None
        state = self._links.state(path)
        return Link(
            host=self._links.host_of(path),
            state=state.kind.value,
            heard_at=state.heard_at,
            message=state.message,
            hint=state.hint,
            retry_at=state.retry_at,
        )

    def _use(self) -> Links:
        if self._links is None:
            from mltd.runs.remote.links import links

            self._links = links()
            self._links.listen(self._changed)
        return self._links
