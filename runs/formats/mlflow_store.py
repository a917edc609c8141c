"""MLflow file stores: one file per metric, and a `meta.yaml` that stands for the run."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import numpy as np

from ..event import Event, EventKind
from ..harvest import Column, ColumnKey, Harvest
from ..open_artifact import open_artifact_file
from .axis_names import unix_seconds
from .format import Reader
from .records import RecordCollector
from .tabular_cells import read_number

_LINE = re.compile(rb"(\d{9,16}) (\S+)(?: (-?\d+))?(?: .*)?")
_META_KEYS = {
    "artifact_uri",
    "lifecycle_stage",
    "run_id",
    "run_uuid",
    "experiment_id",
    "start_time",
}
_STATUS = {
    "3": (EventKind.FINISHED, "MLflow marks the run as finished"),
    "4": (EventKind.SCHEDULER, "MLflow marks the run as failed"),
    "5": (EventKind.SIGNAL, "MLflow marks the run as killed"),
}
LONGEST_PARAM_BYTES = 8192
MOST_PARAMS = 2000


def metric_name(path: str) -> str:
    """The metric that a file of a run's `metrics` folder holds; folders are part of it."""
    parts = PurePosixPath(path).parts
    if "metrics" in parts[:-1]:
        last = len(parts) - 2 - parts[-2::-1].index("metrics")
        return "/".join(parts[last + 1 :])
    return parts[-1] if parts else path


class MlflowMetricReader:
    """Reads lines of `time value step`."""

    def __init__(self, path: str) -> None:
        self._key = ColumnKey(metric_name(path))

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the complete lines in `data`."""
        end = len(data) if final else data.rfind(b"\n") + 1
        pieces = data[:end].split(b"\n")
        if not pieces[-1]:
            pieces.pop()
        lines: list[int] = []
        values: list[float] = []
        steps: list[float] = []
        times: list[float] = []
        for number, piece in enumerate(pieces, start=1):
            matched = _LINE.fullmatch(piece.strip())
            value = read_number(matched[2].decode("ascii", "replace")) if matched else None
            if matched is None or value is None:
                continue
            step = float(matched[3]) if matched[3] else np.nan
            lines.append(number)
            values.append(value)
            steps.append(step if step >= 0 else np.nan)
            times.append(unix_seconds(float(matched[1])))
        rows = np.arange(len(lines), dtype=np.int64)
        found = Harvest(np.array(lines, dtype=np.int64), lines=len(pieces), consumed=end)
        if lines:
            found.axes = {"step": np.array(steps), "time": np.array(times)}
            found.columns = [Column(self._key, rows, np.array(values))]
        return found


class MlflowMetricFormat:
    """A metric of an MLflow file store."""

    name = "mlflow"
    is_snapshot = False

    def sniff(self, head: bytes, path: str) -> float:
        """Lines of a unix time, a value and a step."""
        complete = head[: head.rfind(b"\n") + 1] or head
        lines = complete.splitlines()[:50]
        if not lines:
            return 0.0
        for line in lines:
            matched = _LINE.fullmatch(line.strip())
            if matched is None or read_number(matched[2].decode("ascii", "replace")) is None:
                return 0.0
            if not unix_seconds(float(matched[1])) > 0:
                return 0.0
        return 0.95 if "/metrics/" in path else 0.7

    def open(self, path: str) -> Reader:
        """A fresh reader."""
        return MlflowMetricReader(path)


def read_run_config(run_directory: Path, root: str = "") -> dict[str, object]:
    """Parameters and tags of a run, one small file each; what cannot be read is left out.

    Links that lead out of `root`, by default the run's directory, are not followed.
    """
    found: dict[str, object] = {}
    for folder in ("params", "tags"):
        base = run_directory / folder
        try:
            files = sorted(path for path in base.rglob("*") if path.is_file())[:MOST_PARAMS]
        except OSError:
            continue
        for path in files:
            name = path.relative_to(base).as_posix()
            try:
                with open_artifact_file(path, root or str(run_directory)) as file:
                    text = file.read(LONGEST_PARAM_BYTES).decode("utf-8", "replace")
            except OSError:
                continue
            found[name if folder == "params" else f"tags/{name}"] = text
    return found


def _read_pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip(), value.strip().strip("'\"")


class MlflowRunReader:
    """Reads `meta.yaml`, and the parameters and tags in the folders beside it."""

    def __init__(self, path: str) -> None:
        self._directory = Path(path).parent
        self.root = str(self._directory)
        """The folder that the files beside must lie in."""
        self._is_begun = False

    def feed(self, data: bytes, *, final: bool) -> Harvest:
        """Read the complete lines in `data`."""
        end = len(data) if final else data.rfind(b"\n") + 1
        found = RecordCollector()
        lines = data[:end].decode("utf-8", "replace").splitlines()
        if lines and not self._is_begun:
            self._is_begun = True
            found.config.update(read_run_config(self._directory, self.root))
        for number, line in enumerate(lines, start=1):
            key, value = _read_pair(line)
            if value:
                found.config[f"mlflow/{key}"] = value
            if key == "status" and value in _STATUS:
                kind, title = _STATUS[value]
                found.events.append(Event(kind, title, number, text=line))
        return found.harvest(lines=len(lines), consumed=end)


class MlflowRunFormat:
    """The `meta.yaml` of an MLflow run, which brings the run's parameters and tags."""

    name = "mlflow-run"
    is_snapshot = True

    def sniff(self, head: bytes, path: str) -> float:
        """The keys that MLflow writes."""
        if b"lifecycle_stage" not in head or b"artifact_uri" not in head:
            return 0.0
        keys = {_read_pair(line)[0] for line in head.decode("utf-8", "replace").splitlines()}
        return 0.95 if len(_META_KEYS & keys) >= 4 else 0.0

    def open(self, path: str) -> Reader:
        """A fresh reader."""
        return MlflowRunReader(path)
