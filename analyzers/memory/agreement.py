"""Whether a log and a checkpoint are of one model: only then may their numbers be put together."""

from __future__ import annotations

from dataclasses import dataclass

from mltd.runs.run import Run
from mltd.runs.statements import Statement, StatementKind

_EXACT = 1.01
"""Times: a probe counts every parameter."""
_ROUGH = 2.0
"""Times: people write 7B, and some frameworks leave the embeddings out."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the log says about the model that a checkpoint holds."""

    trainable: tuple[Statement, ...] = ()
    """How many of its parameters are trained; several if several parts of it were recorded."""
    problem: str = ""
    """Why the log is of another model, in a sentence; empty if it is not."""


def agreement(run: Run, parameters: int) -> Agreement:
    """Compare every number of parameters that the log states with that of the checkpoint."""
    stated = [s for s in run.statements if s.kind is StatementKind.PARAMETERS and s.value]
    if any(one.subject == "rank" for one in stated):
        # What one rank holds says nothing about the whole.
        return Agreement(_last(stated, "trainable"))
    totals = [one for one in stated if one.subject == "total"]
    for one in reversed(totals):
        if _is_near(one.value, parameters, _bound(run, one)):
            return Agreement(_beside(one, stated))
    whole = _newest_of_files(totals)
    if len(whole) > 1 and _is_near(sum(s.value or 0.0 for s in whole), parameters, _EXACT):
        return Agreement(tuple(part for one in whole for part in _beside(one, stated)))
    trainable = _last(stated, "trainable")
    if not totals or any(_is_near(one.value, parameters, _ROUGH) for one in trainable):
        return Agreement(trainable)
    counts = " and ".join(f"{one.value:,.0f}" for one in whole[:3])
    return Agreement(
        problem=f"The log is of another model: it counts {counts} parameters, the checkpoint "
        f"{parameters:,}. Of what it states, only the device is used here."
    )


def _bound(run: Run, stated: Statement) -> float:
    source = run.files[stated.file] if stated.file < len(run.files) else None
    return _EXACT if source is not None and source.format == "probe" else _ROUGH


def _is_near(value: float | None, parameters: int, bound: float) -> bool:
    return value is not None and parameters / bound <= value <= parameters * bound


def _beside(total: Statement, stated: list[Statement]) -> tuple[Statement, ...]:
    """The trained ones of the same model: stated nearest to it in the same file."""
    own = [one for one in stated if one.subject == "trainable" and one.file == total.file]
    return (min(own, key=lambda one: abs(one.line - total.line)),) if own else ()


def _last(stated: list[Statement], subject: str) -> tuple[Statement, ...]:
    found = [one for one in stated if one.subject == subject]
    return (found[-1],) if found else ()


def _newest_of_files(totals: list[Statement]) -> list[Statement]:
    return list({one.file: one for one in totals}.values())
