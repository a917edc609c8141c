"""Hugging Face's Trainer and TRL: dictionaries among progress bars."""

from __future__ import annotations

import math
from datetime import timedelta

from ..job import Row
from .sheet import Sheet, as_file

BAR_EVERY = 7
"""Logged steps between two redraws that end in the file."""
EPOCHS = 3


def hf(sheet: Sheet) -> dict[str, str]:
    """The Trainer's log."""
    return {"train.log": as_file(trainer_lines(sheet, is_trl=False))}


def trl(sheet: Sheet) -> dict[str, str]:
    """The same with what TRL adds."""
    return {"train.log": as_file(trainer_lines(sheet, is_trl=True))}


def trainer_lines(sheet: Sheet, is_trl: bool) -> list[str]:
    """All lines of the log."""
    lines = opening(sheet) if sheet.has_config else []
    losses: list[float] = []
    for row in sheet.rows:
        if row.kind == "train":
            logged = step_values(sheet, row, is_trl)
            losses.append(logged["loss"])
            is_redrawn = len(losses) % BAR_EVERY == 1
            redrawn = f"{bar(sheet, row)}\n{' ' * 46}\n" if is_redrawn else ""
            lines.append(redrawn + str(logged))
        elif row.kind == "val":
            lines.append(str(evaluation_values(sheet, row)))
        elif row.kind == "resume":
            lines += resumption(sheet, row)
        elif row.kind == "sample":
            lines.append(f"generated: {row.text!r}")
    if sheet.is_finished:
        lines.append(str(summary(sheet, losses)) + bar(sheet, sheet.rows[-1]) + "\n")
    return lines


def epoch_of(sheet: Sheet, step: int) -> float:
    """How many epochs a step is from the start."""
    return round(step / max(1, sheet.job.steps // EPOCHS), 2)


def opening(sheet: Sheet) -> list[str]:
    """What the Trainer says of itself."""
    job, size = sheet.job, sheet.batch_size
    parallel = "(w. parallel, distributed & accumulation)"
    return [
        "***** Running training *****",
        f"  Num examples = {job.steps // EPOCHS * size:,}",
        f"  Num Epochs = {math.ceil(epoch_of(sheet, job.steps))}",
        f"  Instantaneous batch size per device = {size}",
        f"  Total train batch size {parallel} = {size * job.accumulate}",
        f"  Gradient Accumulation steps = {job.accumulate}",
        f"  Total optimization steps = {job.steps:,}",
    ]


def step_values(sheet: Sheet, row: Row, is_trl: bool) -> dict[str, float]:
    """A logged step; the Trainer writes 0.0 where a loss is not finite."""
    values = sheet.columns(row)
    loss = round(values["loss"], 4) if math.isfinite(values["loss"]) else 0.0
    logged = {"loss": loss}
    if "grad_norm" in values:
        logged["grad_norm"] = values["grad_norm"]
    logged["learning_rate"] = row.values["lr"]
    if is_trl:
        logged["num_tokens"] = float(row.step * 512)
    logged |= {name: round(value, 4) for name, value in sheet.extras(row).items()}
    if "train_acc" in values:
        logged["mean_token_accuracy"] = values["train_acc"]
    return logged | {"epoch": epoch_of(sheet, row.step)}


def evaluation_values(sheet: Sheet, row: Row) -> dict[str, float]:
    """A logged evaluation."""
    seconds = sheet.job.step_seconds * 12
    named = {f"eval_{name.removeprefix('val_')}": value for name, value in row.values.items()}
    return {name: round(value, 4) for name, value in named.items()} | {
        "eval_runtime": round(seconds, 4),
        "eval_samples_per_second": round(160 / seconds, 3),
        "eval_steps_per_second": round(10 / seconds, 3),
        "epoch": epoch_of(sheet, row.step),
    }


def resumption(sheet: Sheet, row: Row) -> list[str]:
    """How the Trainer goes on from a checkpoint."""
    return [
        f"Loading model from checkpoint-{row.step}.",
        "Continuing training from checkpoint, will skip to saved global_step",
        f"  Continuing training from epoch {int(epoch_of(sheet, row.step))}",
        f"  Continuing training from global step {row.step}",
    ]


def summary(sheet: Sheet, losses: list[float]) -> dict[str, float]:
    """The last dictionary."""
    seconds, steps = sheet.rows[-1].seconds, sheet.job.steps
    return {
        "train_runtime": round(seconds, 4),
        "train_samples_per_second": round(16 * steps / seconds, 3),
        "train_steps_per_second": round(steps / seconds, 3),
        "train_loss": sum(losses) / len(losses),
        "epoch": epoch_of(sheet, steps),
    }


def bar(sheet: Sheet, row: Row) -> str:
    """A progress bar at a step."""
    done, steps = int(100 * row.step / sheet.job.steps), sheet.job.steps
    drawn = "█" * (done // 10) + " " * (10 - done // 10)
    left = row.seconds / max(1, row.step) * (steps - row.step)
    speed = max(1, row.step) / max(row.seconds, 0.1)
    times = f"{_minutes(row.seconds)}<{_minutes(left)}"
    return f"\r{done:3d}%|{drawn}| {row.step}/{steps} [{times}, {speed:.2f}it/s]"


def _minutes(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))[2:]
