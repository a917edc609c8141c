"""Two checkpoints compared tensor by tensor, both streamed through memory once."""

from __future__ import annotations

import math

import numpy as np

from ..comparison import ClosestName, Comparison, ShapeMismatch, TensorChange
from .content import Content
from .dtypes import Array, decoded
from .leaf import Leaf, text
from .name_matching import MOST_STRANGE, closest_name, prefixes_of
from .sections import Found, Sections
from .statistics import BLOCK
from .summing import Progress, sections_of

_MODEL = ("parameter", "buffer")


def compared(
    paths: tuple[str, str], contents: tuple[Content, Content], progress: Progress
) -> Comparison:
    """What moved, and what does not fit."""
    sections = sections_of(contents[0]), sections_of(contents[1])
    first, second = _model(sections[0]), _model(sections[1])
    prefixes = prefixes_of(first, second)
    others = {name.removeprefix(prefixes.second): name for name in second}
    pairs = {
        name: others[plain]
        for name in first
        if (plain := name.removeprefix(prefixes.first)) in others
    }
    notes = [note for content in contents for note in content.notes]
    if prefixes.sentence:
        notes.insert(0, prefixes.sentence)
    changes, mismatches = _changes(first, second, pairs, notes, progress)
    met = set(pairs.values())
    only_first = [name for name in first if name not in pairs]
    only_second = [name for name in second if name not in met]
    for content in contents:
        content.check_unchanged()
    return Comparison(
        path=text(paths[0], 4096),
        other_path=text(paths[1], 4096),
        position=sections[0].position,
        other_position=sections[1].position,
        changes=tuple(changes),
        only_first=tuple(only_first),
        only_second=tuple(only_second),
        mismatches=tuple(mismatches),
        closest=tuple(_closest(first, second, only_first, only_second)),
        prefix=prefixes.first,
        other_prefix=prefixes.second,
        notes=tuple(notes),
    )


def _model(sections: Sections) -> dict[str, Found]:
    return {found.name: found for found in sections.tensors if found.role in _MODEL}


def _changes(
    first: dict[str, Found],
    second: dict[str, Found],
    pairs: dict[str, str],
    notes: list[str],
    progress: Progress,
) -> tuple[list[TensorChange], list[ShapeMismatch]]:
    changes: list[TensorChange] = []
    mismatches: list[ShapeMismatch] = []
    total = sum(first[name].leaf.bytes + second[other].leaf.bytes for name, other in pairs.items())
    done = unread = 0
    for name, other in pairs.items():
        before, after = first[name].leaf, second[other].leaf
        done += before.bytes + after.bytes
        if before.shape != after.shape:
            mismatches.append(ShapeMismatch(name, other, before.shape, after.shape))
        elif (change := _change(name, other, first[name], after)) is not None:
            changes.append(change)
        else:
            unread += 1
        progress(min(done, total), total)
    if unread:
        notes.append(f"the values of {unread:,} tensors cannot be read, so they are not compared")
    return changes, mismatches


def _change(name: str, other: str, found: Found, after: Leaf) -> TensorChange | None:
    before = found.leaf
    if before.source is None or after.source is None:
        return None
    norm = other_norm = update = largest = 0.0
    new_bad = differing = 0
    with np.errstate(all="ignore"):
        blocks = zip(before.source.blocks(BLOCK), after.source.blocks(BLOCK), strict=True)
        for raw, other_raw in blocks:
            if before.dtype == after.dtype and np.array_equal(raw.view("u1"), other_raw.view("u1")):
                one = _wide(raw, before.dtype)
                one = one if np.isfinite(one.sum()) else one[np.isfinite(one)]
                square = float(np.dot(one, one))
                norm += square
                other_norm += square
                continue
            one, two = _wide(raw, before.dtype), _wide(other_raw, after.dtype)
            # A sum is finite only if all of its parts are; hardly any tensor has others.
            if not math.isfinite(float(one.sum()) + float(two.sum())):
                good, other_good = np.isfinite(one), np.isfinite(two)
                both = good & other_good
                new_bad += int(np.count_nonzero(good & ~other_good))
                strange = (one != two) & ~(np.isnan(one) & np.isnan(two)) & ~both
                differing += int(np.count_nonzero(strange))
                one, two = one[both], two[both]
            moved = two - one
            differing += int(np.count_nonzero(moved))
            norm += float(np.dot(one, one))
            other_norm += float(np.dot(two, two))
            update += float(np.dot(moved, moved))
            largest = max(largest, float(moved.max(initial=0.0)), -float(moved.min(initial=0.0)))
    sizes = [math.sqrt(size) for size in (norm, other_norm, update)]
    norm, other_norm, update = (size if math.isfinite(size) else 0.0 for size in sizes)
    return TensorChange(
        name=name,
        other_name=other,
        shape=before.shape,
        elements=before.elements,
        role=found.role,
        norm=norm,
        other_norm=other_norm,
        update=update,
        largest=largest if math.isfinite(largest) else 0.0,
        is_equal=differing == 0,
        new_bad=new_bad,
        dtypes=(before.dtype, after.dtype),
    )


def _wide(raw: Array, dtype: str) -> Array:
    wide: Array = decoded(raw, dtype).astype(np.float64)
    return wide


def _closest(
    first: dict[str, Found],
    second: dict[str, Found],
    only_first: list[str],
    only_second: list[str],
) -> list[ClosestName]:
    """For each name without a counterpart the most similar one without a counterpart."""
    found: list[ClosestName] = []
    for names, others, own, theirs, is_in_first in (
        (only_first, only_second, first, second, True),
        (only_second, only_first, second, first, False),
    ):
        for name in names[:MOST_STRANGE]:
            shape = own[name].leaf.shape
            alike = [other for other in others[:2000] if theirs[other].leaf.shape == shape]
            best = closest_name(name, alike) or closest_name(name, others[:MOST_STRANGE])
            if best is not None:
                is_same = theirs[best[0]].leaf.shape == shape
                found.append(ClosestName(name, is_in_first, best[0], best[1], is_same))
    return found
