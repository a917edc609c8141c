"""A learned line shape: which number of such a line is which, found without a regex.

A line is reduced to its number-like characters; what remains are tokens, and in lines of
one shape the same token is always the same quantity. Many lines are turned into columns at
once, without a loop over lines; few lines are split one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, takewhile

import numpy as np
import numpy.typing as npt
import orjson

from ..packing import pack_floats
from .decimals import parse_column
from .numbers import is_non_finite_word
from .reading import Reading, Span

_KEPT = b"0123456789.+-eE\n"
TO_TOKENS = bytes(code if code in _KEPT else 32 for code in range(256))
"""Everything that cannot be part of a number becomes a space."""
_TOKEN = re.compile(rb"\S+")
_KEY_WITH_DIGIT = re.compile(r"\S*(?:[^\W\d]-?|[@.(])\d\S*")
_DIGIT = re.compile(rb"\d")
_LIST_INDEX = re.compile(r"\[\d+\]$")
_MOST_ANCHORS = 256
"""Each is looked for in every line."""
MOST_LEARNED = 65536
"""Bytes; longer lines are read one by one, as far as they are read at all."""
BULK = 64
"""From this many lines on, working on whole columns is faster than line by line."""
Used = tuple[int, bytes, bytes]
"""A token, and what is glued to its number on both sides."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a number comes from: token numbers (several for 1,234,567) or a constant."""

    tokens: tuple[int, ...]
    constant: float = 0.0
    before: bytes = b""
    after: bytes = b""
    """Signs and letters that are glued to the number: `-` in `shard 17-of-64`."""


