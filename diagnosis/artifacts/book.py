"""The files of the session's runs: found by short names, read within bounds, nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mltd.runs.remote.names import shown as shown_remotely
from mltd.runs.remote.names import url_of

from .artifact import Artifact, ArtifactKind, Excerpt, Hits, Place
from .belonging import opened, real_folders
from .errors import ArtifactError
from .gathering import artifacts_of, root_of
from .half_copied import refuse_half
from .line_reader import READ_SECONDS, LineReader
from .names import NameBook, listed, quoted, split_lines
from .naming import run_names
from .searching import SEARCH_SECONDS, search
from .sources import SourceRoot, named_sources, source_roots
from .timely import timely
from .weights import Tensor, tensors_of

if TYPE_CHECKING:
    from mltd.runs.run import Run
    from mltd.sessions.masking import Masker
    from mltd.sessions.model.session import Session

LONGEST_TEXT = 64 << 10
_BINARY = frozenset({"tensorboard", "wandb"})
_HEAD_BYTES = 4096


class ArtifactBook:
    """Which files belong to the session, and what stands in them.

    `named` are files that the user asked for by name: they may be links to anywhere, unless the
    run was found and has another root. All other links must stay in the run's folder or below a
    source root.
    """

    def __init__(
        self,
        runs: Mapping[str, Run],
        session: Session | None = None,
        source_roots: Sequence[str | Path] = (),
        *,
        named: Sequence[str | Path] = (),
        masker: Masker | None = None,
    ) -> None:
        self.run_names = run_names(runs)
        """Key of a run to what it is called in names."""
        self.runs: dict[str, Run] = {self.run_names[key]: run for key, run in runs.items()}
        self._also = _labels(session, self.run_names)
        self._names = NameBook()
        self._readers: dict[str, LineReader] = {}
        self._artifacts: list[Artifact] = []
        self._register(source_roots, frozenset(os.fspath(path) for path in named), masker)

    def _register(
        self, folders: Sequence[str | Path], named: frozenset[str], masker: Masker | None
    ) -> None:
        self._roots: list[SourceRoot] = source_roots(folders, list(self.runs))
        ends = (
            *(root.real for root in self._roots),
            *real_folders(map(root_of, self.runs.values())),
        )
        for called, run in self.runs.items():
            for artifact in artifacts_of(called, run, ends, named):
                self._artifacts.append(artifact)
                self._names.add(artifact, _aliases(artifact))
        for called, run in self.runs.items():
            for artifact, stated in named_sources(called, run, self._roots, self._artifacts):
                if artifact not in self._artifacts:
                    self._artifacts.append(artifact)
                self._names.add(artifact, [stated, *_aliases(artifact)])
        if masker is not None:
            # Whoever was shown masked names asks by them.
            for artifact in self._artifacts:
                self._names.add(
                    artifact, [masker.clean(artifact.name), masker.clean(artifact.path)]
                )

    # -- what there is --------------------------------------------------------------------

    def __iter__(self) -> Iterator[Artifact]:
        """All files, run by run: logs, metrics, settings, checkpoints, source code."""
        return iter(self._artifacts)

    def of_run(self, run: str) -> list[Artifact]:
        """The files of one run."""
        called = self.run_called(run)
        return [artifact for artifact in self._artifacts if artifact.run == called]

    @property
    def source_roots(self) -> tuple[SourceRoot, ...]:
        """Folders that the user added."""
        return tuple(self._roots)

    def run_called(self, name: str) -> str:
        """What a run is called, from its key, its name or what the session calls it."""
        for known in (name, self.run_names.get(name, ""), self._also.get(name, "")):
            if known in self.runs:
                return known
        same = [called for called, run in self.runs.items() if run.name == name]
        if len(same) == 1:
            return same[0]
        raise ArtifactError(f"there is no run {quoted(name)}", hint=f"there is {listed(self.runs)}")

    def size_of(self, artifact: Artifact) -> int | None:
        """Bytes of a file as it is now; None if it is not read."""
        if not artifact.real or artifact.problem:
            return None
        try:
            return os.lstat(artifact.real).st_size
        except OSError:
            return None

    def line_count(self, artifact: Artifact) -> tuple[int, bool] | None:
        """Lines that the run or a look has counted by now, and whether the file goes on."""
        size = self.size_of(artifact)
        if artifact.lines is None or size is None:
            return (artifact.lines, False) if artifact.lines is not None else None
        run = self.runs.get(artifact.run)
        files = [one for one in run.files if one.path == artifact.path] if run is not None else []
        known = [(one.lines, one.bytes) for one in files] or [(artifact.lines, size)]
        reader = self._readers.get(artifact.name)
        if reader is not None and reader.counted[1] <= size:  # else it was replaced since then
            known.append(reader.counted)
        lines, read = max(known)
        return lines, read < size

    # -- finding --------------------------------------------------------------------------

    def resolve(self, name: str, run: str = "") -> Artifact:
        """The file that is meant by a short name, a full path or a file name that only it has.

        With `run`, a file name that only one file of that run has is enough.
        """
        return self.place(name, run).artifact

    def place(self, name: str, run: str = "") -> Place:
        """The same with the lines that stand behind the name: `train.log:812`."""
        if not isinstance(name, str) or not name or "\0" in name:
            raise ArtifactError("that is not a possible file name")
        bare, first, last = split_lines(name)
        called = self.run_called(run) if run else ""
        for asked, lines in ((name, (None, None)), (bare, (first, last))):
            if (found := self._names.find(asked, called)) is not None:
                return Place(found, *lines)
        refusal: ArtifactError | None = None
        for asked, lines in ((bare, (first, last)), (name, (None, None))):
            found, refusal = self._below_roots(asked, refusal)
            if found is not None:
                return Place(found, *lines)
        raise refusal or self._names.unknown(name)

    def _below_roots(
        self, name: str, refusal: ArtifactError | None
    ) -> tuple[Artifact | None, ArtifactError | None]:
        """A file below an added folder, or why there is none if one of them is named."""
        found: dict[str, Artifact] = {}
        for root in self._roots:
            try:
                artifact = root.find(name)
                found[artifact.real] = self._names.find(artifact.real) or artifact
            except ArtifactError as problem:
                is_meant = name.startswith((f"{root.name}/", root.real + os.sep))
                refusal = refusal or (problem if is_meant else None)
        if len(found) > 1:
            names = listed(artifact.name for artifact in found.values())
            raise ArtifactError(
                f"several files are called {quoted(name)}", hint=f"say which: {names}"
            )
        return next(iter(found.values()), None), refusal

    # -- reading --------------------------------------------------------------------------

    def lines(
        self,
        name: str,
        first: int,
        last: int,
        *,
        longest: int = LONGEST_TEXT,
        seconds: float = READ_SECONDS,
    ) -> Excerpt:
        """Lines of a file by their numbers, at most 200, each up to `longest` characters.

        Negative numbers count from the end: -1 is the last line.
        """
        artifact = self._readable(name)
        reader = self._readers.pop(artifact.name, None)
        if reader is None or reader.artifact != artifact:
            reader = LineReader(artifact)
        excerpt = timely(lambda: reader.read(first, last, longest, seconds), artifact.name)
        # Only now: one that was left behind must not be used again.
        self._readers[artifact.name] = reader
        return excerpt

    def search(
        self,
        name: str,
        pattern: str,
        *,
        most: int = 50,
        context: int = 0,
        first: int = 1,
        longest: int = 4000,
        seconds: float = SEARCH_SECONDS,
    ) -> Hits:
        """Lines that match a regular expression; one without capitals ignores case."""
        artifact = self._readable(name)

        def work() -> Hits:
            return search(
                artifact, pattern, most=most, context=context, first=first, longest=longest,
                seconds=seconds,
            )  # fmt: skip

        return timely(work, artifact.name, seconds + 2.0)

    def tensors(self, name: str) -> tuple[list[Tensor], list[str]]:
        """The tensors of a checkpoint, and a sentence for each of its files that has none."""
        artifact = self.resolve(name)
        if artifact.kind is not ArtifactKind.CHECKPOINT:
            raise ArtifactError(f"{artifact.name} is no checkpoint but a {artifact.kind} file")
        files = [self.resolve(part) for part in artifact.parts] or [artifact]
        return timely(lambda: tensors_of(files), artifact.name)

    def _readable(self, name: str) -> Artifact:
        """A file with lines."""
        artifact = self.resolve(name)
        if artifact.kind is ArtifactKind.CHECKPOINT:
            raise ArtifactError(
                f"{artifact.name} holds weights and has no lines", hint="ask for its summary"
            )
        if artifact.format in _BINARY or self._is_binary(artifact):
            raise ArtifactError(
                f"{artifact.name} is binary and has no lines", hint="ask for its series instead"
            )
        return artifact

    def _is_binary(self, artifact: Artifact) -> bool:
        from mltd.runs.discovery.purposes import is_binary
        from mltd.runs.sources.decompression import recognise

        def work() -> bool:
            with opened(artifact) as descriptor:
                # Before anything else: what is not here yet reads as zeros, and looks binary.
                refuse_half(artifact, descriptor)
                head = os.pread(descriptor, _HEAD_BYTES, 0)
            return recognise(head) is None and is_binary(head)

        return timely(work, artifact.name)


def _aliases(artifact: Artifact) -> list[str]:
    path = artifact.path
    whole = os.path.abspath(path)
    return [path, whole, artifact.real, shown_remotely(whole), url_of(whole)]


def _labels(session: Session | None, names: Mapping[str, str]) -> dict[str, str]:
    """What the session's user calls the runs."""
    known = session.runs if session is not None else ()
    return {ref.label: names[ref.id] for ref in known if ref.id in names}
