"""Per-step CSV and JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math

from ..voice import Log
from .shared import Clock, config_files, config_head


def write_csv(log: Log) -> dict[str, str]:
    """One row per training step or evaluation; blanks where a value is of the other kind."""
    voice = log.voice
    names: dict[str, None] = {}
    for entry in log.entries:
        names.update(dict.fromkeys(entry.values))
    axis = "epoch" if voice.per_epoch else "step"
    columns = [axis, *([] if voice.per_epoch else ["epoch"]), *(voice.name(one) for one in names)]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for entry in log.entries:
        if not entry.values:
            continue
        row: dict[str, object] = {axis: entry.step}
        if not voice.per_epoch:
            row["epoch"] = (entry.step - voice.base) // log.steps_per_epoch
        row.update({voice.name(name): f"{value:.6g}" for name, value in entry.values.items()})
        writer.writerow(row)
    return {"metrics.csv": text.getvalue(), **_side_files(log)}


def write_jsonl(log: Log) -> dict[str, str]:
    """One object a line, as Python's json writes it, NaN included."""
    voice, clock, lines = log.voice, Clock(log), []
    for entry in log.entries:
        now = clock.tick(entry)
        if not entry.values:
            continue
        record: dict[str, object] = {"epoch" if voice.per_epoch else "step": entry.step}
        for name, value in entry.values.items():
            record[voice.name(name)] = float(f"{value:.6g}") if math.isfinite(value) else value
        record["time"] = round(now.timestamp(), 2)
        lines.append(json.dumps(record))
    return {"log.jsonl": "\n".join(lines) + "\n", **_side_files(log)}


def _side_files(log: Log) -> dict[str, str]:
    """Configuration, and standard output and error where anything was said there."""
    files = config_files(log)
    said = [*config_head(log), *log.preamble]
    said += [one.text for one in log.entries if one.kind in ("text", "resume")]
    if log.is_finished and said:
        said.append("training finished")
    if said:
        files["stdout.log"] = "\n".join(said) + "\n"
    errors = log.stderr + [one.text for one in log.entries if one.kind == "stderr"]
    if errors:
        files["stderr.log"] = "\n".join(errors) + "\n"
    return files