@dataclass
class Template:
    """One shape of line and how to read it fast."""

    reading: Reading
    fields: list[Field]
    """One per slot, then one per coordinate, then the extras."""
    token_count: int
    extras: dict[str, int] = field(default_factory=dict)
    """Names of extra fields (rank, bar n, ...) to their place in `fields`."""
    anchors: tuple[tuple[bytes, int], ...] = ()
    """Pieces of names that contain digits, and how often they stand in a line."""
    has_trailing_dots: bool = False
    json_places: tuple[int, ...] | None = None
    """If the line is a flat JSON object of numbers: the place of each field in it."""

    def has_its_names(self, joined: bytes, count: int) -> bool:
        """True if the digits inside names are the same in all these lines."""
        return all(joined.count(anchor) == times * count for anchor, times in self.anchors)

    def parse(self, joined: bytes, count: int) -> npt.NDArray[np.float64] | None:
        """Matrix lines x fields of lines joined by newlines, or None if some do not fit."""
        if count < BULK:
            return self._parse_each(joined.split(b"\n"))
        matrix = self._parse_json(joined, count) if self.json_places is not None else None
        return self._parse_bulk(joined, count) if matrix is None else matrix

    @cached_property
    def used(self) -> list[Used]:
        """The tokens that are wanted, and what is glued to them."""
        return sorted({(token, f.before, f.after) for f in self.fields for token in f.tokens})

    def _parse_json(self, joined: bytes, count: int) -> npt.NDArray[np.float64] | None:
        """Records print floats with all their digits: a JSON parser is the fastest for those."""
        assert self.json_places is not None
        width = max(self.json_places) + 1
        try:
            records = orjson.loads(b"[" + joined.replace(b"\n", b",") + b"]")
            values = chain.from_iterable(map(dict.values, records))
            flat = pack_floats(values, width * count)
        except (ValueError, TypeError):
            return None  # NaN, which JSON does not know, or a line that differs after all
        if len(records) != count:
            return None
        return np.asfortranarray(flat.reshape(count, width)[:, list(self.json_places)])

    def _parse_bulk(self, joined: bytes, count: int) -> npt.NDArray[np.float64] | None:
        if self.token_count == 0:
            return self.assemble({}, count)  # nothing but `nan`, which is part of the shape
        codes = np.frombuffer(joined.translate(TO_TOKENS), dtype=np.uint8)
        is_token = np.zeros(len(codes) + 2, dtype=bool)
        np.greater(codes, 32, out=is_token[1:-1])
        edges = np.flatnonzero(is_token[1:] != is_token[:-1])
        if len(edges) != 2 * self.token_count * count:
            return None
        borders = edges.astype(np.int32).reshape(count, 2 * self.token_count)
        line_ends = np.flatnonzero(codes == 10)
        # As many tokens in every line, not only on average.
        if (borders[:-1, -1] > line_ends).any() or (borders[1:, 0] < line_ends).any():
            return None
        columns: dict[Used, npt.NDArray[np.float64]] = {}
        for used in self.used:
            token, before, after = used
            starts, ends = borders[:, 2 * token], borders[:, 2 * token + 1]
            if before or after:
                if not _has_glued(codes, starts, ends, before, after):
                    return None
                starts, ends = starts + len(before), ends - len(after)
            if self.has_trailing_dots:
                ends = ends - (codes[ends - 1] == 46)
            column = parse_column(codes, starts, ends)
            if column is None:
                return None
            columns[used] = column
        return self.assemble(columns, count)

    def _parse_each(self, lines: Sequence[bytes]) -> npt.NDArray[np.float64] | None:
        columns: dict[Used, list[float]] = {used: [] for used in self.used}
        try:
            for line in lines:
                tokens = line.translate(TO_TOKENS).split()
                if len(tokens) != self.token_count:
                    return None
                for (token, before, after), values in columns.items():
                    text = tokens[token]
                    if before or after:
                        if not (text.startswith(before) and text.endswith(after)):
                            return None
                        text = text[len(before) : len(text) - len(after)]
                    values.append(float(text.rstrip(b".") if self.has_trailing_dots else text))
        except ValueError:
            return None
        return self.assemble({t: np.array(v) for t, v in columns.items()}, len(lines))

    def assemble(
        self, columns: dict[Used, npt.NDArray[np.float64]], count: int
    ) -> npt.NDArray[np.float64]:
        """Matrix lines x fields, from the numbers of each used token."""
        # Column by column in memory: that is how the values are used.
        matrix = np.empty((count, len(self.fields)), order="F")
        for place, source in enumerate(self.fields):
            if not source.tokens:
                matrix[:, place] = source.constant
                continue
            value = columns[source.tokens[0], source.before, source.after]
            for token in source.tokens[1:]:
                value = value * 1000.0 + columns[token, source.before, source.after]
            matrix[:, place] = value
        return matrix


def _has_glued(
    codes: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int32],
    ends: npt.NDArray[np.int32],
    before: bytes,
    after: bytes,
) -> bool:
    """True if every one of these tokens begins and ends as it did when the shape was learned."""
    if ((ends - starts) <= len(before) + len(after)).any():
        return False
    return all((codes[starts + place] == code).all() for place, code in enumerate(before)) and all(
        (codes[ends - len(after) + place] == code).all() for place, code in enumerate(after)
    )


# -- learning -------------------------------------------------------------------------------


def token_spans(line: bytes) -> list[Span]:
    """Where the tokens of a line stand in it."""
    return [found.span() for found in _TOKEN.finditer(line.translate(TO_TOKENS))]


def learn(line: bytes, text: str, reading: Reading) -> Template | None:
    """The template of a line that was read carefully, or None if tokens do not fit."""
    if len(line) > MOST_LEARNED:
        return None
    tokens = token_spans(line)
    ends = [end for _, end in tokens]
    to_bytes = _offsets(line, text)
    if to_bytes is None:
        return None
    wanted, extras = _wanted_spans(reading)
    fields: list[Field] = []
    has_dots = False
    for (start, end), value in wanted:
        found = _field(text[start:end], value, (to_bytes(start), to_bytes(end)), tokens, ends, line)
        if found is None:
            return None
        fields.append(found[0])
        has_dots |= found[1]
    template = Template(reading, fields, len(tokens), extras, _anchors(line, reading), has_dots)
    template.json_places = _json_places(line, [span for span, _ in wanted])
    return template


