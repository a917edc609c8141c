"""Coordinates in free text: `Epoch 3`, `step 10/500`, `Train Epoch: 1 [640/60000 (1%)]`."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..roles import Roles
from . import precedence
from .candidate import Candidate
from .names import KEY_EDGES, clean_key, note_heading
from .numbers import FRACTION, NUMBER, TOTAL
from .passage import Passage

_SPLIT_IN_PARENTHESES = re.compile(r"\((?:train|val|valid|test|eval)\w*\)\s*$")
"""mmengine's `Epoch(train)`."""
_CLAUSE_END = re.compile(r"[.!?:]\s+|[\])}>]\s*|(?<=\w)\((?=\w)")
_INTEGRAL = re.compile(r"[\d,]+(?:\.0*)?")
_BROKEN_AXES = ("epoch", "tokens", "samples")
"""Axes on which 0.02 or 1.5e9 is a place."""
_PLURAL_AXES = frozenset(
    {"steps", "iters", "iterations", "epochs", "updates", "timesteps", "rounds"}
)
_MAX_WORDS_BEFORE = 4
_UNCOUNTED = frozenset({
    "best", "last", "max", "min", "num", "total", "warmup", "every", "per", "start", "end", "of",
    "skipped", "first",
})  # fmt: skip
"""With one of these before it, even `step=3` is a setting or a result."""
_ASSIGNED_VALUE = re.compile(
    r"\s*+\)?\s*+(?:[:=]|\b(?:is|was)\b)\s*+(?=[\d.+-]|nan|inf)", re.IGNORECASE
)
"""`: 2.3` or `is 2.3`, behind a coordinate."""
_TEXT_FIELD = re.compile(r"""[\w.]+=(?:"[^"]*"|\S+)\s+""")
"""`level=info `, `msg="a step" `: fields in front of the one that is read."""
_INITIALS = {"e": "epoch", "b": "inner", "i": "step"}
"""`[E 3/20][B 100/600]`: letters that name an axis only where a total follows."""
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6}
"""`step 1.2k`."""
_PREPOSITION = re.compile(r"\s*\(?\s*(?:at|after|for|in|on|@)?\s*$")
"""`at`, between `Training loss` and `step 100`."""
_CLOSING_BRACKET = re.compile(r"\s*[\])]?")
_GAP = re.compile(r"[\s,:]*")
_DECIMALS_FOLLOW = re.compile(r"\s*\.")
_BRACKETED_INTEGER = re.compile(r"\s*\[\s*\d+\s*\]")
_PARENTHESISED_FRACTION = re.compile(r"\((?P<n>\d+)\s*/\s*(?P<total>\d+)\)")
_LOOP_VARIABLES = frozenset({"i", "j", "n", "idx", "batch_i", "bi"})
_COUNTED = frozenset({"", "batches", "batch", "iters", "iterations", "steps", "it", "step", "iter"})
"""What may stand behind `200/ 2983` in a line that named its epoch."""


class AxisName(NamedTuple):
    """The axis that the last words of a phrase name."""

    axis: str
    precedence: int
    before: str
    """The words in front of it."""


def find_axis(phrase: str, roles: Roles) -> AxisName | None:
    """The axis that the last one to three words of a phrase name, the longest name first."""
    words = phrase.split()
    for count in (3, 2, 1):
        if len(words) < count:
            continue
        axis, rank = roles.axis_rank(" ".join(words[-count:]))
        if axis is not None and axis != "time":
            return AxisName(axis, rank, " ".join(words[:-count]))
    return None


def take_coordinate(passage: Passage, candidate: Candidate) -> int | None:
    """Read a number that its words make a coordinate; where reading goes on, else None."""
    key = _axis_key(passage, candidate.phrase)
    named = find_axis(key, passage.roles)
    if named is None and key.casefold() in _LOOP_VARIABLES:
        end = _take_loop_variable(passage, candidate)
        if end is not None:
            return end
    if named is None and key.casefold() in _INITIALS:
        return _take_initial(passage, candidate, _INITIALS[key.casefold()])
    if named is None or not _locates(passage, candidate, key, named):
        return None
    number = candidate.number
    # `Evaluation epoch 3` is an axis of the vocabulary, and yet it tells the split.
    is_apart = passage.roles.split_of(key) in ("val", "test")
    passage.add_head_words(key if is_apart else named.before)
    total = TOTAL.match(passage.text, number.end())
    if named.axis == "step" and _counts_evaluation(passage, candidate.phrase):
        return _skip(_CLOSING_BRACKET, passage.text, total.end() if total else number.end())
    if named.axis in ("tokens", "samples"):
        passage.add_slot(key, number, is_known=True)
    axis, rank = _settle_axis(passage, named, key, number["number"], has_total=total is not None)
    passage.add_coordinate(
        axis,
        number.span("number"),
        rank,
        total.span("total") if total else None,
        scale=_SCALES.get(number["unit"] or "", 1.0),
    )
    stop = total.end() if total else number.end()
    value_end = _take_value_at_axis(passage, named.before, stop, candidate.segment_end)
    if value_end is not None:
        return value_end
    stop = _skip(_CLOSING_BRACKET, passage.text, stop)
    return _read_inside_epoch(passage, stop) if axis == "epoch" else stop


