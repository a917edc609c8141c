"""Guards against false alarms: each looks at a run once and leaves facts for all analyzers.

Four traps are avoided earlier, where lines become records: source code echoed into the log,
"nan" inside words, progress bars, and ranks that interleave (`mltd.runs`).
"""

from __future__ import annotations

from ..core.facts import Guard
from . import events, gradients, objective, resolution, schedule, stages, timing

GUARDS: tuple[Guard, ...] = (
    resolution.smoothed,
    resolution.quantised,
    schedule.learning_rate,
    stages.planned_changes,
    objective.non_monotone,
    gradients.printed_as_zero,
    gradients.times_loss_scale,
    gradients.stale_on_skipped_steps,
    timing.buffered,
    events.recovered,
)
