"""Makes one run: trains it, judges it against its clean twin, writes its log and its label."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.faults.truth import Truth

from .crashes import Crash, run_script
from .gate import BAR, effect
from .job import Job, Row
from .plan import Planned
from .policies import POLICIES
from .policies.actor_critic import STEPS
from .policies.q_learning import WALKERS
from .shows import loss_jumps
from .styles import STYLES, Sheet
from .tasks import TASKS
from .training import train

SPLIT = "second"
TUNED = ("sft", "rlhf")
"""Families that start from the pretrained weights."""
HEALTHY_SEEDS = (100, 101)
"""How far the seeds of two more healthy runs lie from the twin's."""
STEPS_OF_ROW = {"a2c": STEPS, "dqn": WALKERS}
"""World steps in a step of the job, where those are logged."""
NAMES = {
    "nanogpt": ("learning_rate", "max_iters"),
    "hf": ("learning_rate", "max_steps"),
    "trl": ("learning_rate", "max_steps"),
    "megatron": ("lr", "train_iters"),
    "sb3": ("learning_rate", "total_timesteps"),
}
"""How configurations of a style call rate and steps."""
OPTIMIZERS = {"sgd": "SGD(momentum=0.9)", "sgd0": "SGD", "adamw": "AdamW"}
PRECISIONS = {"fp16": "float16", "bf16_pure": "bfloat16", "fp16_pure": "float16"}


@dataclass
class Maker:
    """Makes runs in one folder."""

    out: Path

    @property
    def weights(self) -> Path:
        """Where the pretrained weights are kept."""
        return self.out / "pretrained.pt"

    def make(self, run: Planned | Crash) -> Truth:
        """One run with its files and its label; the label comes last."""
        files, truth = self.crash(run) if isinstance(run, Crash) else self.trained(run.drawn())
        partial = self.out / "runs" / f".{run.run_id}.part"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, text in files.items():
            (partial / name).write_bytes(text.encode())
        final = self.out / "runs" / run.run_id
        shutil.rmtree(final, ignore_errors=True)
        partial.rename(final)
        truth.write(self.out / "truth")
        return truth

    def crash(self, run: Crash) -> tuple[dict[str, str], Truth]:
        """A script that fails."""
        return run_script(run), run.truth(SPLIT)

    def trained(self, run: Planned) -> tuple[dict[str, str], Truth]:
        """A training, healthy or not."""
        rows = self.rows_of(run.job)
        truth = label(run, rows)
        if run.kind.is_gated and run.kind.verdict == "fault":
            truth.verdict, truth.effect = self.judge(run, rows)
        return written(run, rows), truth

    def rows_of(self, job: Job) -> list[Row]:
        """What a job logs."""
        if job.family in TUNED:
            job = replace(job, options={**job.options, "weights": str(self.weights)})
        return POLICIES.get(job.family, train)(job)

    def judge(self, run: Planned, rows: list[Row]) -> tuple[str, list[float]]:
        """The verdict of the effect gate and of the expert's eye."""
        clean = replace(run.job, fault=None, **run.twin)
        seeds = (0, *HEALTHY_SEEDS)
        healthy = [self.rows_of(replace(clean, seed=run.seed + seed)) for seed in seeds]
        found = effect(rows, healthy, frozenset(run.signals or ()), run.kind.rate_is_effect)
        verdict = "fault"
        if found < BAR:
            verdict = "inert"
        elif run.kind.shows is not None and not run.kind.shows(rows, healthy[0]):
            verdict = "ambiguous"
        return verdict, [found, BAR]


def written(run: Planned, rows: list[Row]) -> dict[str, str]:
    """The files of a run."""
    start = run.start(rows[-1].seconds)
    sheet = Sheet(
        run.job,
        rows,
        start,
        frozenset(run.signals or ()),
        config_of(run),
        bool(run.has_config),
        run.is_finished,
        f"exp{run.number:03d}",
    )
    files = STYLES[run.style](sheet)
    if run.ending:
        part, text = run.ending
        end = start + timedelta(seconds=rows[-1].seconds + run.ending_delay)
        stamp = f"{end:%m%d %H:%M:%S.%f}"
        text = text.format(job=run.job_id, end=f"{end:%Y-%m-%dT%H:%M:%S}", stamp=stamp)
        (name,) = [name for name in files if part in name]
        files[name] += text
    return files


def config_of(run: Planned) -> dict[str, Any]:
    """Settings as the user's configuration holds them."""
    job = run.job
    rate, steps = NAMES.get(run.style, ("lr", "steps"))
    usual = TASKS[job.family].usual_batch if job.family in TASKS else 16
    config = {
        rate: job.lr,
        steps: job.steps,
        "batch_size": job.options.get("batch", usual),
        "optimizer": OPTIMIZERS[job.optimizer],
        "lr_scheduler": job.schedule,
        "warmup_steps": job.warmup,
        "max_grad_norm": job.clip,
        "weight_decay": job.weight_decay,
        "grad_accum": job.accumulate,
        "seed": job.seed,
        "log_every": job.every,
    }
    if job.eval_every:
        config["eval_every"] = job.eval_every
    if job.precision in PRECISIONS:
        config["dtype"] = PRECISIONS[job.precision]
    if run.style == "slurm":
        config["job_id"] = run.job_id
    return config | run.config


def label(run: Planned, rows: list[Row]) -> Truth:
    """What is known of a run before anybody compares it."""
    kind, is_epochs = run.kind, run.style == "epochs"
    start = kind.onset(run.job) if kind.onset else None
    size = STEPS_OF_ROW.get(run.family, 1)
    findings = [*kind.findings]
    if start is not None and kind.if_loss_jumps and loss_jumps(rows, start):
        findings += kind.if_loss_jumps
    return Truth(
        run.run_id,
        kind.id,
        kind.verdict,
        SPLIT,
        run.family,
        run.seed,
        run.style,
        findings=findings,
        causes=[*kind.causes],
        done=[*kind.named],
        also=[*kind.also],
        onset=None if start is None else first_logged(rows, start * size),
        interval=1 if is_epochs else run.job.every * size,
        silent_seconds=run.silent_seconds,
        signals=sorted(run.signals or ()),
    )


def refreshed(run: Planned | Crash, truth: Truth) -> Truth:
    """The label of a run that is already made, with the answers that the plan has now."""
    if isinstance(run, Crash):
        return run.truth(SPLIT)
    kind = run.kind
    seen = [one for one in truth.findings if one in kind.if_loss_jumps]
    return replace(
        truth,
        findings=[*kind.findings, *seen],
        causes=[*kind.causes],
        done=[*kind.named],
        also=[*kind.also],
    )


def first_logged(rows: list[Row], step: int) -> int:
    """The first logged step at or after a step."""
    logged = [row.step for row in rows if row.kind in ("train", "policy")]
    return next((one for one in logged if one >= step), logged[-1])
