"""Which files of a directory tree belong together: one run, or many.

Known layouts (W&B, MLflow) are taken as they are. Elsewhere the files of a folder form one
run unless their names tell several apart, and a folder's run takes in the folders that are
parts of it (`checkpoints`, `logs`, `rank_3`, `vis_data`, ...).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from .layouts import known_run, newest_trainer_state
from .purposes import Inspector
from .run_files import Purpose, RunFile, RunFiles, natural_key, sorted_files
from .stems import is_generic, is_timestamp, stem_of
from .tree import Folder

MOST_RESTARTS = 8
"""Job outputs beside one set of metrics that are still taken for restarts of one run."""
PART_FOLDER = re.compile(
    r"logs?|std(?:out|err)|out|outputs?|tb|tb_logs|tensorboard\w*|runs|events|summar(?:y|ies)|"
    r"train(?:ing)?|val(?:id|idation)?|eval(?:uation)?|test|vis_data|wandb|lightning_logs|csv\w*|"
    r"metrics|checkpoints?|ckpts?|weights|models?|saved_models?|files|inference|\.hydra|"
    r"\d{8}_\d{6}|(?:rank|node|worker|attempt)[-_]?\d+|version_\d+",
    re.IGNORECASE,
)
SPLIT_FOLDER = re.compile(r"train(?:ing)?|val(?:id|idation)?|eval(?:uation)?|test", re.IGNORECASE)
RANK_FOLDER = re.compile(r"(?:(?:rank|node|worker|proc|attempt)[-_]?)?\d+", re.IGNORECASE)
STREAM_FILE = re.compile(r"std(?:out|err)(?:\.(?:log|txt))?|error\.json", re.IGNORECASE)
_EVENT_WRITER = re.compile(r"tfevents\.\d+\.([^/]+\.\d+)\.\d+(?:\.v2)?$")
RESTART_FOLDER = re.compile(r"\d{8}_\d{6}|runs")


@dataclass(slots=True)
class Group:
    """Files that belong together, before they have a name."""

    root: str
    label: str = ""
    """Tells several groups of one folder apart."""
    files: list[RunFile] = field(default_factory=list)

    @property
    def is_readable(self) -> bool:
        """True if it has a log or metrics; artifacts alone are no run."""
        return any(f.purpose in (Purpose.LOG, Purpose.METRICS) for f in self.files)


def group_runs(root: Folder, inspector: Inspector) -> list[RunFiles]:
    """The runs in a directory tree, in natural order of their names."""
    runs = []
    for group in _groups_in(root, inspector):
        if group.is_readable:
            place = os.path.relpath(group.root, root.path)
            parts = [part for part in (place, group.label) if part not in (".", "")]
            name = "/".join(parts) or os.path.basename(os.path.abspath(root.path))
            runs.append(RunFiles(name, group.root, sorted_files(group.files)))
    return sorted(runs, key=lambda run: natural_key(run.name))


def _groups_in(folder: Folder, inspector: Inspector) -> list[Group]:
    known = known_run(folder, inspector)
    if known is not None:
        return [Group(folder.path, files=known)]
    own = _own_groups(folder, inspector)
    inner = {inside.name: _groups_in(inside, inspector) for inside in folder.folders}
    readable = [group for groups in inner.values() for group in groups if group.is_readable]
    if not any(group.is_readable for group in own):
        if _are_parts_of_one_run(folder, inner):
            return [_merge(folder, [*own, *(g for groups in inner.values() for g in groups)])]
        if len(readable) == 1:
            return _adopt_artifacts(folder, own, inner, readable[0])
        # Settings and weights beside many runs belong to none of them in particular.
        return readable or [_merge(folder, [*own, *(g for gs in inner.values() for g in gs)])]
    if len(own) > 1:
        return [*own, *readable]
    if len(readable) <= 1:
        return [_merge(folder, [*own, *(g for groups in inner.values() for g in groups)])]
    return _absorb_parts(folder, own[0], inner)


def _adopt_artifacts(
    folder: Folder, own: list[Group], inner: dict[str, list[Group]], run: Group
) -> list[Group]:
    """A single run further down takes its folder's settings if it is a part of that folder."""
    part = next(name for name, groups in inner.items() if run in groups)
    artifacts = [*own, *(g for groups in inner.values() for g in groups if g is not run)]
    if PART_FOLDER.fullmatch(part) and any(group.files for group in artifacts):
        return [_merge(folder, [*artifacts, run])]
    return [run]


