"""Lines that differ in the digits inside their names: `layer.17.weight`, `expert_3/load`.

Each name is a series of its own, and there may be thousands. A few of such lines are read
carefully; if they agree in everything but these digits, the others need no look at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..harvest import Ints
from .template import Template

if TYPE_CHECKING:
    from .plan import Plan

_VALUE_DIGITS = re.compile(
    rb"(?<![A-Za-z_@])(?<![A-Za-z_]-)(?<!\w\.)[-+]?\b\d[\d.,]*(?:[eE][-+]?\d+)?"
)
_DIGITS = re.compile(rb"\d+")
_DIGITS_IN_NAME = re.compile(r"\d+")
_ENOUGH = 64
"""Lines with different names that are read carefully before the others are taken to be alike."""
_MOST_KEPT = 24
"""Of them as many are compared, spread over all."""

Digits = tuple[bytes, ...]
Name = tuple[str | int, ...]
"""Texts, and numbers of the digits that stand between them."""


def without_values(line: bytes) -> bytes:
    """A line without its values: the digits that are left are parts of names."""
    return _VALUE_DIGITS.sub(b"", line)


def split_digits(exact: bytes) -> tuple[bytes, Digits]:
    """The text of a line without values and without digits in names, and these digits."""
    digits = tuple(_DIGITS.findall(exact))
    return (_DIGITS.sub(b"0", exact) if digits else exact), digits


@dataclass(slots=True)
class Variety:
    """Lines that have everything in common but the digits inside names."""

    members: int = 0
    names: list[Name] | None = None
    """For each slot, once they are known."""
    is_hopeless: bool = False
    """Members differ in more than digits."""
    _samples: list[tuple[Digits, Plan]] = field(default_factory=list)

    def learn(self, digits: Digits, plan: Plan) -> Plan | None:
        """Take in a member that was read carefully; the plan for all, once that is clear."""
        self.members += 1
        if self.is_hopeless or self.names is not None:
            return None
        if not _is_plain(plan):
            self.is_hopeless = True
            return None
        if self.members % (_ENOUGH // _MOST_KEPT) == 0:
            self._samples.append((digits, plan))
        if self.members < _ENOUGH:
            return None
        self.names = _names_of(self._samples)
        self.is_hopeless = self.names is None
        self._samples, samples = [], self._samples
        if self.names is None or samples[0][1].template is None:
            return None
        # Equal names were made sure of when the lines were found to be members.
        return replace(samples[0][1], template=replace(samples[0][1].template, anchors=()))

    def names_in(self, lines: Sequence[bytes]) -> list[tuple[list[str], Ints]]:
        """The names of the slots for each distinct member, and the numbers of its lines."""
        assert self.names is not None
        places: dict[Digits, list[int]] = {}
        for number, line in enumerate(lines):
            places.setdefault(tuple(_DIGITS.findall(without_values(line))), []).append(number)
        return [
            ([_spell(name, digits) for name in self.names], np.array(numbers, dtype=np.int64))
            for digits, numbers in places.items()
        ]


def _spell(name: Name, digits: Digits) -> str:
    return "".join(part if isinstance(part, str) else digits[part].decode() for part in name)


def _is_plain(plan: Plan) -> bool:
    """True if a plan reads numbers and nothing else."""
    template = plan.template
    if template is None or plan.is_special or plan.heading or plan.may_state:
        return False
    has_index = any(slot.index_span is not None for slot in template.reading.slots)
    return template.reading.bar is None and not has_index


def _names_of(samples: Sequence[tuple[Digits, Plan]]) -> list[Name] | None:
    """Which digits of a line stand where in its names; None if lines differ in more than that."""
    templates = [plan.template for _, plan in samples if plan.template is not None]
    if len({_kind(template) for template in templates}) != 1:
        return None
    names = []
    for slot in range(len(templates[0].reading.slots)):
        spelled = [template.reading.slots[slot].name for template in templates]
        texts = _DIGITS_IN_NAME.split(spelled[0])
        name: list[str | int] = [texts[0]]
        for place, text in enumerate(texts[1:]):
            found = set(range(len(samples[0][0])))
            for (digits, _), one in zip(samples, spelled, strict=True):
                runs = _DIGITS_IN_NAME.findall(one)
                if place >= len(runs):
                    return None
                found &= {n for n, run in enumerate(digits) if run.decode() == runs[place]}
            if not found:
                return None
            name += [min(found), text]
        names.append(tuple(name))
    for (digits, _), template in zip(samples, templates, strict=True):
        if [_spell(name, digits) for name in names] != [s.name for s in template.reading.slots]:
            return None
    return names


def _kind(template: Template) -> tuple[object, ...]:
    """Whatever must be equal in templates of one variety."""
    reading = template.reading
    return (
        tuple(template.fields),
        template.token_count,
        tuple(template.extras.items()),
        template.has_trailing_dots,
        template.json_places,
        tuple((slot.unit, slot.is_known) for slot in reading.slots),
        tuple((c.axis, c.precedence, c.scale) for c in reading.coordinates),
        reading.rank if reading.rank_span is None else None,
        (reading.split, reading.level, reading.stamp, reading.stamp_span),
        (reading.is_record, reading.is_setting_like),
    )
