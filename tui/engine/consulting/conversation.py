"""One conversation with Claude, as the engine keeps it between two questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis
    from mltd.diagnosis.preview import Preview
    from mltd.diagnosis.second_opinion import SecondOpinion

    from ..followed_run import FollowedRun
    from .grounds import Grounds


@dataclass(slots=True)
class Conversation:
    """What was packed, and what it is about."""

    ticket: int
    grounds: Grounds
    opinion: SecondOpinion
    preview: Preview
    told: Mapping[str, Diagnosis]
    """What the analyzers said when it was packed."""
    has_begun: bool = False
    """Somebody agreed, and the evidence was sent."""

    def diagnoses(self, followed: Mapping[int, FollowedRun]) -> dict[str, Diagnosis]:
        """What the analyzers say now; of a run that is left alone, what they said last."""
        found = dict(self.told)
        for key, number in self.grounds.numbers.items():
            one = followed.get(number)
            if one is not None and one.diagnosis is not None:
                found[key] = one.diagnosis
        return found
