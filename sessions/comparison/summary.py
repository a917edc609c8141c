"""The verdict in one sentence."""

from __future__ import annotations

from ..model.criterion import DEFAULT_GUARD
from . import wording
from .case import Case
from .judged import FAILED, INCONCLUSIVE
from .verdict import Ruled, Sort, Verdict


def summary(verdict: Verdict, case: Case) -> str:
    """One sentence with the numbers that decide."""
    target, deciding = verdict.target, verdict.deciding
    parts: list[str] = []
    is_about_target = (
        target is not None and deciding is not None and case.find(deciding.metric) is target
    )
    if target is not None and target.pair.is_shared:
        parts.append(wording.sentence(target.change))
    if deciding is not None:
        own = deciding.judged
        parts.append(own.why if is_about_target and parts else own.said)
    if case.after.error and not any(case.after.error in part for part in parts):
        parts.append(f"the run after the change failed: {case.after.error}")
    parts += [_also_failed(verdict, deciding), _guards_said(verdict)]
    return "; ".join(dict.fromkeys(filter(None, parts)))


def _also_failed(verdict: Verdict, deciding: Ruled | None) -> str:
    """Guarded metrics that suffered, besides the one that was told about."""
    failed = [one for one in verdict.of(Sort.GUARD, FAILED) if one is not deciding]
    what = "regressed, too" if verdict.outcome is FAILED else "regressed so far"
    return f"{what}: {_listed(failed)}" if failed else ""


def _guards_said(verdict: Verdict) -> str:
    if verdict.outcome is FAILED and verdict.of(Sort.GUARD, FAILED):
        return ""
    guards, unknown = verdict.of(Sort.GUARD), verdict.of(Sort.GUARD, INCONCLUSIVE)
    if not guards or verdict.outcome is INCONCLUSIVE:
        return ""
    if len(unknown) == len(guards):
        return f"not shown for what is guarded: {_listed(unknown)}"
    told = f"no guarded metric regressed by more than {wording.plain_percent(DEFAULT_GUARD)}"
    return f"{told}, not shown for {_listed(unknown)}" if unknown else told


def _listed(ruled: list[Ruled]) -> str:
    names = [one.metric for one in ruled]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
