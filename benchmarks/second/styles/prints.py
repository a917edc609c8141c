"""Loops that people write themselves: with loguru, or one line for each epoch."""

from __future__ import annotations

import json

from ..job import Row
from .sheet import Sheet, as_file, clock, fixed


def loguru(sheet: Sheet) -> dict[str, str]:
    """`2025-03-04 09:12:07.123 | INFO     | __main__:train:97 - step 10/400 loss=...`."""
    lines = []
    if sheet.has_config:
        lines.append(head(sheet, 0, "main:41") + f"config: {json.dumps(sheet.config)}")
    for row in sheet.rows:
        lines.append(loguru_line(sheet, row))
    if sheet.is_finished:
        lines.append(head(sheet, sheet.rows[-1].seconds + 1, "main:52") + "done")
    return {"train.log": as_file(lines)}


def head(sheet: Sheet, seconds: float, place: str, level: str = "INFO") -> str:
    """What loguru puts before a message."""
    return f"{clock(sheet.at(seconds), '.')} | {level:<8} | __main__:{place} - "


def loguru_line(sheet: Sheet, row: Row) -> str:
    """The line of a row."""
    if row.kind in ("train", "policy"):
        return head(sheet, row.seconds, "train:97") + step_text(sheet, row)
    if row.kind == "val":
        shown = " ".join(f"{name}={fixed(value)}" for name, value in row.values.items())
        start = head(sheet, row.seconds, "evaluate:128", "SUCCESS")
        return f"{start}eval step {row.step} {shown}"
    if row.kind == "resume":
        start = head(sheet, row.seconds, "load:63")
        return f"{start}resumed from ckpt/last.pt at step {row.step}"
    if row.kind == "overflow":
        scales = f"scale {row.values['from']:g} -> {row.values['to']:g}"
        start = head(sheet, row.seconds, "train:88", "WARNING")
        return f"{start}inf/nan in grads, step {row.step} skipped, {scales}"
    return head(sheet, row.seconds, "evaluate:133") + f"sample: {row.text!r}"


def step_text(sheet: Sheet, row: Row) -> str:
    """A step's values."""
    values = sheet.columns(row)
    line = f"step {row.step}/{sheet.job.steps if row.kind == 'train' else '-'}"
    if row.kind == "train":
        line += f" loss={fixed(values.pop('loss'))}"
        if "lr" in values:
            line += f" lr={values.pop('lr'):.2e}"
    for name, value in values.items():
        line += f" {name}={value:.4g}" if isinstance(value, float) else f" {name}={value}"
    return line


def epochs(sheet: Sheet) -> dict[str, str]:
    """One line for each epoch, which is what lies between two evaluations."""
    lines = [str(sheet.config)] if sheet.has_config else []
    size = sheet.job.eval_every
    for row in sheet.rows:
        if row.kind == "val":
            lines.append(epoch_line(sheet, row))
        elif row.kind == "resume":
            lines.append(f"=> loaded checkpoint 'last.pth' (epoch {row.step // size})")
    return {"train.log": as_file(lines)}


def epoch_line(sheet: Sheet, row: Row) -> str:
    """Means over the epoch, and its evaluation."""
    size = sheet.job.eval_every
    steps = [
        one.values
        for one in sheet.rows
        if one.kind == "train" and row.step - size < one.step <= row.step
    ]
    line = f"Epoch {row.step // size:02d}/{sheet.job.steps // size}"
    line += f" | train_loss {fixed(_mean(steps, 'loss'))}"
    if "acc" in sheet.signals and "train_acc" in steps[-1]:
        line += f" | train_acc {fixed(_mean(steps, 'train_acc'), 3)}"
    for name, value in row.values.items():
        line += f" | {name} {fixed(value, 4 if 'loss' in name else 3)}"
    if "lr" in sheet.signals:
        line += f" | lr {steps[-1]['lr']:.2e}"
    return line + f" | {_mean(steps, 'step_time') * size:.1f}s"


def _mean(steps: list[dict[str, float]], name: str) -> float:
    return sum(values[name] for values in steps) / len(steps)