def _json_places(line: bytes, spans: list[Span]) -> tuple[int, ...] | None:
    if not line.startswith(b"{") or not line.endswith(b"}"):
        return None
    try:
        record = orjson.loads(line)
    except ValueError:
        return None
    order = sorted(set(spans))
    is_flat = all(type(value) in (int, float) for value in record.values())
    if not is_flat or len(order) != len(record):
        return None
    return tuple(order.index(span) for span in spans)


def _wanted_spans(
    reading: Reading,
) -> tuple[list[tuple[Span, float | None]], dict[str, int]]:
    """Spans of slots, coordinates and extras, and where the extras are among them."""
    spans: list[tuple[Span, float | None]] = [(s.span, s.value) for s in reading.slots]
    spans += [(c.span, c.value) for c in reading.coordinates]
    extras: dict[str, int] = {}

    def add(name: str, span: Span | None) -> None:
        if span is not None:
            extras[name] = len(spans)
            spans.append((span, None))

    add("rank", reading.rank_span)
    if reading.bar is not None:
        add("n", reading.bar[0])
        add("total", reading.bar[1])
    for number, coordinate in enumerate(reading.coordinates):
        add(f"total {number}", coordinate.total_span)
    for number, slot in enumerate(reading.slots):
        add(f"index {number}", slot.index_span)
    return spans, extras


def _field(
    text: str,
    value: float | None,
    span: Span,
    tokens: list[Span],
    ends: list[int],
    line: bytes,
) -> tuple[Field, bool] | None:
    """The field of a number, and whether its token has a full stop glued to it."""
    if is_non_finite_word(text):
        return Field((), np.nan if value is None else value), False
    inside = list(takewhile(lambda i: tokens[i][0] < span[1], _from(ends, span[0])))
    if not inside:
        return None
    first, last = tokens[inside[0]], tokens[inside[-1]]
    if len(inside) == 1:
        if first == span:
            return Field((inside[0],)), False
        is_stopped = line[slice(*first)].rstrip(b".") == line[slice(*span)]
        if first[0] == span[0] and is_stopped:
            return Field((inside[0],)), True
        before, after = line[first[0] : span[0]], line[span[1] : first[1]]
        if _DIGIT.search(before + after):
            return None
        return Field((inside[0],), before=before, after=after), False
    if (first[0], last[1]) != span or b"." in line[slice(*span)] or text[0] in "+-":
        return None
    return Field(tuple(inside)), False


def _from(ends: list[int], place: int) -> range:
    """Numbers of the tokens that end behind a place."""
    return range(bisect_right(ends, place), len(ends))


def _offsets(line: bytes, text: str) -> Callable[[int], int] | None:
    """From places in the text to places in its bytes; None if the text was repaired."""
    if len(line) == len(text):
        return lambda position: position
    for codec in ("utf-8", "gb18030"):
        try:
            if line.decode(codec) != text:
                continue
        except UnicodeDecodeError:
            continue
        sizes = np.fromiter((len(character.encode(codec)) for character in text), np.int64)
        places = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        return lambda position, places=places: places[position]  # type: ignore[misc]
    return None


def _anchors(line: bytes, reading: Reading) -> tuple[tuple[bytes, int], ...]:
    anchors: dict[bytes, int] = {}
    for slot in reading.slots:
        if len(anchors) >= _MOST_ANCHORS:
            break
        for word in _KEY_WITH_DIGIT.findall(slot.name):
            sought = _LIST_INDEX.sub("", word).encode()
            at = line.find(sought)
            if at < 0 or not any(48 <= code <= 57 for code in sought):
                continue
            # One more byte on each side tells `.5:` in a name from `0.50` in a value.
            anchor = line[max(0, at - 1) : at + len(sought) + 1]
            anchors[anchor] = line.count(anchor)
    return tuple(anchors.items())
