"""Opinions that were given before: laid out anew, beside what the analyzers say now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..consult_protocol import KeptOpinions, OpinionPage, OpinionRequest
from .grounds import gather
from .page import lay_out
from .places import Places
from .record import opinion_kept

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis
    from mltd.diagnosis.citations import CheckedOpinion

    from ..followed_run import FollowedRun
    from .conversation import Conversation
    from .grounds import Grounds


def recall(wish: OpinionRequest, followed: Mapping[int, FollowedRun]) -> KeptOpinions:
    """A page for each opinion; places are those of the runs that are followed now."""
    made: dict[bool, Grounds] = {}
    """By whether names were masked: then files are asked for by other names."""

    def page(body: str) -> OpinionPage | None:
        checked, at, is_redacted = opinion_kept(body)
        if checked is None:
            return None
        if is_redacted not in made:
            made[is_redacted] = gather(
                followed.get, wish.run, wish.session, wish.runs, is_redacted=is_redacted
            )
        grounds = made[is_redacted]
        found = [followed[number].diagnosis for number in grounds.numbers.values()]
        diagnoses = [one for one in found if one is not None]
        return lay_out(checked, diagnoses, grounds, Places(grounds), at)

    return KeptOpinions(wish.ticket, tuple(map(page, wish.bodies)))


def page_now(
    talk: Conversation,
    checked: CheckedOpinion,
    at: datetime,
    followed: Mapping[int, FollowedRun],
) -> OpinionPage:
    """The page of an opinion that was given just now."""
    diagnoses: Sequence[Diagnosis] = tuple(talk.diagnoses(followed).values())
    return lay_out(checked, diagnoses, talk.grounds, Places(talk.grounds), at)
