"""How much of an unusual log is kept, so that none takes minutes or gigabytes to read.

What is left out is counted, and a notice beside the file says so. `docs/reading-logs.md` compares
the limits with real logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

MOST_SERIES = 16_384
"""Series of one file; those that come first are kept. Mixtures of experts have some thousands."""
KNOWN_SERIES = 1_024
"""Further series of a file whose names are known to measure something, such as `val_loss`."""
MOST_RANKS = 16_384
"""Ranks whose metrics are kept, from 0 on."""
MOST_IDLE_SHAPES = 2_000
"""Shapes of line without metrics or events, after which a new shape must look like it has some."""
MOST_SHAPES = 4_000
"""Shapes of line, after which a new one is learned if it comes back or tells of a failure."""
MOST_FAILURE_SHAPES = 1_000
"""Further shapes of line that may tell of failures."""
MOST_HEADINGS = 4_096
"""Different headers of printed tables; rows below further ones are left out."""
MOST_SETTINGS_BLOCKS = 4_096
"""Printed blocks of settings that are read; a sweep of thousands of trials may print one each."""
BYTES_PER_SHAPE = 8_192
"""For so many bytes of the log, each of the limits on shapes grows by one."""


class LeftOut(StrEnum):
    """Things that are left out of a log beyond a limit."""

    SHAPES = "shapes"
    """Lines that were not read closely."""
    RANKS = "ranks"
    """Lines of high ranks."""
    SERIES = "series"
    """Values whose names came too late."""
    SETTINGS = "settings"
    """Blocks of settings that were not read as such."""
    HEADERS = "headers"
    """Rows of tables below headers that came too late."""


_SENTENCES = {
    LeftOut.SHAPES: "unusually many kinds of lines: {count:,} lines were searched only for errors"
    " and for metrics with known names",
    LeftOut.RANKS: f"metrics of ranks above {MOST_RANKS - 1:,} were left out ({{count:,}} lines)",
    LeftOut.SERIES: f"only the first {MOST_SERIES:,} metric names were kept"
    " ({count:,} values of others were left out)",
    LeftOut.SETTINGS: f"only the first {MOST_SETTINGS_BLOCKS:,} blocks of settings were read"
    " ({count:,} lines may begin further ones)",
    LeftOut.HEADERS: f"only the first {MOST_HEADINGS:,} table headers were kept"
    " ({count:,} rows below others were left out)",
}


def describe_left_out(counts: Mapping[str, int]) -> list[str]:
    """A sentence for each limit that was reached."""
    return [
        sentence.format(count=counts[kind])
        for kind, sentence in _SENTENCES.items()
        if counts.get(kind)
    ]
