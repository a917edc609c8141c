"""Runs scripts that crash, and keeps what they really printed."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

from .crash import Crash
from .crashes import CRASHES

SCRIPTS: dict[str, Crash] = {one.id: one for one in CRASHES}
STYLES = ("plain", "jsonl", "slurm")
OUTPUTS = {
    "plain": ("train.log", "train.log"),
    "jsonl": ("stdout.log", "stderr.log"),
    "slurm": ("slurm-{job}.out", "slurm-{job}.err"),
}


def run_script(crash: Crash, seed: int, style: str) -> tuple[dict[str, str], int]:
    """The files that the script left behind, and the step at which it was made to fail."""
    rng = np.random.default_rng([seed, 41])
    fail_at = int(rng.integers(120, 260))
    config = {
        "model": "bag-classifier",
        "vocab_size": 50,
        "width": int(rng.choice([16, 24, 32])),
        "hidden": int(rng.choice([48, 64, 96])),
        "num_classes": 5,
        "optimizer": "adam",
        "learning_rate": float(rng.choice([0.001, 0.002, 0.003])),
        "batch_size": 32,
        "max_steps": 300,
        "log_every": int(rng.choice([5, 10])),
        "train_size": 2000,
        "seed": seed,
        **crash.config,
    }
    job = 511000 + seed * 37 + sum(map(ord, crash.id)) % 97
    names = [name.format(job=job) for name in OUTPUTS[style]]
    with tempfile.TemporaryDirectory(prefix="job-") as place:
        room = Path(place)
        (room / "train.py").write_text(crash.source(style, fail_at), "utf-8")
        (room / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
        child = multiprocessing.get_context("fork").Process(target=_execute, args=(room, *names))
        child.start()
        child.join(120)
        if child.is_alive():
            child.kill()
            raise RuntimeError(f"the script {crash.id} did not end within two minutes")
        kept = {
            name: (room / name).read_text("utf-8", "replace") for name in (*names, "config.json")
        }
        metrics = room / "metrics.jsonl"
        if metrics.exists() and metrics.stat().st_size:
            kept["metrics.jsonl"] = metrics.read_text("utf-8")
    # Where this checkout and interpreter live is nobody's business; neutral places read as well.
    for name, text in kept.items():
        for real, shown in (
            (sys.prefix, "/opt/venv"),
            (sys.base_prefix, "/usr"),
            (place, "/scratch/job"),
        ):
            text = text.replace(real, shown)
        kept[name] = text
    return kept, fail_at


def _execute(room: Path, out: str, err: str) -> None:
    """Run `train.py` as the interpreter would, in a child that already has torch."""
    os.chdir(room)
    for name, number in ((out, 1), (err, 2)):
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(file, number)
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    warnings.simplefilter("default", UserWarning)
    path = room / "train.py"
    status = 0
    try:
        exec(compile(path.read_text("utf-8"), str(path), "exec"), {"__name__": "__main__"})
    except Exception as problem:  # noqa: BLE001 - whatever it is, the interpreter would print it
        inner = problem.__traceback__.tb_next if problem.__traceback__ else None
        traceback.print_exception(type(problem), problem, inner)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