def _take_initial(passage: Passage, candidate: Candidate, axis: str) -> int | None:
    total = TOTAL.match(passage.text, candidate.number.end())
    if total is None or not candidate.number["number"].isdigit():
        return None
    span = candidate.number.span("number")
    passage.add_coordinate(axis, span, precedence.HEAD, total.span("total"))
    return _skip(_CLOSING_BRACKET, passage.text, total.end())


def _take_loop_variable(passage: Passage, candidate: Candidate) -> int | None:
    """`epoch=3 i=240/530`: counts inside the epoch, because of the total behind it."""
    total = TOTAL.match(passage.text, candidate.number.end(), candidate.segment_end)
    is_counted = candidate.is_assigned and candidate.number["number"].isdigit()
    if total is None or not is_counted or not passage.has_axis("epoch"):
        return None
    if passage.has_axis("inner") or passage.has_axis("step"):
        return None
    span = candidate.number.span("number")
    passage.add_coordinate("inner", span, precedence.BATCHES_OF_EPOCH, total.span("total"))
    return total.end()


def take_epoch_of_split(passage: Passage, candidate: Candidate) -> int | None:
    """timm's `Train: 3 [  50/1251 (  4%)]`: the split stands where the epoch's name would."""
    phrase = candidate.phrase
    if not candidate.is_assigned or passage.slots or len(phrase.split()) != 1:
        return None
    inner = FRACTION.match(passage.text, candidate.number.end())
    if inner is None or not inner[0].lstrip().startswith("[") or not passage.roles.split_of(phrase):
        return None
    passage.add_head_words(phrase)
    passage.add_coordinate("epoch", candidate.number.span("number"), precedence.HEAD)
    _add_fraction_of_epoch(passage, inner)
    return inner.end()


def take_epoch_of_loop(passage: Passage, candidate: Candidate) -> int | None:
    """`valid (3/20) loss: 2.1`: one line for each loop over a part of the data."""
    if passage.slots or passage.coordinates or not candidate.left.endswith("("):
        return None
    words = candidate.left[:-1].strip(KEY_EDGES)
    found = _PARENTHESISED_FRACTION.match(passage.text, candidate.number.start() - 1)
    if found is None or len(words.split()) != 1 or not passage.roles.split_of(words):
        return None
    passage.add_head_words(words)
    passage.add_coordinate("epoch", found.span("n"), precedence.HEAD, found.span("total"))
    return found.end()


def take_bracketed_position(passage: Passage, candidate: Candidate) -> int | None:
    """`Test: [10/1814] Data 0.3`: a position, and the words before it are a heading."""
    if not candidate.left.rstrip().endswith("["):
        return None
    opening = passage.text.rindex("[", 0, candidate.number.start())
    found = FRACTION.match(passage.text, opening)
    if found is None or not found[0].rstrip().endswith("]"):
        return None
    note_heading(passage, candidate.left.rstrip(" ["))
    # `Train: [0/300][10/1251]`: epochs, then what is inside them.
    inside = FRACTION.match(passage.text, found.end())
    if inside is not None and inside[0].startswith("[") and not passage.has_axis("epoch"):
        passage.add_coordinate("epoch", found.span("n"), precedence.HEAD, found.span("total"))
        found = inside
    if not passage.has_axis("inner") and not passage.has_axis("step"):
        passage.add_coordinate(
            "inner", found.span("n"), precedence.BATCHES_OF_EPOCH, found.span("total")
        )
    return found.end()


def take_batches_of_epoch(passage: Passage, candidate: Candidate) -> int | None:
    """`| epoch 1 | 200/ 2983 batches |`: no name, but an epoch was named before."""
    number, end = candidate.number, candidate.segment_end
    total = TOTAL.match(passage.text, number.end(), end)
    if total is None or not passage.has_axis("epoch") or passage.has_axis("inner"):
        return None
    if passage.text[total.end() : end].strip().casefold() not in _COUNTED:
        return None
    passage.add_coordinate(
        "inner", number.span("number"), precedence.BATCHES_OF_EPOCH, total.span("total")
    )
    return end


