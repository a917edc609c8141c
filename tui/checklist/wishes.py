"""What a command means for the row under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .keys import open_question

if TYPE_CHECKING:
    from mltd.sessions.model.evidence import EvidenceRef

    from .pick import Pick
    from .shown import Shown

_STEPS = {
    "surer": ("confidence", 1),
    "less_sure": ("confidence", -1),
    "move_down": ("move", 1),
    "move_up": ("move", -1),
}
"""Commands that are one verb in two directions."""
_OF_THE_SESSION = (
    "undo", "redo", "save_elsewhere", "take_over", "owner", "timeline", "baseline", "rename"
)  # fmt: skip


class Wish(NamedTuple):
    """What is to be done, and to what."""

    verb: str
    kind: str
    id: str
    amount: int = 0
    evidence: EvidenceRef | None = None


def wish(command: str, pick: Pick | None, shown: Shown | None) -> Wish:
    """The command as something to do to a row, or to the session as a whole."""
    verb, amount = _STEPS.get(command, (command, 0))
    if shown is None:
        return Wish(verb, "session", "", amount)
    if pick is None or verb in _OF_THE_SESSION:
        return Wish(verb, "session", shown.session.id, amount)
    if verb == "answer" and pick.kind != "fact":
        same = shown.find(pick.id, "fact")
        return Wish(verb, "fact", same.id if same is not None else open_question(shown))
    if verb == "remove" and pick.reference is not None:
        sign = -1 if pick.is_against else 1
        return Wish(verb, "evidence", pick.id, sign, pick.reference)
    if verb in ("plan", "add_evidence") and pick.kind == "experiment":
        experiment = shown.session.experiment(pick.id)
        return Wish(verb, "hypothesis", experiment.hypothesis if experiment else "")
    return Wish(verb, pick.kind, pick.id, amount, pick.reference)
