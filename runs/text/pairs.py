"""Names and numbers in free text: `loss: 2.1`, `lr 1e-4`, `Epoch [3/20]`, `[2.7, 30.2]`.

The text is cut into segments at strong separators; inside a segment each number looks to
its left for a name. A name that is a coordinate makes a `Coordinate`, any other a `Slot`.
"""

from __future__ import annotations

import re

from ..roles import Roles
from . import precedence
from .axes import (
    take_bracketed_position,
    take_coordinate,
    take_epoch_of_loop,
    take_epoch_of_split,
)
from .brackets import read_qualified, read_vectors
from .candidate import Candidate, candidate_at
from .heads import read_head, read_ordinals
from .names import clean_key, note_heading
from .numbers import NUMBER, mask_lookalikes
from .passage import Passage
from .reading import Span
from .values import take_value, take_value_before_name

_FULL_WIDTH = str.maketrans("：，；（）！。｜＝％［］【】│┃║、", ":,;()!!|=%[][]|||,")
_SEPARATOR = re.compile(
    r"""
      (?:(?<!\s)\s++)?\|++\s*+
    | (?<!\d)(?<!\s\s)\s++[-–—]++\s++(?=\S)  # a dash after a word
    | (?<=\d)\s+[-–—]+\s+(?=[^\d\s])        # a dash between a number and a word: no minus
    | (?<=[\])%s])\s+-\s+                   # a dash after `]`, `98%` or `3s`
    | ,\s+ | ,(?=[^\d\s])                   # no comma of 1,234
    | ;\s* | (?<![:=\t])\t++ | (?<!\s)\s++→\s++ | ·
    | (?<![:=\s])\s{2,}                     # a wide gap between a value and the next name
      (?=[^\d\s.+\-(/\[:=])(?!(?:nan|inf)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COLON_BETWEEN_FIELDS = re.compile(
    r"(?<=\d)\ :\ |(?<=\d[a-zA-Z%.])\ :\ |\ :\ (?![-+]?\.?\d|nan\b|inf\b)", re.IGNORECASE
)
"""Marian's `Ep. 1 : Up. 1000 : Cost 8.1 : Time 60.1s : 3.1 words/s`: so many are separators,
but for those between a word and its number, as in `perplexity : 12.1 : new best`."""
_DOTTED_LEADER = "...."
"""`lr ........ 0.1` lists settings."""
_ASSIGNMENT = re.compile(r"\s*[:=]")
_ASSIGNMENT_AT_END = re.compile(r"[:=]\s*$")
_PADDED = re.compile(r"0\d{1,2}")
_OPENERS = ("[", "(", "#", "/", "<")
_PLACES = (take_coordinate, take_epoch_of_split, take_epoch_of_loop, take_bracketed_position)
"""Ways in which a number says where in training a line belongs."""
_NUMBER_CALL = re.compile(
    r"""\b(?:[\w.]{0,20}\.)?(?:tensor|[Aa]rray|float(?:16|32|64)?|int(?:32|64)?|Parameter)
    \(\s*+\[?\s*+(?P<value>[-+]?[\d.][\d.e+-]*+|nan|[-+]?inf)\s*+\]?
    (?:,[^()]{0,80}(?:\([^()]{0,80}\))?[^()]{0,80})?\)""",
    re.VERBOSE,
)
"""`tensor(0.31, device='cuda:0', grad_fn=<...>)`, `np.float64(0.31)`."""
_ARROW = re.compile(r"(?<=[^\W\d])(?:->|[→⇒➜➔⟶])(?=[\d.+-])")
"""Glued between a name and its value."""
_QUOTED_NAME_BEFORE_NUMBER = re.compile(r"(?<=[\w ])(?P<quote>['\"]),(?=\s?[-+]?\.?\d)")
"""`('loss', 0.31, 'lr', 0.1)`: a printed tuple."""
_BARS_OF_NORM = re.compile(
    r"(?<![^\s(\[,;])(?P<bars>\|{1,2})(?P<of>∇?(?:[a-zA-Zθ]|d[LWwθ]|grads?|gradient|params?|theta)?)"
    r"(?P=bars)(?:_2|[₂²])?(?=\s*[=:]?\s*[-+\d.naif])"
)
"""`|g|` and `||grad||`: the norm of something, no border of a table."""
_SPACED_COLON = re.compile(r"(?P<before>\S) : ")


def read_pairs(text: str, offset: int, roles: Roles) -> Passage:
    """Find all pairs of a text that begins `offset` characters into its line."""
    passage = Passage(_normalised(text), offset, roles)
    read_ordinals(passage)
    position = read_head(passage)
    if read_qualified(passage, position):
        return passage
    read_vectors(passage, position)
    for start, end in _segments(passage.text, position):
        _read_segment(passage, start, end)
    return passage


def _normalised(text: str) -> str:
    """ASCII punctuation and no lookalikes of numbers, every offset kept."""
    text = text.translate(_FULL_WIDTH)
    if "|" in text:
        text = _BARS_OF_NORM.sub(_in_double_bars, text)
    if "(" in text:
        text = _QUOTED_NAME_BEFORE_NUMBER.sub(r"\g<quote>:", _NUMBER_CALL.sub(_bare_value, text))
    text = mask_lookalikes(_ARROW.sub(lambda found: "=".rjust(len(found[0])), text))
    # Marian's `Ep. 1 : Up. 1000 : Cost 8.1`: so many behind numbers are separators.
    # Behind words they are how the French write a colon: `perte : 0.31`.
    behind = [found["before"] for found in _SPACED_COLON.finditer(text)]
    if len(behind) > 2 and 2 * sum(map(str.isdigit, behind)) >= len(behind):
        return _COLON_BETWEEN_FIELDS.sub(" | ", text)
    return text


def _in_double_bars(norm: re.Match[str]) -> str:
    """With a sign that separates nothing, and as long as it was."""
    return f"‖{norm['of']}‖".ljust(len(norm[0])) if norm["of"] else norm[0]


def _bare_value(call: re.Match[str]) -> str:
    """The number of a call among spaces, where it stood."""
    start = call.start("value") - call.start()
    return " " * start + call["value"].ljust(len(call[0]) - start)


def _segments(text: str, position: int) -> list[Span]:
    spans: list[Span] = []
    for found in _SEPARATOR.finditer(text, position):
        if found.start() > position:
            spans.append((position, found.start()))
        position = found.end()
    if position < len(text):
        spans.append((position, len(text)))
    return spans


def _read_segment(passage: Passage, start: int, end: int) -> None:
    segment = passage.text[start:end]
    if _DOTTED_LEADER in segment:
        return
    numbers = [n for n in NUMBER.finditer(passage.text, start, end) if n.end("number") <= end]
    if not numbers:
        note_heading(passage, segment)
        return
    for number, upcoming in zip(numbers, [*numbers[1:], None], strict=True):
        if number.start() < start:
            continue  # taken together with an earlier one
        candidate = candidate_at(passage.text, start, number, end, upcoming)
        stop = _take(passage, candidate)
        if stop is not None:
            start = stop


def _take(passage: Passage, candidate: Candidate) -> int | None:
    """Read one number; where reading goes on, or None if it is part of a name."""
    for take in _PLACES:
        if (stop := take(passage, candidate)) is not None:
            return stop
    if candidate.is_assigned:
        return take_value(passage, candidate)
    return _take_unassigned(passage, candidate)


def _take_unassigned(passage: Passage, candidate: Candidate) -> int | None:
    """Without a sign the number may belong to a name, a sentence or what stands behind it."""
    if _continues_name(passage, candidate):
        return None
    name = clean_key(candidate.phrase, passage.roles)
    if not name:
        return take_value_before_name(passage, candidate)
    if _is_step_before_value(passage, candidate, name):
        span = candidate.number.span("number")
        passage.add_coordinate("step", span, precedence.STEP_BEFORE_VALUE)
        return None
    if passage.roles.is_prose(name) or candidate.left.endswith(_OPENERS):
        return candidate.number.end()
    return take_value(passage, candidate)


def _continues_name(passage: Passage, candidate: Candidate) -> bool:
    """`Region 82 Avg IOU: 0.5`, `AP .5: 0.3`, `net output #0: loss = 2`, `prec 05 87.5`."""
    gap = candidate.gap(passage.text)
    if _PADDED.fullmatch(candidate.number["number"]) and candidate.upcoming and gap.isspace():
        # Nothing counts to 05 and then goes on without its zero: it tells variants apart.
        return "." in candidate.upcoming["number"] and not passage.coordinates
    if candidate.number["unit"] or not _ASSIGNMENT_AT_END.search(gap):
        return False
    if candidate.left.rstrip().endswith("#"):
        return True
    name = clean_key(candidate.left, passage.roles)
    if not name:
        return False
    return _ASSIGNMENT.match(gap) is not None or not passage.roles.is_known(name)


def _is_step_before_value(passage: Passage, candidate: Candidate, name: str) -> bool:
    """`Train loss 1200 0.523`: a counter, then the value it belongs to."""
    if candidate.upcoming is None or passage.coordinates:
        return False
    if not candidate.number["number"].isdigit() or "." not in candidate.upcoming["number"]:
        return False
    return candidate.gap(passage.text).isspace() and passage.roles.is_known(name)
