"""Makes the map from raw scores to shares of right answers, from the development split."""

from __future__ import annotations

import argparse
import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mltd.analyzers.core import calibration

from .score import judge
from .truth import read_truths

HERE = Path(calibration.__file__).with_name("calibration.json")
FIRST_LOOK = Path(__file__).parent.parent / "recorded" / "first_look.json"
LEAST = 40
"""Answers that a level of the map must rest on."""
PRIOR = 6.0
"""Answers that the raw score itself counts for, so that few answers change little."""
SPREAD = 0.5
"""How far, in log-odds, one cause is usually more or less reliable than another: few answers move
its repute little."""
_TOLD = {"log", "job"}


class Answer(NamedTuple):
    """One thing that was said of a run."""

    score: float
    is_right: bool
    id: str
    is_told: bool
    """By a message, which is as sure as its wording."""


Answers = dict[str, list[Answer]]
"""By kind and, for findings, basis."""


def collect(data: Path, split: str) -> Answers:
    """Raw score and correctness of every claim."""
    groups: Answers = {}
    for truth in read_truths(data, split):
        if truth.verdict == "ambiguous":
            continue
        judged = judge((truth, data))
        right = {*truth.findings, *truth.also}
        # A finding that a run has ten times is still one answer.
        for found in {one["id"]: one for one in reversed(judged.findings)}.values():
            if truth.verdict != "unobservable":
                answer = Answer(found["confidence"], found["id"] in right, *_source(found))
                groups.setdefault(f"finding/{found['basis']}", []).append(answer)
        for best in judged.causes[:1]:
            answer = Answer(best["confidence"], best["id"] in truth.done, *_source(best))
            groups.setdefault("cause", []).append(answer)
    return groups


def _source(said: dict[str, Any]) -> tuple[str, bool]:
    return said["id"], {one["kind"] for one in said["evidence"]} <= _TOLD


def first_look(file: Path) -> Answers:
    """What was said of runs before anybody had looked at them, as it was written down then."""
    groups: Answers = {}
    for _, kind, name, basis, score, is_right, is_told in json.loads(file.read_text())["answers"]:
        group = kind if kind == "cause" else f"{kind}/{basis}"
        groups.setdefault(group, []).append(Answer(score, is_right, name, is_told))
    return groups


def reputes(answers: list[Answer], shares: list[float]) -> dict[str, float]:
    """How much more or less reliable each of them is than its score says, in log-odds.

    The likeliest shift under a prior that holds those with few answers near 0.
    """
    found: dict[str, float] = {}
    for name in sorted({answer.id for answer in answers}):
        mine = [n for n, answer in enumerate(answers) if answer.id == name]
        odds = np.array([_log_odds(shares[n]) for n in mine])
        right = np.array([float(answers[n].is_right) for n in mine])
        shift = 0.0
        for _ in range(50):
            sure = 1.0 / (1.0 + np.exp(-(odds + shift)))
            slope = float(np.sum(right - sure)) - shift / SPREAD**2
            step = slope / (float(np.sum(sure * (1 - sure))) + 1.0 / SPREAD**2)
            shift += min(max(step, -0.5), 0.5)
        found[name] = round(shift, 2)
    return found


def _log_odds(share: float) -> float:
    held = min(max(share, 0.02), 0.98)
    return float(np.log(held / (1.0 - held)))


def isotonic(pairs: list[tuple[float, bool]]) -> tuple[list[float], list[float]]:
    """Never-falling shares of right answers, each over enough answers."""
    blocks: list[list[float]] = []  # sum of raw, sum of right, count
    # Equal scores stay together: no order among them says anything.
    for _, equals in groupby(sorted(pairs), key=lambda pair: pair[0]):
        part = list(equals)
        if not blocks or blocks[-1][2] >= LEAST:
            blocks.append([0.0, 0.0, 0.0])
        blocks[-1][0] += sum(raw for raw, _ in part)
        blocks[-1][1] += sum(right for _, right in part)
        blocks[-1][2] += len(part)
    if len(blocks) > 1 and blocks[-1][2] < LEAST:
        last = blocks.pop()
        blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
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


def fit(groups: Answers) -> dict[str, Any]:
    """The maps, and the reputes of what was weighed."""
    maps: dict[str, Any] = {}
    weighed: dict[str, tuple[list[Answer], list[float]]] = {}
    for name, answers in sorted(groups.items()):
        kind = name.partition("/")[0]
        # What a message says about a cause has no use for a map; findings share theirs.
        mapped = answers if kind == "finding" else [one for one in answers if not one.is_told]
        if len(mapped) < LEAST:
            continue  # too few to say anything
        raw, right = isotonic([(one.score, one.is_right) for one in mapped])
        maps[name] = {"raw": raw, "right": right, "answers": len(mapped)}
        mine = [one for one in mapped if not one.is_told]
        known, shares = weighed.setdefault(f"{kind}s", ([], []))
        known += mine
        shares += [float(np.interp(one.score, raw, right)) for one in mine]
    repute = {kind: reputes(*parts) for kind, parts in sorted(weighed.items())}
    return {"maps": maps, "repute": repute}


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
    parser.add_argument(
        "--first-look", type=Path, default=FIRST_LOOK, help="answers that were given blindly"
    )
    parser.add_argument("--out", type=Path, default=HERE)
    chosen = parser.parse_args(arguments)
    # Scores as the analyzers give them, before any map.
    calibration._maps.cache_clear()
    calibration._maps = dict  # type: ignore[assignment]
    groups = first_look(chosen.first_look)
    for data in chosen.data:
        folder, _, split = data.partition(":")
        for name, answers in collect(Path(folder), split or "dev").items():
            groups.setdefault(name, []).extend(answers)
    fitted = fit(groups)
    content = {
        "about": "raw score to share of right answers, and how much more or less reliable single "
        "findings and causes are, in log-odds; made by benchmarks/faults/calibrate.py",
        **fitted,
    }
    chosen.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for name, entry in fitted["maps"].items():
        sys.stdout.write(f"{name:24} {entry['answers']:4} {entry['raw']} {entry['right']}\n")
    for kind, shifts in fitted["repute"].items():
        shown = ", ".join(f"{name} {shift:+.2f}" for name, shift in shifts.items())
        sys.stdout.write(f"{kind}: {shown}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
