"""Names and numbers in free text: `loss: 2.1`, `lr 1e-4`, `Epoch [3/20]`, `[2.7, 30.2]`.

The text is cut into segments at strong separators; inside a segment each number looks to
its left for a name. A name that is a coordinate makes a `Coordinate`, any other a `Slot`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..roles import Roles
from .numbers import FILLER, NUMBER, mask_lookalikes, parse_number
from .reading import Coordinate, Slot, Span

_SEPARATOR = re.compile(
    r"""
      \s*\|+\s*
    | (?<!\d)\s+[-–—]+\s+(?=\S) | (?<=\d)\s+[-–—]+\s+(?=[^\d\s]) | (?<=[\])%s])\s+-\s+
    | ,\s+ | ,(?=[^\d\s]) | ;\s* | \t+ | \s+→\s+ | ·
    | (?<![:=\s])\s{2,}(?=[^\d\s.+\-(/\[:=])(?!(?:nan|inf)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BRACKETED = re.compile(r"[\[(]([^\[\](){}]{3,2000})[\])]")
_KEY_BEFORE = re.compile(r"[^\[\](){},;|\t]*$")
_PAREN_VALUE = re.compile(r"\s*\(\s*(?P<content>[^()]*?)\s*\)")
_SPACED_UNIT = re.compile(
    r"\s(?P<unit>[a-zA-Zµμ]+/[a-zA-Z]+|ms|s|sec|secs|seconds|[KMGT]i?B)(?![\w/])"
)
_TOTAL = re.compile(r"\s*(?:/|\bof\b)\s*(?P<total>\d[\d,]*)(?![\d.]*/)(?![\w.]*\.\d)")
_FRACTION = re.compile(
    r"\s*\[?\s*(?P<n>\d+)\s*/\s*(?P<total>\d+)\s*(?:\(\s*\d+(?:\.\d+)?%\s*\))?\s*\]?"
)
_LEADING_INT = re.compile(r"\s*(?P<n>\d+)\s*(?P<colon>:)?\s+(?=[^\W\d])")
_LEADING_INDEX = re.compile(r"\s*\[\s*(?P<n>\d+)\s*\]:?\s+(?=[^\W\d])")
_PLURAL_AXES = frozenset(
    {"steps", "iters", "iterations", "epochs", "updates", "timesteps", "rounds"}
)
_BRACKET_TAG = re.compile(r"[^\w\[]*\[(?P<tag>[^\]\d]{2,40})\]\s*")
_QUALIFIED = re.compile(
    r"\s*(?P<name>[^\W\d][\w\s()]{1,60}?)\s*@\[\s*(?P<of>[^\]]{1,120}?)\s*\]\s*=\s*(?P<value>\S)"
)
_GROUP = re.compile(r"(?P<name>[^\W\d]\w*)\[[^\[\]]*=[^\[\]]*\]")
_LEADING_PAIR = re.compile(r"\s*\[\s*(?P<epoch>\d+)\s*,\s*(?P<inner>\d+)\s*\]\s*:?\s+(?=[^\W\d])")
_LEADING_EPOCH = re.compile(r"\s*(?P<n>\d+)\s?epoch\b\S*")
_SPLIT_AND_EPOCH = re.compile(r"\s*\[\s*\d+\s*/\s*\d+")
_VALUE_OF_AXIS = re.compile(r"\s*\)?\s*[:=]\s*(?=[\d.+-]|nan|inf)", re.IGNORECASE)
_COUNTERS = frozenset(
    {"", "batches", "batch", "iters", "iterations", "steps", "it", "step", "iter"}
)
_KERAS_TIME = re.compile(r"\s*-\s+\d+(?:ms|s|us)\b")
_TAGGED_KEY = re.compile(r"(?P<tag>\[[^\[\]\d]{2,40}\])\s+(?P<key>[^\[\]]+)$")
_SENTENCE_END = re.compile(r"(?<=[\w)\]%])[.?]\s+|:\s+|!\s*")
_KEY_EDGES = " \t\"'`*•>·~,;:=|/\\#@&^<-–—" + FILLER
_FULL_WIDTH = str.maketrans("：，；（）！。｜＝％［］【】│┃║、", ":,;()!!|=%[][]|||,")
_IDLE_CONTEXT = frozenset(
    "done finished completed complete end ended summary result results stats metrics metric info step iter "
    "epoch iteration at log logs logging progress average averaged overall avg mean status report".split()
)


@dataclass(slots=True)
class Findings:
    """Slots and coordinates of a text, and the words that frame them."""

    slots: list[Slot] = field(default_factory=list)
    coordinates: list[Coordinate] = field(default_factory=list)
    head_words: str = ""
    """Words before the first metric that are no name: they may tell the split."""


class PairReader:
    """Reads one text; keeps the context that headings give to the names behind them."""

    def __init__(self, roles: Roles, text: str, offset: int) -> None:
        self._roles = roles
        self._offset = offset
        self._text = mask_lookalikes(text.translate(_FULL_WIDTH))
        if self._text.count(" : ") > 2:
            self._text = self._text.replace(" : ", " | ")
        self._groups = [m.span() + (m["name"],) for m in _GROUP.finditer(self._text)]
        self._context = ""
        self._found = Findings()

    def read(self) -> Findings:
        """Find everything."""
        position = self._read_head()
        if qualified := _QUALIFIED.match(self._text, position):
            number = NUMBER.match(self._text, qualified.start("value"))
            if number is not None:
                # COCO's `Average Precision (AP) @[ IoU=0.50 | area= all | maxDets=100 ] = 0.9`
                words = " ".join(
                    qualified["name"].split() + qualified["of"].replace("|", " ").split()
                )
                self._add_slot(words.replace("= ", "="), number)
                return self._found
        self._read_vectors(position)
        for start, end in self._segments(position):
            self._read_segment(start, end)
        return self._found

    # -- the head: bare fractions, a leading integer, a bracketed tag ---------------------

    def _read_head(self) -> int:
        text = self._text
        if (word := re.match(r"\s*(\d+)\s+([^\W\d]\w*)\s+(\S+)\s*$", text)) and (
            number := NUMBER.fullmatch(text, *word.span(3))
        ):
            # `<step> <kind> <value>` and nothing else
            self._add_coordinate("step", word.span(1), 50)
            self._add_slot(word[2], number, strong=True)
            return len(text)
        if tag := _BRACKET_TAG.match(text):
            if not re.search(r"[\w]", tag["tag"]) or tag.end() >= len(text):
                return 0
            name = tag["tag"].strip()
            axis = self._roles.axis_of(name)
            if axis is None:
                self._context = f"[{name}]"
                self._found.head_words += " " + name
                return tag.end()
            return 0
        if found := _LEADING_PAIR.match(text):
            self._add_coordinate("epoch", found.span("epoch"), 60)
            self._add_coordinate("inner", found.span("inner"), 60)
            return found.end()
        if found := _LEADING_EPOCH.match(text):
            self._add_coordinate("epoch", found.span("n"), 60)
            return found.end()
        if found := _LEADING_INDEX.match(text):
            self._add_coordinate("step", found.span("n"), 65)
            return found.end()
        fractions = []
        position = 0
        while (found := _FRACTION.match(text, position)) and len(fractions) < 3:
            if not fractions and found.end() < len(text) and text[found.end()] in ".%" + FILLER:
                break
            fractions.append(found)
            position = found.end()
        if fractions:
            # Keras counts the steps of the epoch: `4/4 - 0s - 85ms/step - loss: 1.05`
            only = "inner" if _KERAS_TIME.match(text, position) else "step"
            axes = ("epoch", "inner") if len(fractions) > 1 else (only,)
            for axis, found in zip(axes, fractions, strict=False):
                self._add_coordinate(axis, found.span("n"), 60, found.span("total"))
            return position
        if (found := _LEADING_INT.match(text)) and (found["colon"] or not position):
            if found["colon"]:
                self._add_coordinate("step", found.span("n"), 70)
                return found.end()
        return 0

    # -- vectors: `losses: [1.0, 2.0]` -----------------------------------------------------

    def _read_vectors(self, position: int) -> None:
        for found in _BRACKETED.finditer(self._text, position):
            start, end = found.span(1)
            numbers = list(NUMBER.finditer(self._text, start, end))
            if not 2 <= len(numbers) <= 64:
                continue
            if NUMBER.sub("", self._text[start:end]).replace(",", "").strip():
                continue
            before = self._text[max(position, found.start() - 80) : found.start()].rstrip()
            if before[-1:] not in (":", "=", "：") and not before[-1:].isalnum():
                continue
            left = _KEY_BEFORE.search(before.rstrip(":= "))
            key = self._clean_key(left[0]) if left else ""
            if not key or before[-1:].isalnum() and found[0][0] == "(":
                continue  # Linear(20, 30) is a layer, not a measurement
            if self._axis(key)[0] is not None or self._roles.is_prose(key):
                continue
            known = self._roles.is_known(key)
            for index, number in enumerate(numbers):
                self._add_slot(f"{key}[{index}]", number, strong=known)
            self._blank(found.start(), found.end())

    # -- segments -------------------------------------------------------------------------

    def _segments(self, position: int) -> list[Span]:
        spans: list[Span] = []
        start = position
        for found in _SEPARATOR.finditer(self._text, position):
            if found.start() > start:
                spans.append((start, found.start()))
            start = found.end()
        if start < len(self._text):
            spans.append((start, len(self._text)))
        return spans

    def _read_segment(self, start: int, end: int) -> None:
        if "...." in self._text[start:end]:
            return  # dotted lists are settings
        numbers = [n for n in NUMBER.finditer(self._text, start, end) if n.end("number") <= end]
        if not numbers:
            self._note_heading(self._text[start:end])
            return
        consumed = start
        position = 0
        while position < len(numbers):
            number = numbers[position]
            if number.start() < consumed:
                position += 1
                continue
            left = self._text[consumed : number.start()]
            following = numbers[position + 1 :]
            taken = self._take(left, number, end, following)
            if taken is None:
                # The number belongs to the name that is still being read.
                position += 1
                continue
            consumed = taken
            position += 1

    def _take(
        self, left: str, number: re.Match[str], end: int, following: list[re.Match[str]]
    ) -> int | None:
        """Consume one number; where reading goes on, or None if it is part of a name."""
        text = self._text
        stop = number.end()
        assigned = bool(re.search(r"(?:[:=]|\bis|\bwas)\s*$", left)) or bool(
            re.search(r"[:=]\s*[\[(]\s*$", left)
            and re.match(r"\s*,?\s*[\])]", text[stop : stop + 4])
        )
        phrase = re.sub(
            r"\s(?:is|was)\s*$", "", left.rstrip(" :=\t[(") if assigned else left.rstrip(" :=\t")
        )
        axis_taken = self._take_axis(phrase, number, end, assigned=assigned)
        if axis_taken is not None:
            return axis_taken
        if (
            assigned
            and self._roles.split_of(phrase)
            and len(phrase.split()) == 1
            and (not self._found.slots and _SPLIT_AND_EPOCH.match(text, stop))
        ):
            # timm's `Train: 3 [  50/1251 ( 4%)]`
            self._found.head_words += " " + phrase
            self._add_coordinate("epoch", number.span("number"), 60)
            inner = _FRACTION.match(text, stop)
            assert inner is not None
            self._add_coordinate("inner", inner.span("n"), 40, inner.span("total"))
            return inner.end()
        if not assigned:
            if self._continues_name(left, number, following):
                return None
            if not self._clean_key(phrase):
                return self._take_value_before_name(number, end, following)
            bare = self._clean_key(phrase)
            if self._is_step_before_value(bare, number, following):
                self._add_coordinate("step", number.span("number"), 80)
                return None
            if self._roles.is_prose(bare) or left[-1:] in ("[", "(", "#", "/", "<"):
                return stop
        is_prose = self._roles.is_prose(self._clean_key(_SENTENCE_END.split(phrase)[-1]))
        name, index_span = self._name_of(phrase, number.start() - len(left))
        if not name:
            return stop
        slot = self._add_slot(
            name, number, index_span=index_span, strong=False if is_prose else None
        )
        if assigned and re.match(r"\s*\d", text[stop : stop + 3]):
            stop = self._take_rest_of_row(slot, stop, end) or stop
        return self._after_value(slot, number, stop, end)

    def _is_step_before_value(
        self, name: str, number: re.Match[str], following: list[re.Match[str]]
    ) -> bool:
        """`Train loss 1200 0.523`: a counter, then the value it belongs to."""
        if not following or not number["number"].isdigit() or self._found.coordinates:
            return False
        between = self._text[number.end() : following[0].start()]
        return between.isspace() and "." in following[0]["number"] and self._roles.is_known(name)

    def _continues_name(
        self, left: str, number: re.Match[str], following: list[re.Match[str]]
    ) -> bool:
        """`Region 82 Avg IOU: 0.5`, `AP .5: 0.3`, `net output #0: loss = 2`."""
        if not following:
            return False
        upcoming = following[0]
        between = self._text[number.end() : upcoming.start()]
        if not re.search(r"[:=]\s*$", between) or number["unit"]:
            return False
        if left.rstrip().endswith("#"):
            return True
        own = self._clean_key(left)
        if re.match(r"\s*[:=]", between):
            return bool(own)
        return bool(own) and not self._roles.is_known(own)

    def _take_value_before_name(
        self, number: re.Match[str], end: int, following: list[re.Match[str]]
    ) -> int:
        """`0.19 seconds`, `445.5 samples/sec`, `131s`: the unit or the words are the name."""
        if self._text[: number.start()].rstrip()[-1:] == "(":
            return number.end()
        if (total := _TOTAL.match(self._text, number.end(), end)) and self._has_axis("epoch"):
            counted = self._text[total.end() : end].strip().casefold()
            if counted in _COUNTERS and not self._has_axis("inner"):
                self._add_coordinate("inner", number.span("number"), 45, total.span("total"))
                return end
        stop = following[0].start() if following else end
        behind = self._text[number.end() : stop]
        words = self._clean_key(re.sub(r"\(.*", "", behind)).strip(".")
        if number["unit"] and number["unit"] != "%":
            unit = number["unit"]
            amount, _, per = unit.partition("/")
            if not amount:
                self._add_slot(f"items{unit}", number)
                return number.end()
            if self._roles.units.get(amount, ("",))[0] == "s":
                slot = self._add_slot(f"time/{per}" if per else "elapsed", number)
                slot.unit = amount
                return number.end()
            if per:
                self._add_slot(unit, number, strong=self._roles.is_known(unit))
                return number.end()
        if (spaced := _SPACED_UNIT.match(self._text, number.end(), end)) and (
            self._roles.units.get(spaced["unit"], ("",))[0] == "s"
        ):
            self._add_slot("elapsed", number).unit = spaced["unit"]
            return spaced.end()
        if words and len(words.split()) <= 3 and self._roles.is_known(words):
            self._add_slot(words, number)
            return number.end() + len(behind)
        return number.end()

    def _take_rest_of_row(self, slot: Slot, start: int, end: int) -> int | None:
        """`bbox_mAP_copypaste: 0.647 0.935 0.761`: one name, several numbers."""
        numbers = list(NUMBER.finditer(self._text, start, end))
        rest = NUMBER.sub("", self._text[start:end]).strip()
        if not numbers or rest:
            return None
        base = slot.name
        slot.name = f"{base}[0]"
        for index, number in enumerate(numbers, start=1):
            self._found.slots.append(
                Slot(
                    f"{base}[{index}]",
                    self._span(number.span("number")),
                    parse_number(number["number"]),
                    is_known=slot.is_known,
                )
            )
        return end

    def _after_value(self, slot: Slot, number: re.Match[str], stop: int, end: int) -> int:
        """Units with a space, `(average)`, `(+change)`, `(percent)`, `n/total`."""
        text = self._text
        if not slot.unit and (unit := _SPACED_UNIT.match(text, stop, end)):
            slot.unit = unit["unit"]
            stop = unit.end()
        if total := _TOTAL.match(text, stop, end):
            stop = total.end()
        if paren := _PAREN_VALUE.match(text, stop, end):
            inner = NUMBER.fullmatch(paren["content"])
            if inner is not None:
                at = paren.start("content")
                suffix = (
                    "%"
                    if inner["unit"] == "%"
                    else "change"
                    if inner["number"][0] in "+-" and number["number"][0] not in "+-"
                    else "avg"
                )
                span = (at + inner.start("number"), at + inner.end("number"))
                self._found.slots.append(
                    Slot(
                        f"{slot.name} ({suffix})",
                        self._span(span),
                        parse_number(inner["number"]),
                        inner["unit"] or "",
                        is_known=slot.is_known,
                    )
                )
                stop = paren.end()
            elif "*" in paren["content"]:
                stop = paren.end()
        return stop

    # -- axes -----------------------------------------------------------------------------

    def _axis(self, phrase: str) -> tuple[str | None, int, str]:
        """Axis named by the last words of a phrase, its precedence, and what is before."""
        words = phrase.split()
        for count in (3, 2, 1):
            if len(words) < count:
                continue
            axis, precedence = self._roles.axis_rank(" ".join(words[-count:]))
            if axis is not None and (axis != "time"):
                return axis, precedence, " ".join(words[:-count])
        return None, 0, phrase

    def _take_axis(
        self, phrase: str, number: re.Match[str], end: int, *, assigned: bool
    ) -> int | None:
        text = self._text
        key = re.sub(
            r"\((?:train|val|valid|test|eval)\w*\)\s*$", self._note_split, phrase.rstrip(" [(#:=")
        )
        key = re.split(r"[.!?:]\s+|[\])}>]\s*", key)[-1].strip(_KEY_EDGES + "[(")
        axis, precedence, before = self._axis(key)
        if axis is None or number["unit"] or number["number"][0] in "+-":
            return None
        integral = re.fullmatch(r"[\d,]+(?:\.0*)?", number["number"])
        if not integral and axis not in ("epoch", "tokens", "samples"):
            return None
        if len(before.split()) > 4 or (assigned and before and not self._roles.split_of(before)):
            return None  # "number of skipped iterations: 3" counts, it does not locate
        if self._found.slots and key.casefold() in _PLURAL_AXES:
            return None
        self._found.head_words += " " + before
        stop = number.end()
        total = _TOTAL.match(text, stop, len(text))
        if total:
            stop = total.end()
        if axis in ("tokens", "samples"):
            self._add_slot(key, number, strong=True)
        if axis == "batch":
            axis = "inner"
        elif (
            axis == "step"
            and self._has_axis("epoch")
            and (total or key.casefold() in ("it", "batch"))
        ):
            axis = "inner"
        elif axis == "epoch" and not integral:
            precedence += 50
        planned = total.span("total") if total else None
        self._add_coordinate(axis, number.span("number"), precedence, planned)
        if value := _VALUE_OF_AXIS.match(text, stop):
            taken = self._take_value_at_axis(before, value.end(), end)
            if taken is not None:
                return taken
        stop = re.compile(r"\s*[\])]?").match(text, stop).end()  # type: ignore[union-attr]
        if axis == "epoch" and (
            inner := _FRACTION.match(text, re.compile(r"[\s,:]*").match(text, stop).end())
        ):  # type: ignore[union-attr]
            if not re.match(r"\s*\.", text[inner.end() : inner.end() + 2]):
                self._add_coordinate("inner", inner.span("n"), 40, inner.span("total"))
                stop = inner.end()
        elif axis == "epoch" and (only := re.compile(r"\s*\[\s*(\d+)\s*\]").match(text, stop)):
            stop = only.end()
        return min(max(stop, number.end()), max(end, stop))

    def _take_value_at_axis(self, before: str, at: int, end: int) -> int | None:
        """`Training loss at step 100: 2.345`: the name stands before the coordinate."""
        words = re.sub(r"\s*\(?\s*(?:at|after|for|in|on|@)?\s*$", "", before)
        name = self._clean_key(words)
        number = NUMBER.match(self._text, at, end)
        if not name or number is None or not self._roles.is_known(name):
            return None
        self._add_slot(name, number)
        return number.end()

    def _has_axis(self, axis: str) -> bool:
        return any(c.axis == axis for c in self._found.coordinates)

    def _note_split(self, found: re.Match[str]) -> str:
        self._found.head_words += " " + found[0]
        return ""

    # -- names ----------------------------------------------------------------------------

    def _note_heading(self, segment: str) -> None:
        """`DEV :` or `validation:` gives its words to the names behind it."""
        if not self._found.slots:
            self._found.head_words += " " + segment
        heading = segment.strip()
        if FILLER in segment:
            return  # `eta: 0:05:57` is a value that is no number
        if heading.endswith(":") and not self._found.slots:
            self._set_context(heading)

    def _set_context(self, heading: str) -> None:
        words = self._clean_key(re.sub(r"\d+", " ", heading)).split()
        kept = [
            w
            for w in words
            if w.casefold().strip("()[]") not in _IDLE_CONTEXT and re.search(r"[^\W\d]", w)
        ]
        if 0 < len(kept) <= 4 and not any(FILLER in w for w in kept):
            self._context = " ".join(kept)

    def _name_of(self, phrase: str, at: int) -> tuple[str, Span | None]:
        parts = _SENTENCE_END.split(phrase)
        key_text = parts[-1]
        if len(parts) > 1 and not self._found.slots:
            heading = " ".join(part for part in parts[:-1] if part)
            self._found.head_words += " " + heading
            self._set_context(heading)
        if tagged := _TAGGED_KEY.search(key_text):
            self._context = tagged["tag"]
            key_text = tagged["key"]
        key_at = at + len(phrase) - len(key_text)
        key = self._clean_key(key_text)
        index_span: Span | None = None
        if lone := re.search(r"(?<![\w.@/])(\d+)(?![\w.@/])", key):
            word = re.search(r"([^\W\d]+)\s*#?\s*$", key[: lone.start()])
            offset = self._text.find(key, key_at)
            if word and word[1].casefold() in self._roles.words("indexed") and offset >= 0:
                index_span = self._span((offset + lone.start(1), offset + lone.end(1)))
            else:
                key = " ".join((key[: lone.start()] + " " + key[lone.end() :]).split())
                key = key.strip(_KEY_EDGES)
        if not key or not re.search(r"[^\W\d_]", key):
            return "", None
        for start, stop, group in self._groups:
            if start <= key_at + len(key_text) <= stop:
                # icefall's `tot_loss[loss=0.6, simple_loss=0.8]`
                return f"{group}/{key.rpartition('[')[2]}", index_span
        if self._context and not key.startswith(self._context):
            key = f"{self._context} {key}"
        return key, index_span

    def _clean_key(self, text: str) -> str:
        key = text.split(FILLER)[-1].strip(_KEY_EDGES)
        key = re.sub(r"^[^\w.(\[%]+", "", key)
        while (
            key
            and key[0] in "([{"
            and key.count(key[0]) > key.count({"(": ")", "[": "]", "{": "}"}[key[0]])
        ):
            key = key[1:].strip(_KEY_EDGES)
        if key[:1] in ")]}":
            key = key[1:]
        if key[-1:] == ")" and "(" not in key:
            key = key[:-1]
        if key.count("(") > key.count(")") and not key.endswith(")"):
            key = key.rsplit("(", 1)[-1]
        words = " ".join(key.strip(_KEY_EDGES).split()).split(" ")
        if len(words) > 1 and words[0].casefold() in self._roles.words("dropped"):
            words = words[1:]
        return " ".join(words)

    # -- adding ---------------------------------------------------------------------------

    def _span(self, span: Span) -> Span:
        return span[0] + self._offset, span[1] + self._offset

    def _blank(self, start: int, end: int) -> None:
        self._text = self._text[:start] + FILLER * (end - start) + self._text[end:]

    def _add_coordinate(
        self, axis: str, span: Span, precedence: int, total_span: Span | None = None
    ) -> None:
        self._found.coordinates.append(
            Coordinate(
                axis,
                self._span(span),
                self._integer(span),
                precedence,
                None if total_span is None else self._integer(total_span),
                None if total_span is None else self._span(total_span),
            )
        )

    def _integer(self, span: Span) -> float:
        return float(self._text[slice(*span)].replace(",", ""))

    def _add_slot(
        self,
        name: str,
        number: re.Match[str],
        *,
        strong: bool | None = None,
        index_span: Span | None = None,
    ) -> Slot:
        known = self._roles.is_known(name) if strong is None else strong
        slot = Slot(
            name,
            self._span(number.span("number")),
            parse_number(number["number"]),
            number["unit"] or "",
            known,
            index_span,
        )
        self._found.slots.append(slot)
        return slot
