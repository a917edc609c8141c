"""The prints of nanoGPT's training script."""

from __future__ import annotations

import math

from ..job import Row
from .sheet import Sheet, as_file, fixed


def nanogpt(sheet: Sheet) -> dict[str, str]:
    """`iter 10: loss ...` and `step 100: train loss ..., val loss ...`."""
    lines = opening(sheet)
    best = math.inf
    for row in sheet.rows:
        if row.kind == "train":
            lines.append(iteration(sheet, row))
        elif row.kind == "val":
            lines.append(evaluation(sheet, row))
            if row.values.get("val_loss", math.inf) < best:
                best = row.values["val_loss"]
                lines.append("saving checkpoint to out")
        elif row.kind == "resume":
            lines.append("Resuming training from out")
    return {"train.log": as_file(lines)}


def opening(sheet: Sheet) -> list[str]:
    """What is said before the first step."""
    begun = "Initializing a new model from scratch"
    if sheet.job.family == "sft":
        begun = "Resuming training from out/ckpt.pt"
    lines = []
    if sheet.has_config:
        shown = list(sheet.config.items())[:6]
        lines += [f"Overriding: {name} = {value}" for name, value in shown]
    return [
        *lines,
        f"tokens per iteration will be: {sheet.batch_size * 32:,}",
        begun,
        "number of parameters: 0.03M",
        "num decayed parameter tensors: 10, with 26,624 parameters",
        "num non-decayed parameter tensors: 18, with 1,120 parameters",
        "using fused AdamW: False",
    ]


def iteration(sheet: Sheet, row: Row) -> str:
    """The line of a step."""
    values, usual = sheet.columns(row), sheet.job.step_seconds
    use = -100 if row.step < 5 else 0.31 * usual / row.values["step_time"]
    line = f"iter {row.step}: loss {fixed(values['loss'])}"
    line += f", time {values.get('step_time', usual) * 1000:.2f}ms, mfu {use:.2f}%"
    if "lr" in values:
        line += f", lr {values['lr']:.4e}"
    if "grad_norm" in values:
        line += f", norm {fixed(values['grad_norm'])}"
    return line


def evaluation(sheet: Sheet, row: Row) -> str:
    """The line of an evaluation."""
    earlier = [one for one in sheet.rows if one.kind == "train" and one.step <= row.step][-5:]
    train = sum(one.values["loss"] for one in earlier) / len(earlier)
    held = row.values.get("val_loss", math.nan)
    line = f"step {row.step}: train loss {fixed(train)}, val loss {fixed(held)}"
    if "old_loss" in row.values:
        line += f", pretrain val loss {fixed(row.values['old_loss'])}"
    return line
