"""A learned line shape: which number of such a line is which, found without a regex.

A line is reduced to its number-like characters; what remains are tokens, and in lines of
one shape the same token is always the same quantity. Thousands of lines are turned into
columns by one call of pandas' C parser; few lines are split one by one.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .numbers import is_non_finite_word
from .reading import Reading, Span

_KEPT = b"0123456789.+-eE\n"
TO_TOKENS = bytes(code if code in _KEPT else 32 for code in range(256))
_TOKEN = re.compile(rb"\S+")
_KEY_WITH_DIGIT = re.compile(r"\S*(?:[^\W\d]|[@.(])\d\S*")
BULK = 256
"""From this many lines on, pandas' start-up cost is earned back."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a number comes from: token numbers (several for 1,234,567) or a constant."""

    tokens: tuple[int, ...]
    constant: float = 0.0


@dataclass(slots=True)
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

    def has_its_names(self, lines: Sequence[bytes], joined: bytes) -> bool:
        """True if the digits inside names are the same in all these lines."""
        return all(joined.count(anchor) == times * len(lines) for anchor, times in self.anchors)

    def parse(
        self, lines: Sequence[bytes], joined: bytes | None = None
    ) -> npt.NDArray[np.float64] | None:
        """Matrix lines x fields, or None if some line does not fit the template."""
        if len(lines) >= BULK:
            matrix = self._parse_bulk(
                joined if joined is not None else b"\n".join(lines), len(lines)
            )
            if matrix is not None:
                return matrix
        return self._parse_each(lines)

    def _used(self) -> list[int]:
        return sorted({token for f in self.fields for token in f.tokens})

    def _parse_bulk(self, joined: bytes, count: int) -> npt.NDArray[np.float64] | None:
        import pandas as pd  # deferred: a quarter of a second that small logs need not pay

        used = self._used()
        if not used:
            return self._assemble({}, count)
        text = joined.translate(TO_TOKENS)
        if self.has_trailing_dots:
            text = text.replace(b". ", b"  ").replace(b".\n", b" \n").removesuffix(b".")
        codes = np.frombuffer(b"\n" + text, dtype=np.uint8) > 32
        if int(np.count_nonzero(codes[1:] & ~codes[:-1])) != self.token_count * count:
            return None
        try:
            frame = pd.read_csv(
                io.BytesIO(text),
                sep=r"\s+",
                header=None,
                names=range(self.token_count),
                usecols=used,
                dtype=np.float64,
                engine="c",
                quoting=3,
                na_filter=False,
            )
        except (ValueError, OverflowError):
            return None
        if len(frame) != count:
            return None
        return self._assemble({token: frame[token].to_numpy() for token in used}, count)

    def _parse_each(self, lines: Sequence[bytes]) -> npt.NDArray[np.float64] | None:
        used = self._used()
        columns: dict[int, list[float]] = {token: [] for token in used}
        try:
            for line in lines:
                tokens = line.translate(TO_TOKENS).split()
                if len(tokens) != self.token_count:
                    return None
                for token in used:
                    columns[token].append(
                        float(
                            tokens[token].rstrip(b".") if self.has_trailing_dots else tokens[token]
                        )
                    )
        except ValueError:
            return None
        return self._assemble(
            {token: np.array(values) for token, values in columns.items()}, len(lines)
        )

    def _assemble(
        self, columns: dict[int, npt.NDArray[np.float64]], count: int
    ) -> npt.NDArray[np.float64]:
        matrix = np.empty((count, len(self.fields)))
        for place, source in enumerate(self.fields):
            if not source.tokens:
                matrix[:, place] = source.constant
            elif len(source.tokens) == 1:
                matrix[:, place] = columns[source.tokens[0]]
            else:
                value = np.zeros(count)
                for token in source.tokens:
                    value = value * 1000.0 + columns[token]
                matrix[:, place] = value
        return matrix


def learn(line: bytes, text: str, reading: Reading) -> Template | None:
    """The template of a line that was read carefully, or None if tokens do not fit."""
    tokens = [m.span() for m in _TOKEN.finditer(line.translate(TO_TOKENS))]
    to_bytes = _offsets(line, text)
    if to_bytes is None:
        return None
    spans: list[tuple[Span, float | None]] = [(s.span, s.value) for s in reading.slots]
    spans += [(c.span, c.value) for c in reading.coordinates]
    extras: dict[str, int] = {}
    if reading.rank_span is not None:
        extras["rank"] = len(spans)
        spans.append((reading.rank_span, None))
    if reading.bar is not None:
        extras["n"], extras["total"] = len(spans), len(spans) + 1
        spans += [(reading.bar[0], None), (reading.bar[1], None)]
    for number, coordinate in enumerate(reading.coordinates):
        if coordinate.total_span is not None:
            extras[f"total {number}"] = len(spans)
            spans.append((coordinate.total_span, None))
    for number, slot in enumerate(reading.slots):
        if slot.index_span is not None:
            extras[f"index {number}"] = len(spans)
            spans.append((slot.index_span, None))
    fields: list[Field] = []
    has_dots = False
    for (start, end), value in spans:
        found = _field(text[start:end], value, (to_bytes(start), to_bytes(end)), tokens, line)
        if found is None:
            return None
        has_dots |= found[1]
        fields.append(found[0])
    return Template(reading, fields, len(tokens), extras, _anchors(line, reading), has_dots)


def _field(
    text: str, value: float | None, span: Span, tokens: list[Span], line: bytes
) -> tuple[Field, bool] | None:
    if is_non_finite_word(text):
        return Field((), np.nan if value is None else value), False
    inside = [i for i, (a, b) in enumerate(tokens) if a < span[1] and b > span[0]]
    if not inside:
        return None
    first, last = tokens[inside[0]], tokens[inside[-1]]
    if len(inside) == 1:
        if first == span:
            return Field((inside[0],)), False
        glued = line[slice(*first)]
        if first[0] == span[0] and glued.rstrip(b".") == line[slice(*span)]:
            return Field((inside[0],)), True
        return None
    if (first[0], last[1]) != span or b"." in line[slice(*span)] or text[0] in "+-":
        return None
    return Field(tuple(inside)), False


def _offsets(line: bytes, text: str):  # type: ignore[no-untyped-def]
    if len(line) == len(text):
        return lambda position: position
    for codec in ("utf-8", "gb18030"):
        try:
            if line.decode(codec) == text:
                return lambda position, codec=codec: len(text[:position].encode(codec))
        except UnicodeDecodeError:
            continue
    return None


def _anchors(line: bytes, reading: Reading) -> tuple[tuple[bytes, int], ...]:
    anchors: dict[bytes, int] = {}
    for slot in reading.slots:
        for word in _KEY_WITH_DIGIT.findall(slot.name):
            if re.search(r"\[\d+\]$", word):
                word = re.sub(r"\[\d+\]$", "", word)
                if not re.search(r"\d", word):
                    continue
            sought = word.encode()
            at = line.find(sought)
            if at < 0:
                continue
            # One more byte on each side tells `.5:` in a name from `0.50` in a value.
            anchor = line[max(0, at - 1) : at + len(sought) + 1]
            anchors[anchor] = line.count(anchor)
    return tuple(anchors.items())
