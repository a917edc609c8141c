"""What is copied from a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .pick import Pick
    from .shown import Shown


def copied_text(shown: Shown, pick: Pick) -> str:
    """What one would type, or else the words of the row; empty if there are none."""
    if pick.copied:
        return pick.copied
    if pick.reference is not None:
        return f"{pick.reference.ref}: {pick.reference.quote}".removesuffix(": ")
    session = shown.session
    match pick.kind:
        case "check":
            from mltd.sessions.model.checklist import CHECKS

            return next((check.title for check in CHECKS if check.id == pick.id), "")
        case "fact":
            facts = session.constraints.facts
            return next((fact.value for topic, fact in facts.items() if topic == pick.id), "")
        case "hypothesis":
            hypothesis = session.hypothesis(pick.id)
            if hypothesis is None:
                return ""
            line = next((fix.example for fix in hypothesis.fixes if fix.example), "")
            return line or hypothesis.statement
        case "experiment":
            experiment = session.experiment(pick.id)
            return (experiment.command or experiment.change) if experiment is not None else ""
        case "prevention":
            return next((item.text for item in session.prevention if item.id == pick.id), "")
        case "decision":
            return next((one.text for one in session.decisions if one.id == pick.id), "")
        case "note":
            return next((note.text for note in session.notes if note.id == pick.id), "")
        case _:
            return ""
