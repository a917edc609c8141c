"""Which files belong to a run: what it was read from, its settings and its checkpoints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mltd.runs.open_artifact import ANYWHERE, is_within

from .artifact import Artifact, ArtifactKind
from .belonging import real_folders, real_place
from .errors import ArtifactError
from .naming import file_name, unique

if TYPE_CHECKING:
    from mltd.runs.run import Run, SourceFile

MOST_FILES = 1000
"""Of one run; a fleet of checkpoints is not listed to its end."""
MOST_PARTS = 64
_COUNTED = frozenset({"text", "jsonl", "csv"})
"""Formats whose records are the lines of the file."""
_WEIGHTS = re.compile(r".*\.(?:pt|pth|ckpt|safetensors|bin)", re.IGNORECASE)
_KINDS = {"config": ArtifactKind.CONFIG, "checkpoint": ArtifactKind.CHECKPOINT}


def root_of(run: Run) -> str:
    """The folder that a run lives in; that of its first file if nobody said so."""
    if run.surroundings is not None and run.surroundings.root:
        return os.path.abspath(run.surroundings.root)
    first = next((source.path for source in run.files if os.path.exists(source.path)), "")
    return os.path.dirname(os.path.abspath(first)) if first else ""


def artifacts_of(
    called: str, run: Run, roots: Sequence[str], named: frozenset[str] = frozenset()
) -> list[Artifact]:
    """The files of one run; `roots` are real folders in which links may end."""
    folder = root_of(run)
    found: dict[str, Artifact] = {}
    for path, root, kind, source in _files(run):
        for artifact in _registered(called, path, root, kind, source, folder, roots, named):
            if len(found) < MOST_FILES:
                name = unique(artifact.name, found)
                found[name] = artifact if name == artifact.name else _renamed(artifact, name)
    return list(found.values())


def _files(run: Run) -> Iterator[tuple[str, str, ArtifactKind, SourceFile | None]]:
    seen: set[str] = set()
    for source in run.files:
        if source.path not in seen:
            seen.add(source.path)
            is_log = source.format in ("", "text", "empty")
            kind = ArtifactKind.LOG if is_log else ArtifactKind.METRICS
            yield source.path, source.root, kind, source
    for artifact in run.artifacts:
        if artifact.path not in seen and artifact.kind in _KINDS:
            seen.add(artifact.path)
            yield artifact.path, artifact.root, _KINDS[artifact.kind], None


def _registered(
    called: str,
    path: str,
    root: str,
    kind: ArtifactKind,
    source: SourceFile | None,
    folder: str,
    roots: Sequence[str],
    named: frozenset[str],
) -> Iterator[Artifact]:
    name = f"{called}/{file_name(path, folder)}"
    form, note = (source.format, source.notice) if source is not None else ("", "")
    lines = source.lines if source is not None and source.format in _COUNTED else None
    real, problem = "", ""
    allowed = _allowed(path, root, folder, roots, named)
    try:
        if path == "-":
            raise ArtifactError("standard input came through a pipe and cannot be read again")
        whole = os.path.abspath(path)
        real = real_place(whole, allowed, may_be_folder=kind is ArtifactKind.CHECKPOINT)
    except ArtifactError as refusal:
        problem = str(refusal)
    if real and os.path.isdir(real):
        parts = list(_parts(called, real, path, folder, allowed))
        yield Artifact(name, kind, path, "", called, parts=tuple(part.name for part in parts))
        yield from parts
        return
    yield Artifact(name, kind, path, real, called, form, lines, note, problem, roots=allowed)


def _allowed(
    path: str, root: str, folder: str, roots: Sequence[str], named: frozenset[str]
) -> tuple[str, ...]:
    """The real folders in which a file of a run may lie."""
    whole = os.path.abspath(path)
    # Without a root, a scheduler or the user named it: it may lie anywhere, but not link anywhere.
    base = root or (folder if folder and is_within(whole, folder) else os.path.dirname(whole))
    allowed = [*real_folders([base]), *roots]
    if root == ANYWHERE and (path in named or whole in named):
        allowed.append(os.path.dirname(os.path.realpath(whole)))
    return tuple(allowed)


def _parts(
    called: str, real: str, path: str, folder: str, allowed: Sequence[str]
) -> Iterator[Artifact]:
    """The weight files in a checkpoint's folder."""
    try:
        names = sorted(os.listdir(real))
    except OSError:
        return
    for name in [name for name in names if _WEIGHTS.fullmatch(name)][:MOST_PARTS]:
        short = f"{called}/{file_name(os.path.join(path, name), folder)}"
        try:
            place = real_place(os.path.join(real, name), allowed)
        except ArtifactError:
            continue
        yield Artifact(
            short,
            ArtifactKind.CHECKPOINT,
            os.path.join(path, name),
            place,
            called,
            roots=tuple(allowed),
        )


def _renamed(artifact: Artifact, name: str) -> Artifact:
    from dataclasses import replace

    return replace(artifact, name=name)
