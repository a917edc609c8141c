"""Score the reader on a set of real logs: `python -m benchmarks.reading FOLDER [SET]`.

FOLDER holds each log at `<id>/<file name>`; README.md says how to get them. A metric is exact if a
series of the run has its count, first, last, smallest and largest value. Its axis is right if the
series also begins and ends at the same x.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.discovery import discover
from mltd.runs.errors import MltdError
from mltd.runs.ingest import load
from mltd.runs.summary import describe_run

HERE = Path(__file__).parent
_STATES = {
    "finished": {"finished"},
    "failed": {"failed"},
    "interrupted": {"failed"},
    "running_or_unknown": {"unknown", "running", "stalled"},
}


@dataclass
class Score:
    """What was found of one log, and what was missed."""

    exact: int = 0
    right_axis: int = 0
    metrics: int = 0
    is_state_right: bool = False
    is_alarmed: bool = False
    misses: list[str] = field(default_factory=list)


def main() -> int:
    """Print the figures and, with `--misses`, each miss."""
    parser = argparse.ArgumentParser(prog="benchmarks.reading", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("set", nargs="?", default="set_a")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    records = [json.loads(line) for line in (HERE / f"{options.set}.jsonl").open()]
    totals: Counter[str] = Counter()
    for record in records:
        place = options.folder / record["id"] / Path(record["path"]).name
        if not place.is_file():
            print(f"{record['id']}: not there", file=sys.stderr)
            continue
        score = score_log(place, record)
        totals.update(
            logs=1,
            metrics=score.metrics,
            exact=score.exact,
            right_axis=score.right_axis,
            states=score.is_state_right,
            finished=record["state"] == "finished",
            alarmed=score.is_alarmed and record["healthy"] is True,
            healthy=record["healthy"] is True,
        )
        if options.misses:
            for miss in score.misses:
                print(f"{record['id']}: {miss}")
    print(f"logs                    {totals['logs']}")
    print(f"metrics exact           {_share(totals['exact'], totals['metrics'])}")
    print(f"axis right, if exact    {_share(totals['right_axis'], totals['exact'])}")
    print(f"state right             {_share(totals['states'], totals['logs'])}")
    print(f"healthy runs alarmed    {_share(totals['alarmed'], totals['healthy'])}")
    return 0


def score_log(path: Path, record: dict[str, Any]) -> Score:
    """Read a log and compare it with its truth; metrics marked as ambiguous do not count."""
    score = Score()
    wanted = [metric for metric in record["metrics"] if not metric.get("ambiguous")]
    score.metrics = len(wanted)
    try:
        run = load(discover(str(path))[0]).run
        described = describe_run(run)
        diagnosis = diagnose(run)
    except MltdError as error:
        score.misses.append(f"not read: {error}")
        return score
    state = str(described["state"])
    score.is_state_right = state in _STATES[record["state"]]
    if not score.is_state_right:
        score.misses.append(f"state {state}, not {record['state']}: {record['state_why']}")
    score.is_alarmed = diagnosis.has_alarm
    if score.is_alarmed and record["healthy"] is True:
        alarms = [finding.title for finding in diagnosis.findings if finding.is_alarm]
        score.misses.append(f"alarmed: {'; '.join(alarms)}")
    series = described["series"]
    assert isinstance(series, list)
    for metric in wanted:
        fitting = [one for one in series if _has_values(one, metric)]
        if not fitting:
            score.misses.append(f"{_shown(metric)}; read: {_nearest(series, metric)}")
            continue
        score.exact += 1
        if any(_has_axis(one, metric) for one in fitting):
            score.right_axis += 1
        else:
            ends = [(one["x"], one["first"][0], one["last"][0]) for one in fitting]
            score.misses.append(f"{_shown(metric)}: axis {ends}")
    return score


def _has_values(series: dict[str, Any], metric: dict[str, Any]) -> bool:
    found = (series["first"][1], series["last"][1], *(_value(series[k]) for k in ("min", "max")))
    wanted = (metric["first"][1], metric["last"][1], metric["min"], metric["max"])
    return series["points"] == metric["points"] and all(map(_is_same, found, wanted))


def _has_axis(series: dict[str, Any], metric: dict[str, Any]) -> bool:
    ends = (metric["first"][0], metric["last"][0])
    return all(map(_is_same, (series["first"][0], series["last"][0]), ends))


def _value(point: list[Any] | None) -> Any:
    return None if point is None else point[1]


def _is_same(found: Any, wanted: Any) -> bool:
    if wanted is None or isinstance(wanted, list):  # a pair of epoch and iteration
        return True
    try:
        found, wanted = float(found), float(wanted)
    except (TypeError, ValueError):
        return str(found).lower() == str(wanted).lower()
    both_nan = math.isnan(found) and math.isnan(wanted)
    return both_nan or math.isclose(found, wanted, rel_tol=1e-6, abs_tol=1e-12)


def _shown(metric: dict[str, Any]) -> str:
    return (
        f"{metric['name']} ({metric['split']}): {metric['points']} points, "
        f"{metric['first']}..{metric['last']}"
    )


def _nearest(series: list[dict[str, Any]], metric: dict[str, Any]) -> str:
    """The series whose name is most like the metric's."""
    words = set(str(metric["name"]).lower().replace("/", " ").replace("_", " ").split())

    def likeness(one: dict[str, Any]) -> tuple[int, int]:
        names = set(str(one["name"]).lower().replace("/", " ").replace("_", " ").split())
        return len(words & names), -abs(int(one["points"]) - int(metric["points"]))

    if not series:
        return "nothing"
    best = max(series, key=likeness)
    return f"{best['name']}: {best['points']} points, {best['first']}..{best['last']}"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


if __name__ == "__main__":
    sys.exit(main())
