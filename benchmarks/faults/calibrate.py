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
SPREAD = 1.0
"""How far, in log-odds, one cause is usually more or less reliable than another: few answers move
its repute little."""
_TOLD = {"log", "job"}

Answer = tuple[float, bool, str]
"""Raw score, whether it was right, and the id."""


def collect(data: Path, split: str) -> dict[str, list[Answer]]:
    """Raw score and correctness of every claim, by kind and basis."""
    groups: dict[str, list[Answer]] = {}
    for truth in read_truths(data, split):
        if truth.verdict == "ambiguous":
            continue
        judged = judge((truth, data))
        right = {*truth.findings, *truth.also}
        for found in judged.findings:
            if truth.verdict != "unobservable":
                name = f"finding/{found['basis']}"
                answer = (found["confidence"], found["id"] in right, found["id"])
                groups.setdefault(name, []).append(answer)
        for best in judged.causes[:1]:
            # What a message says is as sure as its wording, whatever the map says.
            if not {one["kind"] for one in best["evidence"]} <= _TOLD:
                answer = (best["confidence"], best["id"] in truth.done, best["id"])
                groups.setdefault("cause", []).append(answer)
    return groups


def reputes(answers: list[Answer], shares: list[float]) -> dict[str, float]:
    """How much more or less reliable each cause is than its score says, in log-odds.

    The likeliest shift under a prior that holds causes with few answers near 0.
    """
    found: dict[str, float] = {}
    for name in sorted({one for _, _, one in answers}):
        mine = [n for n, (_, _, one) in enumerate(answers) if one == name]
        odds = np.array([_log_odds(shares[n]) for n in mine])
        right = np.array([float(answers[n][1]) for n in mine])
        shift = 0.0
        for _ in range(50):
            sure = 1.0 / (1.0 + np.exp(-(odds + shift)))
            slope = float(np.sum(right - sure)) - shift / SPREAD**2
            shift += slope / (float(np.sum(sure * (1 - sure))) + 1.0 / SPREAD**2)
        found[name] = round(shift, 2)
    return found


def _log_odds(share: float) -> float:
    held = min(max(share, 0.02), 0.98)
    return float(np.log(held / (1.0 - held)))


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
    parser.add_argument(
        "--data",
        action="append",
        required=True,
        metavar="DIR[:SPLIT]",
        help="a data folder and which of its runs to learn from (dev)",
    )
    parser.add_argument("--out", type=Path, default=HERE)
    chosen = parser.parse_args(arguments)
    # Scores as the analyzers give them, before any map.
    calibration._maps.cache_clear()
    calibration._maps = dict  # type: ignore[assignment]
    groups: dict[str, list[Answer]] = {}
    for data in chosen.data:
        folder, _, split = data.partition(":")
        for name, answers in collect(Path(folder), split or "dev").items():
            groups.setdefault(name, []).extend(answers)
    maps: dict[str, Any] = {}
    for name, answers in sorted(groups.items()):
        if len(answers) < LEAST:
            continue  # too few to say anything
        raw, right = isotonic([(score, is_right) for score, is_right, _ in answers])
        maps[name] = {"raw": raw, "right": right, "answers": len(answers)}
        mean = float(np.mean([one for _, one, _ in answers]))
        sys.stdout.write(f"{name:24} {len(answers):4} answers, {mean:.3f} right: {raw} {right}\n")
    causes = groups.get("cause", [])
    raw, right = maps["cause"]["raw"], maps["cause"]["right"]
    repute = reputes(causes, [float(np.interp(score, raw, right)) for score, _, _ in causes])
    for name, shift in sorted(repute.items(), key=lambda one: one[1]):
        sys.stdout.write(f"{name:28} {shift:+.2f}\n")
    content = {
        "about": "raw score to share of right answers, and how much more or less reliable single "
        "causes are, in log-odds; made by benchmarks/faults/calibrate.py",
        "maps": maps,
        "repute": repute,
    }
    chosen.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
