"""The dialects of known frameworks: dict lines, pipes with iterations, bars with values."""

from __future__ import annotations

import math

from ..voice import Log
from .shared import Clock, bar, config_files, config_head, ordered, shown

HF_NAMES = {
    "loss": "loss",
    "lr": "learning_rate",
    "grad_norm": "grad_norm",
    "val_loss": "eval_loss",
    "val_acc": "eval_accuracy",
    "val_reward": "eval_reward",
}


def write_hf(log: Log) -> dict[str, str]:
    """Dict lines between the states of a progress bar; steps stand in the bar alone."""
    clock, said = Clock(log), list(log.preamble)
    text = "".join(f"{line}\n" for line in [*config_head(log), *said, *log.stderr])
    for entry in log.entries:
        clock.tick(entry)
        if not entry.values:
            text += f"{entry.text}\n"
            continue
        done = entry.step - log.voice.base + 1
        record: dict[str, object] = {}
        for name in ordered(entry):
            value = entry.values[name]
            digits = value if not math.isfinite(value) else float(f"{value:.4g}")
            record[HF_NAMES.get(name, log.voice.name(name))] = digits
        record["epoch"] = round(done / log.steps_per_epoch, 2)
        text += "\r" + bar(done, log.recipe.steps, clock.elapsed) + "\n" + f"{record}\n"
    if log.is_finished:
        summary = {
            "train_runtime": round(clock.elapsed, 3),
            "epoch": round(log.recipe.steps / log.steps_per_epoch, 2),
        }
        text += (
            "\r" + bar(log.recipe.steps, log.recipe.steps, clock.elapsed) + "\n" + f"{summary}\n"
        )
    return {"train.log": text, **config_files(log)}


def write_megatron(log: Log) -> dict[str, str]:
    """` iteration 100/500 | consumed samples: ... | lm loss: 2.345678E+00 | ...`."""
    voice, lines = log.voice, [*config_head(log), *log.preamble, *log.stderr]
    main = "lm loss" if log.recipe.family == "chargpt" else "loss"
    for entry in log.entries:
        if not entry.values:
            lines.append(entry.text)
            continue
        number = entry.step - voice.base + 1
        values = dict(entry.values)
        if entry.kind == "eval":
            parts = [f" validation loss at iteration {number}"]
            for name in ordered(entry):
                label = f"{main} value" if name == "val_loss" else voice.name(name)
                parts.append(f"{label}: {values[name]:.6E}")
            line = " | ".join(parts) + " |"
            lines += ["-" * len(line), line, "-" * len(line)]
            continue
        parts = [
            f" iteration {number:8d}/{log.recipe.steps:8d}",
            f"consumed samples: {number * log.recipe.batch:12d}",
        ]
        seconds = values.pop("step_time", None)
        if seconds is not None:
            parts.append(f"elapsed time per iteration (ms): {seconds * 1000:.1f}")
        if "lr" in values:
            parts.append(f"learning rate: {values.pop('lr'):.6E}")
        parts.append(f"global batch size: {log.recipe.batch:5d}")
        for name in ordered(entry):
            if name == "loss":
                parts.append(f"{main}: {values.pop(name):.6E}")
        scale = values.pop("loss_scale", 1.0)
        parts.append(f"loss scale: {scale:.1f}")
        if "grad_norm" in values:
            parts.append(f"grad norm: {values.pop('grad_norm'):.3f}")
        parts += [
            f"{voice.name(name)}: {shown(name, value, voice)}" for name, value in values.items()
        ]
        skipped = int(entry.values.get("skipped", 0))
        parts += [f"number of skipped iterations: {skipped:3d}", "number of nan iterations:   0"]
        lines.append(" | ".join(parts) + " |")
    if log.is_finished:
        lines.append("[after training is done] datetime: 2025-03-05 02:11:40 ")
    return {"train.log": "\n".join(lines) + "\n", **config_files(log)}


def write_lightning(log: Log) -> dict[str, str]:
    """A bar that is redrawn in place, values in its tail, terminal colours now and then."""
    voice, clock = log.voice, Clock(log)
    size = log.steps_per_epoch
    text = "".join(f"{line}\n" for line in [*config_head(log), *log.preamble, *log.stderr])
    text += f"GPU available: False, used: False\n\n  | Name | Type | Params\n{'-' * 30}\n"
    known: dict[str, float] = {}
    epoch, elapsed = -1, 0.0
    for entry in log.entries:
        clock.tick(entry)
        if not entry.values:
            text += f"\n{entry.text}\n"
            continue
        now, place = divmod(entry.step - voice.base, size)
        if now != epoch:
            text += "\n" if epoch >= 0 else ""
            epoch, elapsed = now, clock.elapsed - entry.seconds
        known.update(entry.values)
        tail = "".join(f", {voice.name(one)}={_three(value)}" for one, value in known.items())
        line = bar(place + 1, size, clock.elapsed - elapsed, f"Epoch {now}: ", f", v_num=0{tail}")
        text += "\r" + line
    text += "\n"
    if log.is_finished:
        text += f"\x1b[36m`Trainer.fit` stopped: `max_steps={log.recipe.steps}` reached.\x1b[0m\n"
    log.config_style = "hparams"
    return {"lightning.log": text, **config_files(log)}


def _three(value: float) -> str:
    """Three digits, as the bar rounds them."""
    return (
        f"{value:.3g}" if abs(value) < 1000 else f"{value:.3e}" if value >= 1e5 else f"{value:.1f}"
    )
