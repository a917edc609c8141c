"""When the engine does what: how often it looks, judges and tells."""

from __future__ import annotations

from .protocol import RunStatus, SeriesChanged

FOLLOWED_AT_ONCE = 8
"""Runs followed at the same time; more are read when they are selected."""
LOOK_EVERY = 5.0
"""Seconds after which a silent run's state is judged again: silence means something too."""
PULSE_EVERY = 2.0
"""Seconds after which the screen must hear from us, whatever there is to say."""
DISCOVER_EVERY = 10.0
"""Seconds between two looks for runs that appeared in the directories that were named."""
DISCOVER_SHARE = 20.0
"""A look that takes long, as on a slow file system, is taken less often."""
SETTLE_AFTER = 1.0
SETTLE_AGAIN = 11.0
JUDGE_SILENCE = 25.0
"""Seconds after the last byte when silence itself is judged, as of a run that says it finished."""
DESCRIBE_SHARE = 10.0
"""Listing very many metrics takes long: while a log is read, a tenth of the time goes into it."""
JUDGE_EVERY = 1.0
JUDGE_SHARE = 5.0
"""A verdict that takes long is made less often: at most a fifth of the time goes into it."""


class Told:
    """What the screen was last told about a run, and when something is due."""

    def __init__(self) -> None:
        self.status: RunStatus | None = None
        self.series: SeriesChanged | None = None
        self.listed: tuple[int, int, int] | None = None
        """Of which state of the run the series are: growth, the run itself, thinnings."""
        self.next_series = 0.0
        self.next_status = 0.0
        self.next_verdict = 0.0
        self.settles: tuple[float, ...] = ()
        """When to take what was held back: soon, and again when the log seems to be over."""
        self.growth = 0
        """Counts what was read, so that curves know when they are out of date."""
