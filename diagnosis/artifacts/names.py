"""From what somebody calls a file to the artifact that is meant, or to the names there are."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from mltd.runs.sources.looks import shown

from .artifact import Artifact
from .errors import ArtifactError

_LINES = re.compile(
    r"(?P<name>.+?):(?P<first>\d{1,12})(?:(?:-|\.\.|:)(?P<last>\d{1,12}))?", re.DOTALL
)
_FEW = 5
_LONGEST = 200


def split_lines(name: str) -> tuple[str, int | None, int | None]:
    """A name, and the lines that stand behind it: `train.log:812`, `train.log:812-820`."""
    found = _LINES.fullmatch(name)
    if found is None:
        return name, None, None
    first = int(found["first"])
    return found["name"], first, int(found["last"] or first)


class NameBook:
    """Everything that a file may be called; nothing is ever put together from a name."""

    def __init__(self) -> None:
        self._by_name: dict[str, Artifact] = {}
        self._by_alias: dict[str, Artifact] = {}

    def add(self, artifact: Artifact, aliases: Iterable[str] = ()) -> None:
        """Let a file be found; the first one to have an alias keeps it."""
        self._by_name.setdefault(artifact.name, artifact)
        for alias in aliases:
            if alias:
                self._by_alias.setdefault(alias, artifact)

    @property
    def names(self) -> list[str]:
        """All short names."""
        return list(self._by_name)

    def find(self, name: str, run: str = "") -> Artifact | None:
        """By short name, by full path, or by the end of either if only one file has it.

        Of several files with the same end, the one of a run is meant.
        """
        found = self._by_name.get(name) or self._by_alias.get(name)
        if found is not None or not name.strip("/."):
            return found
        ends = {
            known.name: known
            for known in self._by_name.values()
            if known.name.endswith(f"/{name}") or known.path.endswith(f"/{name}")
        }
        own = {called: known for called, known in ends.items() if run and known.run == run}
        ends = own or ends
        if len(ends) > 1:
            raise ArtifactError(
                f"several files are called {quoted(name)}", hint=f"say which: {listed(ends)}"
            )
        return next(iter(ends.values()), None)

    def unknown(self, name: str) -> ArtifactError:
        """Why a name is refused, with those that come closest."""
        asked = name[:_LONGEST]
        last = asked.rpartition("/")[2]
        short = {known.rpartition("/")[2]: known for known in self._by_name}
        close = difflib.get_close_matches(asked, self._by_name, _FEW, 0.6)
        close += [short[end] for end in difflib.get_close_matches(last, short, _FEW, 0.7)]
        names = list(dict.fromkeys(close))[:_FEW]
        there = f"the closest names: {listed(names)}" if names else _some(self.names)
        return ArtifactError(f"{quoted(name)} is not a file of this session", hint=there)


def quoted(name: str) -> str:
    """What was asked for, fit to be repeated."""
    return f"'{shown(name[:_LONGEST])}'"


def listed(names: Iterable[str]) -> str:
    """A few names in a row."""
    known = list(names)
    more = f" and {len(known) - _FEW} more" if len(known) > _FEW else ""
    return ", ".join(known[:_FEW]) + more


def _some(names: list[str]) -> str:
    return f"there is {listed(names)}" if names else "the session has no files"