def _axis_key(passage: Passage, phrase: str) -> str:
    """The last clause of a phrase; a split in parentheses behind it goes to the head words."""
    words = _TEXT_FIELD.sub("", phrase.rstrip(" [(#:="))
    if split := _SPLIT_IN_PARENTHESES.search(words):
        passage.add_head_words(split[0])
        words = words[: split.start()]
    return _CLAUSE_END.split(words)[-1].strip(KEY_EDGES + "[(")


def _locates(passage: Passage, candidate: Candidate, key: str, named: AxisName) -> bool:
    """False if the number counts or measures something on the axis."""
    number, before = candidate.number, named.before
    if number["number"][0] in "+-" or (number["unit"] and number["unit"] not in _SCALES):
        return False
    is_broken = not _INTEGRAL.fullmatch(number["number"])
    if is_broken and not number["unit"] and named.axis not in _BROKEN_AXES:
        return False
    if len(before.split()) > _MAX_WORDS_BEFORE:
        return False
    if candidate.is_assigned and before and not passage.roles.split_of(before):
        # "number of skipped iterations: 3" counts, "a step is done step=3" locates.
        is_field = candidate.left.endswith("=") and not candidate.left.endswith(" =")
        if not is_field or not _UNCOUNTED.isdisjoint(before.casefold().split()):
            return False
    # "needed for iters 600,000" and "| Steps: 24" count, "(epoch: 1, iters: 100" locates.
    # A name of several words, such as `learner steps`, is a coordinate wherever it stands.
    is_plural = key.split()[-1].casefold() in _PLURAL_AXES
    name = key.split()[len(before.split()) :]
    is_plural &= sum(not passage.roles.is_split(word) for word in name) == 1
    if is_plural and passage.coordinates and passage.roles.split_of(key):
        return False  # "Epoch: 1/20 Train steps: 150 Val steps: 20"
    return not is_plural or not (passage.slots or before)


def _counts_evaluation(passage: Passage, phrase: str) -> bool:
    """mmcv's `Iter(val) [500]` counts the batches that were evaluated, not the training."""
    split = _SPLIT_IN_PARENTHESES.search(phrase.rstrip(" [(#:="))
    return split is not None and passage.roles.split_of(split[0]) in ("val", "test")


def _settle_axis(
    passage: Passage, named: AxisName, key: str, digits: str, *, has_total: bool
) -> tuple[str, int]:
    """A batch, or a step counted inside an epoch, is `inner`; a broken epoch is imprecise."""
    axis, rank, _ = named
    if axis == "batch":
        return "inner", rank
    if (
        axis == "step"
        and passage.has_axis("epoch")
        and (has_total or key.casefold() in ("it", "batch"))
    ):
        return "inner", rank
    if axis == "epoch" and not _INTEGRAL.fullmatch(digits):
        return "epoch", rank + precedence.BROKEN_EPOCH_PENALTY
    return axis, rank


def _take_value_at_axis(passage: Passage, before: str, start: int, end: int) -> int | None:
    """`Training loss at step 100: 2.345`: the name stands before the coordinate."""
    sign = _ASSIGNED_VALUE.match(passage.text, start)
    number = NUMBER.match(passage.text, sign.end(), end) if sign else None
    if number is None:
        return None
    name = clean_key(_PREPOSITION.sub("", before), passage.roles)
    if not name or not passage.roles.is_known(name):
        return None
    passage.add_slot(name, number)
    return number.end()


def _read_inside_epoch(passage: Passage, position: int) -> int:
    """Read `[50/632]`, or skip `[50]`, behind an epoch; where reading goes on."""
    text = passage.text
    inner = FRACTION.match(text, _skip(_GAP, text, position))
    if inner is None:
        return _skip(_BRACKETED_INTEGER, text, position)
    if _DECIMALS_FOLLOW.match(text, inner.end(), inner.end() + 2):
        return position
    _add_fraction_of_epoch(passage, inner)
    return inner.end()


def _add_fraction_of_epoch(passage: Passage, fraction: re.Match[str]) -> None:
    passage.add_coordinate(
        "inner", fraction.span("n"), precedence.FRACTION_OF_EPOCH, fraction.span("total")
    )


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return position if found is None else found.end()
