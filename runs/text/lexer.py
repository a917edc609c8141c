"""The careful pass over one line: prefix, progress bar, record, pairs."""

from __future__ import annotations

import re

from ..roles import Roles
from . import precedence
from .bars import Bar, find_bar
from .foreign import is_foreign, is_setting_like
from .labels import LABEL
from .pairs import read_pairs
from .passage import Passage
from .prefix import Prefix, read_prefix
from .reading import Coordinate, Reading, level_of, moved
from .record_lines import read_record

MAX_LINE = 65536
"""Longer lines are data or noise; their head is read, the rest is not."""

MAX_PROSE = 4096
"""Characters of free text searched for pairs; patterns with two-sided looks stay cheap."""

_NON_FINITE_WORD = re.compile(r"\b-?(?:nan|inf)\b", re.IGNORECASE)
_SINGLE_WORD = re.compile(r"\s*\w+")
_LETTER_OR_UNDERSCORE = re.compile(r"[^\W\d]")
_LOGGER_NAME = re.compile(r"^\s*\w+(?:\.\w+)+\s+-\s")
"""`package.module - `, in front of the words."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_EVALUATED_SO_FAR = re.compile(
    r"\b(?:eval|val|valid|validation|dev|test)[ _-](?:iter|iteration|step|batch)\b", re.IGNORECASE
)
"""`Eval iter: 100`, `[eval_step=10/20]`."""
_RANK_NAMES = frozenset({"rank", "global rank", "global_rank", "worker rank", "worker_rank"})
_MAX_WORDS_OF_PLACE = 5
"""More words around a coordinate are a sentence that mentions it in passing."""


def read_line(line: str, roles: Roles, *, is_labelled: bool = False) -> Reading:
    """Everything that one line says; of a log with labels, their number is the rank."""
    line = line[:MAX_LINE]
    if not is_labelled and LABEL.match(line):
        # `3: step 10 loss 2.1` says its step itself: the number in front must be a label.
        labelled = _read_behind(line, read_prefix(line, is_labelled=True), roles)
        if labelled.slots and labelled.counts_steps:
            return labelled
    return _read_behind(line, read_prefix(line, is_labelled=is_labelled), roles)


def _read_behind(line: str, prefix: Prefix, roles: Roles) -> Reading:
    """What a line says behind its prefix."""
    reading = _begin(prefix, roles)
    body = line[prefix.end :]
    if not any(map(str.isdigit, body)) and not _NON_FINITE_WORD.search(body):
        return reading
    reading.is_setting_like = is_setting_like(line, body, prefix)
    if is_foreign(line, body):
        return reading
    if read_record(body, prefix.end, roles, reading):
        if not reading.level and _SINGLE_WORD.fullmatch(prefix.tag):
            reading.level = prefix.tag.strip()
        return reading
    _read_prose(body[:MAX_PROSE], prefix.end, roles, reading)
    _tell_namesakes_apart(reading, roles)
    return reading


def _begin(prefix: Prefix, roles: Roles) -> Reading:
    return Reading(
        rank=prefix.rank,
        rank_span=prefix.rank_span,
        stamp=prefix.stamp,
        stamp_span=prefix.stamp_span,
        split=roles.split_of(prefix.tag) if prefix.tag else "",
    )


def _read_prose(body: str, offset: int, roles: Roles, reading: Reading) -> None:
    text = _read_bar(body, offset, roles, reading)
    found = read_pairs(text, offset, roles)
    reading.slots.extend(found.slots)
    reading.coordinates.extend(found.coordinates)
    _take_rank(reading)
    reading.split = reading.split or roles.split_of(found.head_words) or _told_once(found, roles)
    if not reading.split and roles.tells_evaluation(found.head_words):
        reading.split = "val"
    if reading.is_evaluation:
        # How far an evaluation is says nothing about how far the training is.
        reading.coordinates = [c for c in reading.coordinates if c.axis != "inner"]
    head_end = min((slot.span[0] for slot in reading.slots), default=offset + len(body))
    reading.level = level_of(c for c in reading.coordinates if c.span[0] < head_end)
    is_mention = (
        _is_sentence(body) or reading.is_setting_like or _EVALUATED_SO_FAR.search(body) is not None
    )
    if not reading.slots and reading.bar is None and is_mention:
        # A sentence in passing, a setting such as `niter: 600000`, or how far an evaluation is.
        reading.coordinates.clear()


def _take_rank(reading: Reading) -> None:
    """`step 3, rank 0, loss 2.1`: who wrote the line is no measurement."""
    ranks = [slot for slot in reading.slots if slot.name.casefold() in _RANK_NAMES]
    if len(ranks) != 1 or len(reading.slots) == 1 or not ranks[0].value.is_integer():
        return
    reading.slots.remove(ranks[0])
    if reading.rank is None:
        reading.rank, reading.rank_span = int(ranks[0].value), ranks[0].span


def _told_once(found: Passage, roles: Roles) -> str:
    """`val Loss: 0.31 Acc: 0.90`: the split in front of the first name holds for all of them."""
    names = [slot.name for slot in found.slots]
    if len(names) < 2 or not roles.is_split(names[0].partition(" ")[0]):
        return ""
    split = roles.split_of(names[0])
    if split == "train" or any(roles.split_of(name) for name in names[1:]):
        return ""
    return split if all(map(roles.is_outcome, names)) else ""


def _read_bar(body: str, offset: int, roles: Roles, reading: Reading) -> str:
    """Note how far a progress bar is; the text with the bar painted over."""
    bar = find_bar(body)
    if bar is None:
        return body
    start, end = bar.span
    caption = body[:start]
    if (split := roles.split_of(caption)) in ("val", "test"):
        reading.split = reading.split or split
    if not bar.is_scaled:
        _note_progress(bar, caption, float(body[slice(*bar.n_span)]), offset, reading)
    if caption.rstrip().endswith(":"):
        # What a bar is called is no part of the names behind it.
        caption = caption.rstrip()[:-1].ljust(start)
    return caption + "," + " " * (end - start - 1) + body[end:]


def _note_progress(bar: Bar, caption: str, n: float, offset: int, reading: Reading) -> None:
    n_span = moved(bar.n_span, offset)
    if bar.total_span is not None:
        reading.bar = n_span, moved(bar.total_span, offset)
    elif not _LETTER_OR_UNDERSCORE.search(caption):
        # What a caption names is seldom the training itself.
        reading.coordinates.append(Coordinate("step", n_span, n, precedence.ENDLESS_BAR))


def _is_sentence(body: str) -> bool:
    return len(_WORD.findall(_LOGGER_NAME.sub("", body))) > _MAX_WORDS_OF_PLACE


def _tell_namesakes_apart(reading: Reading, roles: Roles) -> None:
    """Two numbers of one name in one line are two series.

    `train loss: 2.1, acc: 0.3, val loss: 2.4, acc: 0.2`: what comes again belongs to the split
    that was named since, if any was.
    """
    seen: dict[str, int] = {}
    places: dict[str, int] = {}
    for place, slot in enumerate(reading.slots):
        name = slot.name
        if name in seen and (split := _split_since(reading, places[name], place, roles)):
            slot.name = f"{split} {name}"
        count = seen[slot.name] = seen.get(slot.name, 0) + 1
        places[name] = place
        if count > 1:
            slot.name = f"{slot.name} #{count}"


def _split_since(reading: Reading, first: int, last: int, roles: Roles) -> str:
    """The split that the last name between two slots speaks of, if the first's is another."""
    if roles.split_of(reading.slots[last].name):
        return ""
    told = [split for slot in reading.slots[:last] if (split := roles.split_of(slot.name))]
    since = [s for slot in reading.slots[first + 1 : last] if (s := roles.split_of(slot.name))]
    return since[-1] if since and len(set(told)) > 1 and since[-1] != "train" else ""
