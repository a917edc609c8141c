"""What a run is said to do."""

from __future__ import annotations

from ..engine.protocol import RunStatus


def state_of(status: RunStatus) -> str:
    """What a run does; one of which nothing is written, what its job does."""
    if status.job is not None and status.last_line_at is None:
        return "waiting" if status.job.is_waiting else status.state if status.files else "silent"
    return status.state
