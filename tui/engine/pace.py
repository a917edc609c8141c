"""How fast a run moves: lines a second, and when it will be through."""

from __future__ import annotations

from collections import deque

import numpy as np

from mltd.runs.run import Run, SourceFile

_WINDOW = 5.0
"""Seconds over which lines are counted."""
_ROWS = 400
"""Records at the end whose time stamps tell the present pace."""
_HISTORY = 600.0
"""Seconds of own observation kept where the log has no time stamps."""


class Pace:
    """Remembers when how much had come."""

    def __init__(self) -> None:
        self._lines: deque[tuple[float, int]] = deque()
        self._steps: deque[tuple[float, float]] = deque()

    def note(self, now: float, lines: int, step: float | None) -> None:
        """So many lines have been read by now, and this step was reached."""
        if not self._lines or self._lines[-1][1] != lines:
            self._lines.append((now, lines))
        while len(self._lines) > 2 and self._lines[1][0] < now - _WINDOW:
            self._lines.popleft()
        if step is not None and (not self._steps or step > self._steps[-1][1]):
            self._steps.append((now, step))
        elif step is not None and step < self._steps[-1][1]:
            self._steps.clear()
        while self._steps and self._steps[0][0] < now - _HISTORY:
            self._steps.popleft()

    def lines_per_second(self, now: float) -> float:
        """Lines that came in the last seconds, per second."""
        recent = [entry for entry in self._lines if entry[0] >= now - _WINDOW]
        if not recent:
            return 0.0
        before = next((e for e in reversed(self._lines) if e[0] < now - _WINDOW), recent[0])
        return max(0, recent[-1][1] - before[1]) / _WINDOW

    def eta(self, run: Run, step: float | None, total: float | None) -> float | None:
        """Seconds until the last step at the present pace, by time stamps or by own clock."""
        if step is None or not total or step >= total:
            return None
        rate = max((_stamped_rate(source) for source in run.files), default=0.0)
        if not rate and len(self._steps) > 1:
            (first_at, first), (last_at, last) = self._steps[0], self._steps[-1]
            # A few seconds tell nothing: buffers are written in bursts.
            rate = (last - first) / (last_at - first_at) if last_at - first_at > 10 else 0.0
        return (total - step) / rate if rate > 0 else None


def _stamped_rate(source: SourceFile) -> float:
    """Steps a second by the log's own time stamps, 0 if it has none."""
    axes = source.coordinates.axes
    if "time" not in axes or "step" not in axes:
        return 0.0
    times, steps = axes["time"].view()[-_ROWS:], axes["step"].view()[-_ROWS:]
    known = np.isfinite(times) & np.isfinite(steps)
    times, steps = times[known], steps[known]
    if len(times) < 2:
        return 0.0
    seconds, made = float(times[-1] - times[0]), float(steps[-1] - steps[0])
    return made / seconds if seconds > 0 and made > 0 else 0.0
