"""Makes the map from raw scores to shares of right answers, from the development split."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from mltd.analyzers.core import calibration

from .score import judge
from .truth import read_truths

HERE = Path(calibration.__file__).with_name("calibration.json")
LEAST = 40
"""Answers that a level of the map must rest on."""
PRIOR = 6.0
"""Answers that the raw score itself counts for, so that few answers change little."""


def collect(data: Path) -> dict[str, list[tuple[float, bool]]]:
    """Raw score and correctness of every claim, by kind and basis."""
    groups: dict[str, list[tuple[float, bool]]] = {}
    for truth in read_truths(data, "dev"):
        if truth.verdict == "ambiguous":
            continue
        judged = judge((truth, data))
        right = {*truth.findings, *truth.also}
        for found in judged.findings:
            if truth.verdict != "unobservable":
                name = f"finding/{found['basis']}"
                groups.setdefault(name, []).append((found["confidence"], found["id"] in right))
        for best in judged.causes[:1]:
            # One map for all causes, so that it never changes their order.
            groups.setdefault("cause", []).append((best["confidence"], best["id"] in truth.done))
    return groups


def isotonic(pairs: list[tuple[float, bool]]) -> tuple[list[float], list[float]]:
    """Never-falling shares of right answers, each over enough answers."""
    ordered = sorted(pairs)
    blocks: list[list[float]] = []  # sum of raw, sum of right (with the prior), count
    for start in range(0, len(ordered), LEAST):
        part = ordered[start : start + LEAST]
        if len(part) < LEAST and blocks:
            blocks[-1][0] += sum(raw for raw, _ in part)
            blocks[-1][1] += sum(right for _, right in part)
            blocks[-1][2] += len(part)
        else:
            total = sum(raw for raw, _ in part)
            blocks.append([total, float(sum(right for _, right in part)), float(len(part))])
    merged: list[list[float]] = []
    for block in blocks:
        merged.append(block)
        while len(merged) > 1 and _share(merged[-2]) > _share(merged[-1]):
            last = merged.pop()
            merged[-1] = [a + b for a, b in zip(merged[-1], last, strict=True)]
    raws = [block[0] / block[2] for block in merged]
    return [round(raw, 4) for raw in raws], [round(_share(block), 4) for block in merged]


def _share(block: list[float]) -> float:
    raw = block[0] / block[2]
    return (block[1] + PRIOR * raw) / (block[2] + PRIOR)


def main(arguments: list[str] | None = None) -> int:
    """Write the map that ships with the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--out", type=Path, default=HERE)
    chosen = parser.parse_args(arguments)
    # Scores as the analyzers give them, before any map.
    calibration._maps.cache_clear()
    calibration._maps = dict  # type: ignore[assignment]
    groups: dict[str, list[tuple[float, bool]]] = {}
    for data in chosen.data:
        for name, pairs in collect(data).items():
            groups.setdefault(name, []).extend(pairs)
    maps: dict[str, Any] = {}
    for name, pairs in sorted(groups.items()):
        if len(pairs) < LEAST:
            continue  # too few to say anything
        raw, right = isotonic(pairs)
        maps[name] = {"raw": raw, "right": right, "answers": len(pairs)}
        mean = float(np.mean([one for _, one in pairs]))
        sys.stdout.write(f"{name:24} {len(pairs):4} answers, {mean:.3f} right: {raw} {right}\n")
    content = {
        "about": "raw score to share of right answers; made by benchmarks/faults/calibrate.py",
        "maps": maps,
    }
    chosen.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
