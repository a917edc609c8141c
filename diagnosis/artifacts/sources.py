"""Source code that may be read: files that a traceback names, and those below added folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mltd.runs.open_artifact import is_within
from mltd.runs.sources.looks import shown
from mltd.runs.surroundings import surroundings_of

from .artifact import Artifact, ArtifactKind
from .belonging import real_folders, real_place
from .errors import ArtifactError
from .gathering import root_of
from .naming import file_name, unique

if TYPE_CHECKING:
    from mltd.runs.run import Run

MOST_NAMED = 200
MOST_FRAMES = 200
"""Of one traceback, from its inner end."""
MOST_LISTED = 200
MOST_ENTRIES = 5_000
PYTHON = (".py", ".pyx", ".pxi", ".pyi")
"""What a traceback may lead to: a log is not to be trusted with more."""
CODE = (
    *PYTHON, ".sh", ".bash", ".slurm", ".sbatch", ".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp",
    ".yaml", ".yml", ".toml",
)  # fmt: skip
"""What is read below a folder that the user added."""


def folders_of(run: Run) -> tuple[str, ...]:
    """Real folders of a run: where it lives, where its files are, where its job works."""
    around = surroundings_of(run)
    found = [root_of(run), *(os.path.dirname(os.path.abspath(s.path)) for s in run.files)]
    if around is not None:
        found += [*around.folders, around.work_dir]
    return real_folders(folder for folder in found if folder)


class SourceRoot:
    """A folder that the user added: any code below it may be asked for."""

    def __init__(self, name: str, real: str) -> None:
        self.name = name
        self.real = real

    def find(self, asked: str) -> Artifact:
        """The file with a name below the folder, or with a full path that leads there."""
        inside = asked.removeprefix(f"{self.name}/")
        if os.path.isabs(asked):
            inside = os.path.relpath(asked, self.real) if is_within(asked, self.real) else ".."
        parts = inside.split("/")
        if "\0" in inside or not inside or any(part.startswith(".") or not part for part in parts):
            raise ArtifactError(f"no file below {self.name} can have that name")
        if not os.path.lexists(os.path.join(self.real, inside)):
            raise ArtifactError(f"there is no {shown(inside)} below {self.name}")
        real = real_place(os.path.join(self.real, inside), [self.real])
        below = os.path.relpath(real, self.real)
        if not real.endswith(CODE) or any(part.startswith(".") for part in below.split("/")):
            raise ArtifactError(
                f"{self.name}/{shown(inside)} is no source code, so it is not read",
                hint=f"below a source root, files are read that end in {', '.join(CODE)}",
            )
        name = f"{self.name}/{file_name(real, self.real)}"
        return Artifact(name, ArtifactKind.SOURCE, real, real, roots=(self.real,))

    def listed(self) -> list[str]:
        """Names of some files below, those nearest to the top first."""
        waiting, found, seen = [self.real], list[str](), 0
        while waiting and len(found) < MOST_LISTED and seen < MOST_ENTRIES:
            folder = waiting.pop(0)
            for entry in _entries(folder):
                seen += 1
                if entry.name.startswith(".") or entry.name == "__pycache__":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False) and entry.name.endswith(CODE):
                    found.append(f"{self.name}/{file_name(entry.path, self.real)}")
        return found[:MOST_LISTED]


def source_roots(
    folders: Sequence[str | os.PathLike[str]], taken: Sequence[str]
) -> list[SourceRoot]:
    """The added folders that exist, each with a name."""
    found: dict[str, SourceRoot] = {}
    for real in real_folders(folders):
        name = unique(file_name(real, "") or "source", [*taken, *found])
        found[name] = SourceRoot(name, real)
    return list(found.values())


def named_sources(
    called: str, run: Run, roots: Sequence[SourceRoot], taken: Sequence[Artifact]
) -> Iterator[tuple[Artifact, str]]:
    """Files that the run's tracebacks name, with the name that stands there."""
    folders = folders_of(run)
    allowed = (*folders, *(root.real for root in roots))
    known = {artifact.real: artifact for artifact in taken if artifact.real}
    names = {artifact.name for artifact in taken}
    for stated in _stated(run):
        for path in [stated] if os.path.isabs(stated) else [f"{f}/{stated}" for f in folders]:
            try:
                real = real_place(path, allowed)
            except ArtifactError:
                continue
            if not real.endswith(PYTHON):
                continue
            if real not in known:
                name = _named(called, real, root_of(run), roots, names)
                known[real] = Artifact(name, ArtifactKind.SOURCE, path, real, called, roots=allowed)
                names.add(name)
            yield known[real], stated
            break


def _named(
    called: str, real: str, folder: str, roots: Sequence[SourceRoot], taken: set[str]
) -> str:
    for root in roots:
        if is_within(real, root.real):
            return f"{root.name}/{file_name(real, root.real)}"
    inside = os.path.realpath(folder) if folder else ""
    return unique(f"{called}/{file_name(real, inside)}", taken)


def _stated(run: Run) -> list[str]:
    """File names in tracebacks that could be source code, each once."""
    found: dict[str, None] = {}
    for _, event in run.events:
        for frame in event.frames[-MOST_FRAMES:]:
            name = frame.file
            is_safe = "\0" not in name and ".." not in name.split("/")
            if name.endswith(PYTHON) and is_safe and len(found) < MOST_NAMED:
                found[name] = None
    return list(found)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = [entry for _, entry in zip(range(MOST_ENTRIES), entries, strict=False)]
    except OSError:
        return []
    return sorted(found, key=lambda entry: entry.name)
