"""fairseq's JSON log lines."""

from __future__ import annotations

import json
import math
from typing import Any

from ..job import Row
from .sheet import Sheet, as_file, fixed

EPOCHS = 4
BITS = math.log(2)


def fairseq(sheet: Sheet) -> dict[str, str]:
    """Losses in bits, most values as strings, as fairseq writes them."""
    lines = []
    if sheet.has_config:
        job = sheet.job
        common = {"log_interval": job.every, "log_format": "json", "seed": job.seed}
        config = {"common": common, "optimization": sheet.config}
        lines.append(said(sheet, 0, "fairseq_cli.train", str(config)))
    lines.append(said(sheet, 1, "fairseq.trainer", "begin training epoch 1"))
    lines.append(said(sheet, 1, "fairseq_cli.train", "Start iterating over samples"))
    epoch = 1
    for row in sheet.rows:
        if row.kind == "train" and epoch_of(sheet, row) > epoch:
            epoch = epoch_of(sheet, row)
            begun = f"begin training epoch {epoch}"
            lines.append(said(sheet, row.seconds, "fairseq.trainer", begun))
        lines += row_lines(sheet, row)
    if sheet.is_finished:
        end = sheet.rows[-1].seconds
        lines.append(said(sheet, end, "fairseq_cli.train", f"done training in {end:.1f} seconds"))
    return {"train.log": as_file(lines)}


def said(sheet: Sheet, seconds: float, place: str, text: str) -> str:
    """A line of its logger."""
    return f"{sheet.at(seconds):%Y-%m-%d %H:%M:%S} | INFO | {place} | {text}"


def steps_per_epoch(sheet: Sheet) -> int:
    """Updates in an epoch."""
    return max(1, sheet.job.steps // EPOCHS)


def epoch_of(sheet: Sheet, row: Row) -> int:
    """The epoch of a row, counted from one."""
    return max(1, math.ceil(row.step / steps_per_epoch(sheet)))


def row_lines(sheet: Sheet, row: Row) -> list[str]:
    """The line of a row, if it has one."""
    if row.kind == "train":
        place, text = "train_inner", json.dumps(update_values(sheet, row))
    elif row.kind == "val":
        place, text = "valid", json.dumps(evaluation_values(sheet, row))
    elif row.kind == "overflow":
        place = "fairseq.trainer"
        note = "NOTE: gradient overflow detected, ignoring gradient"
        text = f"{note}, setting loss scale to: {row.values['to']}"
    elif row.kind == "resume":
        place = "fairseq.trainer"
        where = f"(epoch {epoch_of(sheet, row)} @ {row.step} updates)"
        text = f"Loaded checkpoint checkpoints/checkpoint_last.pt {where}"
    else:
        return []
    return [said(sheet, row.seconds, place, text)]


def update_values(sheet: Sheet, row: Row) -> dict[str, Any]:
    """What is logged of an update."""
    values, raw = sheet.columns(row), row.values
    bits = values["loss"] / BITS
    logged: dict[str, Any] = {
        "epoch": epoch_of(sheet, row),
        "update": round(row.step / steps_per_epoch(sheet), 3),
        "loss": fixed(bits, 3),
        "ppl": fixed(2 ** min(bits, 60), 2) if math.isfinite(bits) else str(bits),
        "wps": fixed(raw["tps"], 1),
        "ups": fixed(1 / raw["step_time"], 2),
        "wpb": "512",
        "bsz": str(sheet.batch_size),
        "num_updates": str(row.step),
        "lr": f"{raw['lr']:.6g}",
    }
    if "grad_norm" in values:
        logged["gnorm"] = fixed(values["grad_norm"], 3)
    if "loss_scale" in values:
        logged["loss_scale"] = f"{values['loss_scale']:g}"
    if "train_acc" in values:
        logged["accuracy"] = fixed(100 * values["train_acc"], 2)
    logged |= {name: fixed(value, 3) for name, value in sheet.extras(row).items()}
    return logged | {
        "train_wall": str(int(raw["step_time"] * sheet.job.every)),
        "gb_free": fixed(24 - raw["mem"], 1),
        "wall": str(int(row.seconds)),
    }


def evaluation_values(sheet: Sheet, row: Row) -> dict[str, Any]:
    """What is logged of an evaluation."""
    rest = {name: value for name, value in row.values.items() if name != "val_loss"}
    return {
        "epoch": epoch_of(sheet, row),
        "valid_loss": fixed(row.values.get("val_loss", math.nan) / BITS, 3),
        "valid_num_updates": str(row.step),
        **{f"valid_{name.removeprefix('val_')}": fixed(value, 3) for name, value in rest.items()},
    }
