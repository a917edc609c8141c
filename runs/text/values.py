"""Values and what belongs to them: units, totals, `(averages)`, and names that stand behind."""

from __future__ import annotations

import re

from ..roles import Roles
from .axes import take_batches_of_epoch
from .candidate import Candidate
from .names import clean_key, last_sentence, name_of
from .numbers import NUMBER, TOTAL, parse_number
from .passage import Passage
from .reading import Slot

_SPACED_UNIT = re.compile(
    r"\s(?P<unit>[a-zA-Zµμ]+/[a-zA-Z]+(?!\s+[-+]?\d[\d.]*+(?!\s*[a-zA-Z]+/[a-zA-Z]))|ms|s|sec|secs|seconds"
    r"|[KMGT]i?B)(?![\w/])(?!\.\w|\s?[=:]\s*[-+.\dnNiI])"
)
"""` samples/sec`, ` ms`, ` GiB`; but in `lr 0.1 imgs/s 955` it is the name of the next number."""
_PARENTHESES = re.compile(r"\s*+\(\s*+(?P<content>[^()]*+)\)")
_DIGIT_FOLLOWS = re.compile(r"\s*\d")
_ASSIGNS = re.compile(r"[:=]\s*$")
_MAX_WORDS_BEHIND = 3
_SIGNS = ("+", "-")
_SPLITS = re.compile(r"[(\[]?\b(?P<splits>[^\W\d_]+(?:/[^\W\d_]+){1,2})\b[)\]]?")
_SLASH = re.compile(r"\s*[/|,]\s*")


def take_value(passage: Passage, candidate: Candidate) -> int:
    """Read a number as the value of the name before it; where reading goes on."""
    number, phrase, roles = candidate.number, candidate.phrase, passage.roles
    is_prose = roles.is_prose(clean_key(last_sentence(phrase), roles))
    name, index_span = name_of(passage, phrase, candidate.phrase_start)
    if not name or roles.is_identity(name):
        return number.end()
    if (stop := _take_splits(passage, name, candidate)) is not None:
        return stop
    slot = passage.add_slot(
        name, number, is_known=False if is_prose else None, index_span=index_span
    )
    if candidate.is_assigned and _take_rest_of_row(passage, slot, candidate):
        stop = candidate.segment_end
    else:
        stop = number.end()
    return _read_behind(passage, slot, stop, candidate)


def _take_splits(passage: Passage, name: str, candidate: Candidate) -> int | None:
    """`loss (train/val): 0.31 / 0.35`: as many values as splits; None if it is no such name."""
    found = _SPLITS.search(name)
    splits = found["splits"].split("/") if found else []
    if found is None or not all(map(passage.roles.is_split, splits)):
        return None
    numbers = [candidate.number]
    for _ in splits[1:]:
        gap = _SLASH.match(passage.text, numbers[-1].end())
        number = NUMBER.match(passage.text, gap.end()) if gap else None
        if number is None:
            return None
        numbers.append(number)
    rest = clean_key(name[: found.start()] + name[found.end() :], passage.roles)
    for split, number in zip(splits, numbers, strict=True):
        passage.add_slot(f"{split} {rest}".strip(), number)
    return numbers[-1].end()


def take_value_before_name(passage: Passage, candidate: Candidate) -> int:
    """`0.19 seconds`, `445.5 samples/sec`, `42.6% MFU`: the unit or the words are the name."""
    number, text, roles = candidate.number, passage.text, passage.roles
    if text[: number.start()].rstrip().endswith("("):
        return number.end()
    if (stop := take_batches_of_epoch(passage, candidate)) is not None:
        return stop
    if _take_value_named_by_unit(passage, number):
        return number.end()
    spaced = _SPACED_UNIT.match(text, number.end(), candidate.segment_end)
    if spaced and _is_duration(spaced["unit"], roles):
        passage.add_slot("elapsed", number).unit = spaced["unit"]
        return spaced.end()
    stop = candidate.upcoming.start() if candidate.upcoming else candidate.segment_end
    if candidate.upcoming and _ASSIGNS.search(text, number.end(), stop):
        return number.end()  # `100 loss=2.3`: the name is that of the next number
    words = clean_key(text[number.end() : stop].partition("(")[0], roles).strip(".")
    if words and len(words.split()) <= _MAX_WORDS_BEHIND and roles.is_known(words):
        passage.add_slot(words, number)
        return stop
    return number.end()


def _take_value_named_by_unit(passage: Passage, number: re.Match[str]) -> bool:
    """`249.86/s`, `66ms/step`, `131s`, `171545tok/s`."""
    unit = number["unit"]
    if not unit or unit == "%":
        return False
    amount, _, per = unit.partition("/")
    if not amount:
        passage.add_slot(f"items{unit}", number)
    elif _is_duration(amount, passage.roles):
        passage.add_slot(f"time/{per}" if per else "elapsed", number).unit = amount
    elif per:
        passage.add_slot(unit, number)
    else:
        return False
    return True


def _is_duration(unit: str, roles: Roles) -> bool:
    dimension, _ = roles.units.get(unit, ("", 1.0))
    return dimension == "s"


def _take_rest_of_row(passage: Passage, slot: Slot, candidate: Candidate) -> bool:
    """`bbox_mAP_copypaste: 0.647 0.935 0.761`: one name, several numbers."""
    text, start, end = passage.text, candidate.number.end(), candidate.segment_end
    if not _DIGIT_FOLLOWS.match(text, start, start + 3):
        return False
    numbers = list(NUMBER.finditer(text, start, end))
    if not numbers or NUMBER.sub("", text[start:end]).strip():
        return False
    base = slot.name
    slot.name = f"{base}[0]"
    for index, number in enumerate(numbers, start=1):
        span = passage.in_line(number.span("number"))
        value = parse_number(number["number"])
        passage.slots.append(Slot(f"{base}[{index}]", span, value, is_known=slot.is_known))
    return True


def _read_behind(passage: Passage, slot: Slot, stop: int, candidate: Candidate) -> int:
    """A unit after a space, `/total`, `(average)`, `(+change)`, `(percent)`."""
    text, end = passage.text, candidate.segment_end
    if not slot.unit and (unit := _SPACED_UNIT.match(text, stop, end)):
        slot.unit = unit["unit"]
        stop = unit.end()
    if total := TOTAL.match(text, stop, end):
        stop = total.end()
    parentheses = _PARENTHESES.match(text, stop, end)
    if parentheses is None:
        return stop
    content = parentheses["content"].rstrip()
    start = parentheses.start("content")
    number = NUMBER.fullmatch(text, start, start + len(content))
    if number is not None:
        name = f"{slot.name} ({_relation(number, candidate.number)})"
        if not slot.unit and passage.roles.units.get(number["unit"] or "", ("",))[0] == "s":
            name = "time"  # `loss 0.31 (1.8s)`: how long the epoch took, not a loss
        passage.add_slot(name, number, is_known=slot.is_known)
        return parentheses.end()
    # Caffe's `(* 1 = 2.65 loss)` repeats the value.
    return parentheses.end() if "*" in content else stop


def _relation(in_parentheses: re.Match[str], before: re.Match[str]) -> str:
    """What a number in parentheses is to the number before it."""
    if in_parentheses["unit"] == "%":
        return "%"
    if in_parentheses["number"].startswith(_SIGNS) and not before["number"].startswith(_SIGNS):
        return "change"
    return "avg"
