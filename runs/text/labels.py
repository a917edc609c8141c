"""Numbers of processes in front of all lines, as `srun --label` writes them: `12: loss 2.1`.

Such a label looks like the number of a step. What tells them apart is the log as a whole: nearly
every line has one, whatever it says, and the same few come again and again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LABEL = re.compile(r"\s*(?P<rank>\d{1,5}):(?=\s|$)")
_LABEL_BYTES = re.compile(rb"\s*(\d{1,5}):(?=\s|$)")
_ENOUGH = 16
"""Lines that tell whether a log is labelled; fewer may be anything."""
_MOST_LOOKED_AT = 2000
_LEAST_SHARE = 0.95
"""Of the lines; the launcher itself says a word now and then."""
_LEAST_TURNS = 4
"""How often every label is there, on average; steps are not counted that often."""


@dataclass(slots=True)
class Labels:
    """Whether the lines of one log are labelled; nobody knows before it has some."""

    are_used: bool = False
    _is_settled: bool = False

    def look(self, pieces: Sequence[bytes]) -> bool:
        """Look at the first lines of a log; True if they show that lines are labelled."""
        if self._is_settled:
            return False
        spoken = [piece for piece in pieces[:_MOST_LOOKED_AT] if piece.strip()]
        if len(spoken) < _ENOUGH:
            return False
        self._is_settled = True
        found = [int(label[1]) for piece in spoken if (label := _LABEL_BYTES.match(piece))]
        self.are_used = len(found) >= _LEAST_SHARE * len(spoken) and _are_ranks(found)
        return self.are_used

    def without(self, text: str) -> str:
        """A line without its label."""
        label = LABEL.match(text) if self.are_used else None
        return text if label is None else text[label.end() :].removeprefix(" ")


def _are_ranks(labels: Sequence[int]) -> bool:
    """True if a few numbers come again and again; a count rises."""
    distinct = len(set(labels))
    falls = any(later < earlier for earlier, later in pairwise(labels))
    return _LEAST_TURNS * distinct <= len(labels) and (falls or distinct == 1)
