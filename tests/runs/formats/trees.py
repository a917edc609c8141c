"""Directory trees with files whose contents suit their names, and what is found in them."""

from __future__ import annotations

import os
from pathlib import Path

from mltd.runs.discovery import RunFiles, discover
from tests.runs.formats.samples import EVENTS, METRIC, TABLE, TRAINER_STATE, WANDB

LOG = b"epoch 1 loss 2.5\nepoch 2 loss 2.25\n"
JSON_LINES = b'{"iteration": 19, "total_loss": 2.0, "lr": 1e-5}\n'
WEIGHTS = b"PK\x03\x04" + bytes(64)
CONTENTS = {
    ".csv": TABLE,
    ".wandb": WANDB,
    ".jsonl": JSON_LINES,
    ".json": JSON_LINES,
    ".pt": WEIGHTS,
    ".pth": WEIGHTS,
    ".ckpt": WEIGHTS,
    ".safetensors": WEIGHTS,
    ".bin": WEIGHTS,
}


def make(root: Path, *names: str) -> Path:
    """Create files with contents that suit their names; `name/` is an empty folder."""
    for name in names:
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        content = CONTENTS.get(path.suffix, LOG)
        if "tfevents" in name:
            content = EVENTS
        elif path.name == "trainer_state.json":
            content = TRAINER_STATE
        elif path.name in ("config.json", "args.json", "wandb-metadata.json", "params.json"):
            content = b'{"lr": 0.1}'
        elif "/metrics/" in name and not path.suffix:
            content = METRIC
        path.write_bytes(content)
    return root


def shown(run: RunFiles, root: Path) -> dict[str, list[str]]:
    """Purpose to paths, relative and sorted."""
    found: dict[str, list[str]] = {}
    for file in run.files:
        found.setdefault(str(file.purpose), []).append(os.path.relpath(file.path, root))
    return found


def only(what: Path) -> dict[str, list[str]]:
    """The files of the one run that a directory holds."""
    (run,) = discover(str(what))
    return shown(run, what)


def names(what: Path | str) -> list[str]:
    return [run.name for run in discover(str(what))]
