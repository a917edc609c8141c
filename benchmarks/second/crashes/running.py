"""Runs a script as a user would, and keeps what it printed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from .crash import Crash

LIMIT = 180
"""Seconds after which a script has gone wrong in another way than planned."""
HOMES = ("mira/proj/tagger", "jl4412/exp/seq", "kthomas/nlp-course", "data/train")
LAUNCHER = ("-m", "torch.distributed.run", "--standalone")


def run_script(crash: Crash) -> dict[str, str]:
    """The files that it leaves; a script that does not fail is an error."""
    start = [sys.executable]
    if crash.ranks > 1:
        start += [*LAUNCHER, f"--nproc_per_node={crash.ranks}"]
    with tempfile.TemporaryDirectory(prefix="job-") as place:
        (Path(place) / "train.py").write_text(crash.source(), "utf-8")
        ended = subprocess.run(
            [*start, "train.py"],
            cwd=place,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    if not ended.returncode:
        raise RuntimeError(f"the script {crash.id} did not fail")
    home = "/home/" + random.Random(crash.seed).choice(HOMES)
    said, complained = (neutral(text, place, home) for text in (ended.stdout, ended.stderr))
    if crash.ranks > 1:
        return {"torchrun.log": said + complained}
    if crash.number % 3:
        return {"train.log": said + complained}
    job = 610000 + 77 * crash.number
    return {f"slurm-{job}.out": said, f"slurm-{job}.err": complained}


def neutral(text: str, place: str, home: str) -> str:
    """The same with places of a user's machine instead of this one's."""
    for real, shown in (
        (place, home),
        (sys.prefix, "/opt/venv"),
        (sys.base_prefix, "/usr"),
        ("/dev/full", "checkpoints/step_250.pt"),
    ):
        text = text.replace(real, shown)
    return text
