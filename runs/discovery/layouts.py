"""Run directories whose layout is fixed by a tool: W&B, MLflow, Hugging Face checkpoints."""

from __future__ import annotations

import os
import re

from ..open_artifact import open_artifact_file
from .purposes import Inspector, is_checkpoint_name
from .run_files import Purpose, RunFile
from .tree import Folder

_WANDB_FOLDER = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-\w+")
_MLFLOW_FOLDER = re.compile(r"[0-9a-f]{32}")
_WANDB_FILES = {
    "output.log": Purpose.LOG,
    "config.yaml": Purpose.CONFIG,
    "wandb-metadata.json": Purpose.CONFIG,
    "wandb-history.jsonl": Purpose.METRICS,
}
_GLOBAL_STEP = re.compile(rb'"global_step":\s*(\d+)')
_STEP_IN_NAME = re.compile(r"checkpoint[-_](\d+)")
_STATE = "trainer_state.json"


def known_run(folder: Folder, inspector: Inspector) -> list[RunFile] | None:
    """The files of a folder that a known tool laid out; nothing if it is not such a folder."""
    has_record = any(name.endswith(".wandb") for name in folder.files)
    if _WANDB_FOLDER.fullmatch(folder.name) or (has_record and folder.folder("files") is not None):
        return _wandb_files(folder, inspector)
    metrics = folder.folder("metrics")
    if metrics is not None and (
        folder.folder("params") or folder.folder("tags") or _MLFLOW_FOLDER.fullmatch(folder.name)
    ):
        return _mlflow_files(folder, metrics)
    return None


def _wandb_files(folder: Folder, inspector: Inspector) -> list[RunFile]:
    found = [
        folder.file(name, Purpose.METRICS)
        for name in folder.files
        if name.endswith(".wandb") and inspector.purpose(folder.join(name)) is Purpose.METRICS
    ]
    inner = folder.folder("files")
    if inner is None:
        return found
    for name in inner.files:
        if name in _WANDB_FILES:
            found.append(inner.file(name, _WANDB_FILES[name]))
        elif is_checkpoint_name(name):
            found.append(inner.file(name, Purpose.CHECKPOINT))
    return found


def _mlflow_files(folder: Folder, metrics: Folder) -> list[RunFile]:
    found = [RunFile(path, Purpose.METRICS, folder.root) for path in metrics.walk_files()]
    if "meta.yaml" in folder.files:
        # Read as a record of the run: it brings parameters, tags and how the run ended.
        found.append(folder.file("meta.yaml", Purpose.METRICS))
    artifacts = folder.folder("artifacts")
    if artifacts is not None:
        found.extend(
            RunFile(path, Purpose.CHECKPOINT, folder.root)
            for path in artifacts.walk_files()
            if is_checkpoint_name(os.path.basename(path))
        )
    return found


def newest_trainer_state(files: list[RunFile], root: str) -> list[RunFile]:
    """Without the older copies of Hugging Face's state: each holds all history before it."""
    states = [file for file in files if os.path.basename(file.path) == _STATE]
    if len(states) < 2:
        return files
    newest = max(states, key=lambda file: (_global_step(file.path, root), -len(file.path)))
    return [file for file in files if file is newest or file not in states]


def _global_step(path: str, root: str) -> int:
    numbered = _STEP_IN_NAME.fullmatch(os.path.basename(os.path.dirname(path)))
    if numbered:
        return int(numbered.group(1))
    try:
        with open_artifact_file(path, root) as file:
            step = _GLOBAL_STEP.search(file.read(1 << 16))
    except OSError:
        return -1
    return int(step.group(1)) if step else -1
