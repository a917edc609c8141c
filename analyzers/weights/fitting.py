"""checkpoint_mismatch between two checkpoints: what `load_state_dict` would complain about."""

from __future__ import annotations

from collections.abc import Iterator

from mltd.runs.checkpoints import Comparison

from ..core.calibration import finding_confidence
from ..core.finding import Basis, Evidence, Finding, Severity
from .places import MOST_EVIDENCE, place_evidence, shape_text, some

_RENAMED = 0.6
"""Similarity from which on two names are probably one that was renamed."""


def misfits(comparison: Comparison) -> Iterator[Finding]:
    """One finding for prefixes, shapes or names: what comes first explains the rest."""
    if comparison.is_loadable:
        return
    evidence = tuple(_evidence(comparison))[:MOST_EVIDENCE]
    if not evidence:
        return
    yield Finding(
        id="checkpoint_mismatch",
        title=_title(comparison),
        severity=Severity.WARNING,
        confidence=finding_confidence(Basis.OBSERVATION, 0.95),
        basis=Basis.OBSERVATION,
        evidence=evidence,
        details={**_said(comparison), "is_first": 1.0},
    )


def _title(comparison: Comparison) -> str:
    parts: list[str] = []
    prefix = comparison.prefix or comparison.other_prefix
    if prefix:
        which = "first" if comparison.prefix else "second"
        parts.append(f"all names of the {which} begin with '{prefix}'")
    if comparison.mismatches:
        one = comparison.mismatches[0]
        shapes = f"{shape_text(one.shape)} and {shape_text(one.other_shape)}"
        count = len(comparison.mismatches)
        tensors = "1 tensor has" if count == 1 else f"{count:,} tensors have"
        parts.append(f"{tensors} two shapes ({one.name}: {shapes})")
    for names, which in ((comparison.only_first, "first"), (comparison.only_second, "second")):
        if names:
            parts.append(f"{len(names):,} only in the {which} ({some(names, 2)})")
    return f"load_state_dict would refuse one in place of the other: {'; '.join(parts)}"


def _evidence(comparison: Comparison) -> Iterator[Evidence]:
    first, second = comparison.path, comparison.other_path
    prefix = comparison.prefix or comparison.other_prefix
    if prefix and comparison.changes:
        one = comparison.changes[0]
        path, name = (first, one.name) if comparison.prefix else (second, one.other_name)
        other = one.other_name if comparison.prefix else one.name
        yield place_evidence(path, name, f"called {other} in the other")
    for mismatch in comparison.mismatches:
        quote = f"{shape_text(mismatch.shape)}, {shape_text(mismatch.other_shape)} in the other"
        yield place_evidence(first, mismatch.name, quote)
    closest = {(near.name, near.is_in_first): near for near in comparison.closest}
    for names, path, is_first in (
        (comparison.only_first, first, True),
        (comparison.only_second, second, False),
    ):
        for name in names:
            near = closest.get((name, is_first))
            quote = "not in the other"
            if near is not None and near.similarity >= _RENAMED:
                shape = "the same shape" if near.is_same_shape else "another shape"
                quote += f"; closest there: {near.closest} ({shape})"
            yield place_evidence(path, name, quote)


def _said(comparison: Comparison) -> dict[str, float | str]:
    """The message of torch that this would cause, as the book of messages knows it."""
    strange = comparison.only_first or comparison.only_second
    if comparison.mismatches:
        one = comparison.mismatches[0]
        old, new = (str(list(shape)) for shape in (one.other_shape, one.shape))
        return {
            "rule": "size_differs", "said_key": one.name, "said_old": old, "said_new": new,
        }  # fmt: skip
    if not strange:
        return {
            "rule": "wrapper_prefix",
            "said_prefix": comparison.prefix or comparison.other_prefix,
        }
    return {"rule": "keys_differ", "said_key": strange[0]}
