"""What several dialects need: numbers, clocks, bars and configuration files."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from ..trace import Entry
from ..voice import Log, Voice

START = datetime(2025, 3, 4, 9, 12, 7, tzinfo=UTC)


def shown(signal: str, value: float, voice: Voice) -> str:
    """A number as a print loop formats it."""
    if not math.isfinite(value):
        return str(value)
    if signal in ("lr", "update_ratio"):
        return f"{value:.3e}"
    if signal in ("memory", "throughput"):
        return f"{value:.1f}"
    if signal in ("loss_scale", "modes"):
        return f"{value:g}"
    if signal.startswith("layer:"):
        return f"{value:.3e}"
    if abs(value) >= 1e5:
        return f"{value:.3e}"
    return f"{value:.{voice.decimals}f}"


def ordered(entry: Entry) -> list[str]:
    """The signals of an entry, objectives first."""
    rank = {"loss": 0, "d_loss": 0, "g_loss": 1, "val_loss": 1, "reward": 1, "acc": 2, "lr": 3}
    return sorted(entry.values, key=lambda name: rank.get(name, 9))


class Clock:
    """Wall time that moves with the entries."""

    def __init__(self, log: Log) -> None:
        self.now = START + timedelta(hours=sum(map(ord, log.run_id)) % 600)
        self.elapsed = 0.0

    def tick(self, entry: Entry) -> datetime:
        """The time of an entry."""
        self.elapsed += entry.seconds
        self.now += timedelta(seconds=entry.seconds)
        return self.now


def bar(done: int, total: int, elapsed: float, label: str = "", tail: str = "") -> str:
    """One state of a progress bar."""
    share = done / max(1, total)
    cells = share * 10
    full = int(cells)
    part = " ▏▎▍▌▋▊▉"[int((cells - full) * 8)] if full < 10 else ""
    drawn = ("█" * full + part).ljust(10)
    rate = done / elapsed if elapsed > 0 else 0.0
    left = (total - done) / rate if rate else 0.0
    pace = f"{rate:.2f}it/s" if rate >= 1 else f"{1 / rate:.2f}s/it" if rate else "?it/s"
    return (
        f"{label}{share:4.0%}|{drawn}| {done}/{total} "
        f"[{_minutes(elapsed)}<{_minutes(left)}, {pace}{tail}]"
    )


def _minutes(seconds: float) -> str:
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    text = f"{rest // 60:02d}:{rest % 60:02d}"
    return f"{hours}:{text}" if hours else text


def config_files(log: Log) -> dict[str, str]:
    """The configuration beside the log, in the project's style."""
    if log.config_style == "json":
        return {"config.json": json.dumps(log.config, indent=2) + "\n"}
    if log.config_style == "yaml":
        return {"config.yaml": yaml.safe_dump(log.config, sort_keys=False)}
    if log.config_style == "hparams":
        flat = {**log.config}
        flat.update(_flat(flat.pop("model"), "model"))
        return {"hparams.yaml": yaml.safe_dump(flat, sort_keys=True)}
    return {}


def config_head(log: Log) -> list[str]:
    """The configuration as the script prints it, where it does."""
    if log.config_style == "namespace":
        flat = {**_flat(log.config["model"], "model"), **log.config}
        flat.pop("model"), flat.pop("data", None)
        return ["Namespace(" + ", ".join(f"{key}={value!r}" for key, value in flat.items()) + ")"]
    if log.config_style == "lines":
        flat = {**log.config}
        flat.update(_flat(flat.pop("model"), "model"))
        flat.pop("data", None)
        return ["arguments:", *(f"  {key}: {value}" for key, value in flat.items())]
    return []


def _flat(nested: Any, prefix: str) -> dict[str, Any]:
    return {f"{prefix}_{key}": value for key, value in dict(nested).items()}
