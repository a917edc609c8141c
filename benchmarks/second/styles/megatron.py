"""Megatron-LM's log."""

from __future__ import annotations

import math

from ..job import Row
from .sheet import Sheet, as_file

STAMP = "%Y-%m-%d %H:%M:%S"


def megatron(sheet: Sheet) -> dict[str, str]:
    """One long line per logged iteration."""
    lines = opening(sheet)
    for row in sheet.rows:
        if row.kind == "train":
            lines.append(iteration(sheet, row))
        elif row.kind == "val":
            lines += evaluation(row)
        elif row.kind == "resume":
            loading = f"checkpoint from checkpoints at iteration {row.step}"
            lines += [f" loading {loading}", f"  successfully loaded {loading}"]
    if sheet.is_finished:
        end = sheet.at(sheet.rows[-1].seconds)
        lines.append(f"[after training is done] datetime: {end:{STAMP}} ")
    return {"train.log": as_file(lines)}


def opening(sheet: Sheet) -> list[str]:
    """The arguments, if they are shown, and the start."""
    lines = []
    if sheet.has_config:
        arguments = sorted(sheet.config.items())
        lines += [
            "------------------------ arguments ------------------------",
            *(f"  {name} {'.' * (44 - len(name))} {value}" for name, value in arguments),
            "-------------------- end of arguments ---------------------",
        ]
    return [
        *lines,
        "> building train, validation, and test datasets for GPT ...",
        f"[before the start of training step] datetime: {sheet.start:{STAMP}}",
        "training ...",
    ]


def iteration(sheet: Sheet, row: Row) -> str:
    """The line of an iteration; a loss that is not finite is left out, as Megatron does."""
    values = sheet.columns(row)
    is_nan = not math.isfinite(values["loss"])
    skipped = int(values.get("skipped", 0))
    parts = [
        f" [{sheet.at(row.seconds):{STAMP}}] iteration {row.step:8d}/{sheet.job.steps:8d}",
        f"consumed samples: {row.step * sheet.batch_size:12d}",
        f"elapsed time per iteration (ms): {row.values['step_time'] * 1000:.1f}",
        f"learning rate: {row.values['lr']:.6E}",
        f"global batch size: {sheet.batch_size:5d}",
    ]
    if not is_nan:
        parts.append(f"lm loss: {values['loss']:.6E}")
    parts.append(f"loss scale: {values.get('loss_scale', 1.0):.1f}")
    if "grad_norm" in values:
        parts.append(f"grad norm: {values['grad_norm']:.3f}")
    if "num_zeros" in values:
        parts.append(f"num zeros: {values['num_zeros']:.1f}")
    extras = sheet.extras(row).items()
    parts += [f"{name.replace('_', ' ')}: {value:.6E}" for name, value in extras]
    parts.append(f"number of skipped iterations: {skipped:3d}")
    parts.append(f"number of nan iterations: {int(is_nan and not skipped):3d} |")
    return " | ".join(parts)


def evaluation(row: Row) -> list[str]:
    """The framed line of an evaluation."""
    loss = row.values.get("val_loss", math.nan)
    perplexity = math.exp(min(loss, 20)) if math.isfinite(loss) else loss
    frame = "-" * 100
    head = f" validation loss at iteration {row.step}"
    shown = f"lm loss value: {loss:.6E} | lm loss PPL: {perplexity:.6E} | "
    return [frame, f"{head} | {shown}", frame]