def _absorb_parts(folder: Folder, own: Group, inner: dict[str, list[Group]]) -> list[Group]:
    """A run with several runs below it: which of them are parts, which stand alone?"""
    parts: list[Group] = [own]
    others: list[Group] = []
    writers = _event_writers(own)
    has_restarts = bool(folder.checkpoints) or any(
        file.path.endswith("trainer_state.json") for file in own.files
    )
    stamps = [name for name in inner if is_timestamp(name)]
    for name, groups in inner.items():
        is_part = PART_FOLDER.fullmatch(name) is not None and len(groups) == 1
        is_restart = RESTART_FOLDER.fullmatch(name) is not None and (has_restarts or name in stamps)
        for group in groups:
            same_writer = bool(writers) and bool(_event_writers(group) & writers)
            taken = not group.is_readable or is_part or is_restart or same_writer
            (parts if taken else others).append(group)
    return [_merge(folder, parts), *(group for group in others if group.is_readable)]


def _event_writers(group: Group) -> set[str]:
    """Host and process of the event files: one process may write into several folders."""
    found = (_EVENT_WRITER.search(file.path) for file in group.files)
    return {match.group(1) for match in found if match}


def _are_parts_of_one_run(folder: Folder, inner: dict[str, list[Group]]) -> bool:
    names = [name for name, groups in inner.items() if any(g.is_readable for g in groups)]
    if len(names) < 2:
        return False
    folders = [inside for inside in folder.folders if inside.name in names]
    if all(RANK_FOLDER.fullmatch(name) for name in names):
        files = [os.path.basename(path) for inside in folders for path in inside.walk_files()]
        return all(STREAM_FILE.fullmatch(name) for name in files)
    if all(SPLIT_FOLDER.fullmatch(name) for name in names):
        return all("tfevents" in path for inside in folders for path in inside.walk_files())
    # OpenMMLab: one folder per launch, their settings and checkpoints beside them.
    has_work = bool(folder.checkpoints) or any(
        name.endswith((".py", ".pth")) or name == "last_checkpoint" for name in folder.files
    )
    return has_work and all(is_timestamp(name) for name in names)


def _merge(folder: Folder, groups: list[Group]) -> Group:
    files = [file for group in groups for file in group.files]
    return Group(folder.path, files=newest_trainer_state(files, folder.root))


def _own_groups(folder: Folder, inspector: Inspector) -> list[Group]:
    """The runs among the files directly in a folder; at least one group, maybe empty."""
    artifacts: list[RunFile] = []
    by_stem: dict[str, list[RunFile]] = {}
    for name in folder.files:
        path = folder.join(name)
        purpose = inspector.purpose(path)
        if purpose in (Purpose.LOG, Purpose.METRICS):
            is_shared = "tfevents" in name or folder.name == "metrics"
            stem = "" if is_shared else stem_of(name.removesuffix(".wandb"))
            by_stem.setdefault(stem, []).append(RunFile(path, purpose, folder.root))
        elif purpose is not None:
            artifacts.append(RunFile(path, purpose, folder.root))
    if folder.name == "vis_data" and "scalars" in by_stem:
        by_stem = {"scalars": by_stem["scalars"]}  # the others repeat it
    code: list[RunFile] = []
    if any(is_timestamp(name) for name in (*by_stem, *(inner.name for inner in folder.folders))):
        code = [folder.file(n, Purpose.CONFIG) for n in folder.files if n.endswith(".py")]
        artifacts.extend(code)
    for name in folder.checkpoints:
        artifacts.append(folder.file(name, Purpose.CHECKPOINT))
        state = folder.file(os.path.join(name, "trainer_state.json"), Purpose.METRICS)
        if os.path.isfile(state.path):
            by_stem.setdefault("trainer_state", []).append(state)
    generic = [stem for stem in by_stem if is_generic(stem)]
    special = [stem for stem in by_stem if not is_generic(stem)]
    has_weights = any(file.purpose is Purpose.CHECKPOINT for file in artifacts)
    is_run_folder = (
        has_weights
        or bool(code)
        or any(file.purpose is Purpose.METRICS for stem in generic for file in by_stem[stem])
    )
    if len(special) <= 1 or (is_run_folder and len(special) <= MOST_RESTARTS):
        files = [file for group in by_stem.values() for file in group]
        if files and not any(file.purpose is Purpose.CONFIG for file in artifacts):
            lone = inspector.lone_settings(map(folder.join, folder.files))
            artifacts += [RunFile(lone, Purpose.CONFIG, folder.root)] if lone is not None else []
        return [Group(folder.path, files=[*artifacts, *files])]
    groups = [Group(folder.path, stem, by_stem[stem]) for stem in special]
    if generic:
        shared = [file for stem in generic for file in by_stem[stem]]
        groups.append(
            Group(folder.path, stem_of(os.path.basename(shared[0].path)) or "log", shared)
        )
    return groups
