"""Makes the map from raw scores to shares of right answers, from the development split."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from mltd.analyzers.core import calibration, ranking
from mltd.analyzers.core.calibration import closeness, log_odds
from mltd.analyzers.core.finding import Basis
from mltd.runs.harvest import Floats

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
_HELD = 0.2
"""How firmly slopes are drawn towards 0, so that few answers make no steep curve."""
_TOLD = {"log", "job"}


class Answer(NamedTuple):
    """One finding that was said of a run."""

    score: float
    is_right: bool
    id: str
    is_told: bool
    """By a message, which is as sure as its wording."""


class Verdict(NamedTuple):
    """The best cause that was named for a run, and how much of it is true."""

    id: str
    belief: float
    rival: float
    is_stated: bool
    """By a message, in so many words."""
    credit: float
    """1 if it names what was done, a half if an expert might conclude it from this log, else 0."""


Answers = dict[str, list[Answer]]
"""By basis."""


def collect(data: Path, split: str) -> tuple[Answers, list[Verdict]]:
    """Raw score and correctness of every claim."""
    answers: Answers = {}
    verdicts: list[Verdict] = []
    for truth in read_truths(data, split):
        if truth.verdict == "ambiguous":
            continue
        with _recorded() as asked:
            judged = judge((truth, data))
        right = {*truth.findings, *truth.also}
        # A finding that a run has ten times is still one answer.
        for found in {one["id"]: one for one in reversed(judged.findings)}.values():
            if truth.verdict != "unobservable":
                told = {one["kind"] for one in found["evidence"]} <= _TOLD
                answer = Answer(found["confidence"], found["id"] in right, found["id"], told)
                answers.setdefault(f"finding/{found['basis']}", []).append(answer)
        for name in [best["id"] for best in judged.causes[:1] if best["id"] in asked]:
            credit = 0.5 * (name in truth.causes) + 0.5 * (name in truth.done)
            verdicts.append(Verdict(name, *asked[name], credit))
    return answers, verdicts


@contextmanager
def _recorded() -> Iterator[dict[str, tuple[float, float, bool]]]:
    """What calibration is asked about, by cause; not what messages only hint at."""
    asked: dict[str, tuple[float, float, bool]] = {}

    def listen(cause: str, basis: Basis, belief: float, rival: float, *, is_told: bool) -> float:
        if not is_told or basis is Basis.OBSERVATION:
            asked[cause] = (belief, rival, is_told)
        return calibration.cause_confidence(cause, basis, belief, rival, is_told=is_told)

    with patch.object(ranking, "cause_confidence", listen):
        yield asked


def first_look(file: Path) -> list[Verdict]:
    """What messages were said to mean before anybody had looked, as it was written down then."""
    return [Verdict("", *answer) for answer in json.loads(file.read_text("utf-8"))["stated"]]


def reputes(answers: list[Answer], shares: list[float]) -> dict[str, float]:
    """How much more or less reliable each of them is than its score says, in log-odds.

    The likeliest shift under a prior that holds those with few answers near 0.
    """
    found: dict[str, float] = {}
    for name in sorted({answer.id for answer in answers}):
        mine = [n for n, answer in enumerate(answers) if answer.id == name]
        odds = np.array([log_odds(shares[n]) for n in mine])
        right = np.array([float(answers[n].is_right) for n in mine])
        shift = 0.0
        for _ in range(50):
            sure = 1.0 / (1.0 + np.exp(-(odds + shift)))
            slope = float(np.sum(right - sure)) - shift / SPREAD**2
            step = slope / (float(np.sum(sure * (1 - sure))) + 1.0 / SPREAD**2)
            shift += min(max(step, -0.5), 0.5)
        found[name] = round(shift, 2)
    return found


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


def fit(answers: Answers, verdicts: list[Verdict]) -> dict[str, Any]:
    """The maps of findings, the curves of causes, and the reputes of what was measured."""
    maps: dict[str, Any] = {}
    known: list[Answer] = []
    shares: list[float] = []
    for name, said in sorted(answers.items()):
        if len(said) < LEAST:
            continue  # too few to say anything
        raw, right = isotonic([(one.score, one.is_right) for one in said])
        maps[name] = {"raw": raw, "right": right, "answers": len(said)}
        mine = [one for one in said if not one.is_told]
        known += mine
        shares += [float(np.interp(one.score, raw, right)) for one in mine]
    curves, repute = fit_causes(verdicts)
    return {
        "maps": maps,
        "causes": curves,
        "repute": {"causes": repute, "findings": reputes(known, shares)},
    }


def fit_causes(verdicts: list[Verdict]) -> tuple[dict[str, Any], dict[str, float]]:
    """Logistic curves over belief and rival, with a shift for each cause that was measured."""
    measured = [one for one in verdicts if not one.is_stated]
    stated = [one for one in verdicts if one.is_stated]
    names = sorted({one.id for one in measured})
    shifts = [[float(one.id == name) for name in names] for one in measured]
    curve, repute = _curve(measured, shifts)
    curves = {"measured": curve}
    if len(stated) >= LEAST:
        # Rivals are too few among messages to learn from: they count as they do elsewhere.
        offset = [curve["rival"] * closeness(one.rival) for one in stated]
        rows = np.array([[1.0, log_odds(one.belief)] for one in stated])
        base, belief = logistic(rows, [one.credit for one in stated], [0.0, _HELD], offset)
        curves["stated"] = {
            **curve,
            "base": round(float(base), 3),
            "belief": round(float(belief), 3),
            "answers": len(stated),
        }
    return curves, dict(zip(names, repute, strict=True))


def _curve(
    verdicts: list[Verdict], shifts: list[list[float]]
) -> tuple[dict[str, Any], list[float]]:
    columns = [[1.0, log_odds(one.belief), closeness(one.rival)] for one in verdicts]
    rows = np.hstack([columns, np.array(shifts)])
    held = [0.0, _HELD, _HELD] + [1.0 / SPREAD**2] * (rows.shape[1] - 3)
    weights = logistic(rows, [one.credit for one in verdicts], held)
    base, belief, rival, *shift = (round(float(weight), 3) for weight in weights)
    return {"base": base, "belief": belief, "rival": rival, "answers": len(verdicts)}, shift


def logistic(
    rows: Floats, credits_: list[float], held: list[float], offset: list[float] | None = None
) -> Floats:
    """Weights of a logistic curve; `held` draws each of them towards 0."""
    penalty, credit = np.array(held), np.array(credits_)
    given = np.zeros(len(rows)) if offset is None else np.array(offset)
    weights = np.zeros(rows.shape[1])
    for _ in range(100):
        sure = 1.0 / (1.0 + np.exp(-np.clip(rows @ weights + given, -30.0, 30.0)))
        slope = rows.T @ (credit - sure) - penalty * weights
        bend = (rows * (sure * (1.0 - sure))[:, None]).T @ rows + np.diag(penalty + 1e-9)
        weights = weights + np.clip(np.linalg.solve(bend, slope), -1.0, 1.0)
    return weights


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
        "--first-look",
        type=Path,
        default=FIRST_LOOK,
        help="what messages were said to mean at first look",
    )
    parser.add_argument("--out", type=Path, default=HERE)
    chosen = parser.parse_args(arguments)
    # Scores as the analyzers give them, before any map.
    calibration._maps.cache_clear()
    calibration._maps = dict  # type: ignore[assignment]
    answers: Answers = {}
    verdicts = first_look(chosen.first_look)
    for data in chosen.data:
        folder, _, split = data.partition(":")
        found, causes = collect(Path(folder), split or "dev")
        verdicts += causes
        for name, said in found.items():
            answers.setdefault(name, []).extend(said)
    fitted = fit(answers, verdicts)
    content = {
        "about": "findings: raw score to share of right answers; causes: log-odds by belief and "
        "rival; repute: how much more or less reliable single ones are, in log-odds; made by "
        "benchmarks/faults/calibrate.py",
        **fitted,
    }
    chosen.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for name, entry in fitted["maps"].items():
        sys.stdout.write(f"{name:24} {entry['answers']:4} {entry['raw']} {entry['right']}\n")
    for name, curve in fitted["causes"].items():
        sys.stdout.write(f"cause/{name:18} {curve}\n")
    for kind, shifts in fitted["repute"].items():
        shown = ", ".join(f"{name} {shift:+.2f}" for name, shift in shifts.items())
        sys.stdout.write(f"{kind}: {shown}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
