"""Print loops: pipes, brackets, logging lines, one line per epoch."""

from __future__ import annotations

from collections.abc import Callable

from ..trace import Entry
from ..voice import Log
from .shared import Clock, config_files, config_head, ordered, shown

Line = Callable[[Log, Entry, str], str]


def _loop(
    log: Log, line: Line, *, stamped: bool = False, file: str = "train.log"
) -> dict[str, str]:
    """Everything goes to one file; warnings and errors as well."""
    clock = Clock(log)
    lines = [*config_head(log), *log.preamble, *log.stderr]
    for entry in log.entries:
        now = clock.tick(entry)
        stamp = (
            f"{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03d} - INFO - " if stamped else ""
        )
        lines.append(stamp + line(log, entry, "") if entry.values else entry.text)
    if log.is_finished:
        end = f"{clock.now:%Y-%m-%d %H:%M:%S},999 - INFO - Training complete"
        lines.append(end if stamped else "Training finished.")
    return {file: "\n".join(lines) + "\n", **config_files(log)}


def write_pipes(log: Log) -> dict[str, str]:
    """`Epoch 3 | step 120 | loss 0.532 | lr 1.0e-03`."""

    def line(log: Log, entry: Entry, _: str) -> str:
        voice = log.voice
        epoch = (entry.step - voice.base) // log.steps_per_epoch
        head = f"Epoch {entry.step}" if voice.per_epoch else f"Epoch {epoch} | step {entry.step}"
        parts = [
            f"{voice.name(one)} {shown(one, entry.values[one], voice)}" for one in ordered(entry)
        ]
        return " | ".join([head, *parts])

    return _loop(log, line)


def write_logging(log: Log) -> dict[str, str]:
    """`2025-03-04 09:12:07,123 - INFO - step=120 loss=0.532`."""

    def line(log: Log, entry: Entry, _: str) -> str:
        voice = log.voice
        axis = "epoch" if voice.per_epoch else "step"
        parts = [
            f"{voice.name(one)}={shown(one, entry.values[one], voice)}" for one in ordered(entry)
        ]
        return " ".join([f"{axis}={entry.step}", *parts])

    return _loop(log, line, stamped=True, file="output.log")


def write_brackets(log: Log) -> dict[str, str]:
    """`[12/50][300/938] Loss: 0.532 Acc: 0.81`, validation on a line of its own."""
    epochs = max(1, -(-log.recipe.steps // log.steps_per_epoch))

    def line(log: Log, entry: Entry, _: str) -> str:
        voice = log.voice
        epoch, place = divmod(entry.step - voice.base, log.steps_per_epoch)
        names = {"loss": "Loss", "acc": "Acc", "lr": "LR", "d_loss": "Loss_D", "g_loss": "Loss_G"}
        parts = [
            f"{names.get(one, voice.name(one))}: {shown(one, entry.values[one], voice)}"
            for one in ordered(entry)
        ]
        if entry.kind == "eval":
            names_there = ", ".join(parts)
            return f"Validation [{entry.step}] {names_there}"
        return f"[{epoch}/{epochs}][{place}/{log.steps_per_epoch}] " + " ".join(parts)

    return _loop(log, line)


def write_epochs(log: Log) -> dict[str, str]:
    """`Epoch 3/20 - loss: 0.53 - val_loss: 0.61`: training and validation in one line."""
    merged: list[Entry] = []
    for entry in log.entries:
        if merged and entry.values and merged[-1].values and merged[-1].step == entry.step:
            merged[-1].values.update(entry.values)
        else:
            merged.append(
                Entry(entry.kind, entry.step, dict(entry.values), entry.text, entry.seconds)
            )
    log.entries = merged

    def line(log: Log, entry: Entry, _: str) -> str:
        voice = log.voice
        parts = [
            f"{voice.name(one)}: {shown(one, entry.values[one], voice)}" for one in ordered(entry)
        ]
        return " - ".join([f"Epoch {entry.step}/{log.total}", *parts])

    return _loop(log, line)
