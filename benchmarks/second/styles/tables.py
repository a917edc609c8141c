"""Metrics as JSON lines or as a table."""

from __future__ import annotations

import json
from typing import Any

from ..job import Row
from .sheet import Sheet, as_file, as_yaml


def jsonl(sheet: Sheet) -> dict[str, str]:
    """One object for each logged step or evaluation, and a configuration beside it."""
    lines = [
        json.dumps(json_values(sheet, row))
        for row in sheet.rows
        if row.kind in ("train", "policy", "val")
    ]
    files = {"metrics.jsonl": as_file(lines)}
    if sheet.has_config:
        files["config.json"] = json.dumps(sheet.config, indent=2) + "\n"
    return files


def json_values(sheet: Sheet, row: Row) -> dict[str, Any]:
    """A row under prefixed names."""
    prefix = "val" if row.kind == "val" else "train"
    named = {
        name if "/" in name else f"{prefix}/{name.removeprefix(f'{prefix}_')}": value
        for name, value in sheet.columns(row).items()
    }
    return {"step": row.step, **named, "_timestamp": sheet.at(row.seconds).timestamp()}


def tsv(sheet: Sheet) -> dict[str, str]:
    """Columns between tabulators."""
    return table(sheet, "\t", "results.tsv")


def csv(sheet: Sheet) -> dict[str, str]:
    """Columns between commas."""
    return table(sheet, ",", "metrics.csv")


def table(sheet: Sheet, separator: str, name: str) -> dict[str, str]:
    """All steps under one header; what a step does not have stays empty."""
    steps: dict[int, dict[str, float]] = {}
    for row in sheet.rows:
        if row.kind in ("train", "policy", "val"):
            steps.setdefault(row.step, {"step": row.step}).update(sheet.columns(row))
    columns = list(dict.fromkeys(column for values in steps.values() for column in values))
    lines = [separator.join(columns)]
    for values in steps.values():
        lines.append(separator.join(_cell(values.get(column)) for column in columns))
    files = {name: as_file(lines)}
    if sheet.has_config:
        files["config.yaml"] = as_yaml(sheet.config)
    return files


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
