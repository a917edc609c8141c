"""Stable-Baselines3's framed tables."""

from __future__ import annotations

from ..job import Row
from .sheet import Sheet, as_file

GROUPS = {
    "ep_len_mean": "rollout",
    "ep_rew_mean": "rollout",
    "exploration_rate": "rollout",
    "episodes": "time",
    "iterations": "time",
}


def sb3(sheet: Sheet) -> dict[str, str]:
    """A table for every logged iteration."""
    lines = []
    if sheet.has_config:
        lines.append("args: " + ", ".join(f"{k}={v}" for k, v in sheet.config.items()))
    lines.append("Using cpu device")
    for row in sheet.rows:
        lines += table(cells(sheet, row))
    return {"train.log": as_file(lines)}


def cells(sheet: Sheet, row: Row) -> list[tuple[str, str]]:
    """Names and values, under their groups' names."""
    groups: dict[str, dict[str, str]] = {"rollout": {}, "time": {}, "train": {}}
    for name, value in sheet.columns(row).items():
        shown = f"{value:.3g}" if isinstance(value, float) else str(value)
        groups[GROUPS.get(name, "train")][name] = shown
    groups["time"] |= {
        "fps": str(int(row.step / max(row.seconds, 1))),
        "time_elapsed": str(int(row.seconds)),
        "total_timesteps": str(row.step),
    }
    listed = []
    for group, values in groups.items():
        listed.append((f"{group}/", ""))
        listed += [(f"   {name}", value) for name, value in sorted(values.items())]
    return listed


def table(rows: list[tuple[str, str]]) -> list[str]:
    """The cells in a frame."""
    left, right = (max(len(row[side]) for row in rows) for side in (0, 1))
    frame = "-" * (left + right + 7)
    return [frame, *(f"| {name:<{left}} | {value:<{right}} |" for name, value in rows), frame]
