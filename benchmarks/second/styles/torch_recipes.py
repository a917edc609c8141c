"""torchtitan's coloured log and torchtune's file log."""

from __future__ import annotations

import json
import math

from ..job import Row
from .sheet import Sheet, as_file, as_yaml, clock, fixed

RED, GREEN, YELLOW, BLUE, PINK, CYAN, PLAIN = (
    f"\x1b[{code}m" for code in (31, 32, 33, 34, 35, 36, 39)
)
ORANGE, TURQUOISE = "\x1b[38;2;180;60;0m", "\x1b[38;2;54;234;195m"
GIBIBYTES = 24


def torchtitan(sheet: Sheet) -> dict[str, str]:
    """One coloured line per logged step."""
    job = sheet.job
    lines = [titan_line(sheet, 0, f"Starting job: {sheet.name}")]
    if sheet.has_config:
        lines.append(titan_line(sheet, 0, f"Running with args: {json.dumps(sheet.config)}"))
    size = f"{BLUE}Model {RED}size: 27,744 total parameters{PLAIN}"
    planned = f"total steps {job.steps} (warmup {job.warmup})"
    start = f"Training starts at step 1, with local batch size {sheet.batch_size}"
    lines += [
        titan_line(sheet, 0.4, "Building tiny model"),
        titan_line(sheet, 0.8, size),
        titan_line(sheet, 1, f"{start}, sequence length 32, {planned}"),
    ]
    for row in sheet.rows:
        if row.kind == "train":
            lines.append(titan_line(sheet, row.seconds, titan_step(sheet, row)))
        elif row.kind == "val":
            loss = fixed(row.values.get("val_loss", math.nan))
            text = f"{GREEN}validate step: {row.step:2d}  {YELLOW}loss: {loss}{PLAIN}"
            lines.append(titan_line(sheet, row.seconds, text))
        elif row.kind == "resume":
            text = f"Loading the checkpoint from outputs/checkpoint/step-{row.step}."
            lines.append(titan_line(sheet, row.seconds, text))
    if sheet.is_finished:
        lines.append(titan_line(sheet, sheet.rows[-1].seconds + 2, "Training completed"))
    return {"train.log": as_file(lines)}


def titan_line(sheet: Sheet, seconds: float, text: str) -> str:
    """A line of its logger."""
    return f"[titan] {clock(sheet.at(seconds))} - root - INFO - {text}"


def titan_step(sheet: Sheet, row: Row) -> str:
    """The columns of a step."""
    values, raw = sheet.columns(row), row.values
    parts = [
        f"{RED}step: {row.step:2d}",
        f"{GREEN}loss: {fixed(values['loss'], 5):>8}",
    ]
    if "grad_norm" in values:
        parts.append(f"{ORANGE}grad_norm: {fixed(values['grad_norm']):>7}")
    share = 100 * raw["mem"] / GIBIBYTES
    parts += [
        f"{TURQUOISE}memory: {raw['mem']:5.2f}GiB({share:.2f}%)",
        f"{BLUE}tps: {round(raw['tps']):,}",
        f"{CYAN}tflops: {raw['tps'] / 5e4:.2f}",
        f"{PINK}mfu: {raw['tps'] / 3e4:.2f}%{PLAIN}",
    ]
    if "lr" in values:
        parts.append(f"lr: {values['lr']:.3e}")
    return "  ".join(parts)


def torchtune(sheet: Sheet) -> dict[str, str]:
    """Unrounded values after `Step N |`."""
    lines = []
    logger = "INFO:torchtune.utils._logging:"
    if sheet.has_config:
        resolved = "Running FullFinetuneRecipe with resolved config:"
        lines.append(f"{logger}{resolved}\n\n{as_yaml(sheet.config)}")
    for row in sheet.rows:
        if row.kind == "train":
            lines.append(tune_step(sheet, row))
        elif row.kind == "val":
            shown = " ".join(f"{name}:{value}" for name, value in row.values.items())
            lines.append(f"Step {row.step} | {shown} ")
        elif row.kind == "resume":
            lines.append(f"{logger}Resuming from checkpoint at step {row.step}")
    return {"log.txt": as_file(lines)}


def tune_step(sheet: Sheet, row: Row) -> str:
    """The line of a step."""
    values, raw = sheet.columns(row), row.values
    shown = {
        "loss": values["loss"],
        "lr": raw["lr"],
        "tokens_per_second_per_gpu": raw["tps"],
    }
    if "grad_norm" in values:
        shown["grad_norm"] = values["grad_norm"]
    if "mem" in values:
        for kind, share in (("active", 1.0), ("alloc", 0.99), ("reserved", 1.15)):
            shown[f"peak_memory_{kind}"] = values["mem"] * share
    shown |= sheet.extras(row)
    return f"Step {row.step} | " + " ".join(f"{name}:{x}" for name, x in shown.items()) + " "
