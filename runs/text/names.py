"""From the words before a number to the name of what it measures."""

from __future__ import annotations

import re

from ..roles import Roles
from .numbers import FILLER
from .passage import Passage
from .reading import Span

KEY_EDGES = " \t\"'`*•>·~,;:=|/\\#@&^<-–—" + FILLER
"""Never at the edge of a name."""

_SENTENCE_END = re.compile(r"(?<=[\w)\]%])[.?]\s+|:\s+|!\s*")
_NAMELESS_START = re.compile(r"^(?:[^\w.(\[%‖∇]|\.\s)+")
_CLOSING_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_TAGGED_KEY = re.compile(r"(?P<tag>\[[^\[\]\d]{2,40}\])\s+(?P<key>[^\[\]]+)$")
"""`[Epoch Metrics] Policy Loss`."""
_GLUED_TAG = re.compile(r"\[?(?P<word>[^\W\d_]{2,20})\](?=\w)")
"""`[Avg]top1`."""
_LONE_INTEGER = re.compile(r"(?<![\w.@/-])\d+(?![\w.@/])")
"""The 3 of `layer 3 grad_norm`, but not of `top3` or `acc@3`."""
_LAST_WORD = re.compile(r"(?P<word>[^\W\d]+)\s*#?\s*$")
_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]|∇")
_LETTER_OR_UNDERSCORE = re.compile(r"[^\W\d]")
_IDLE_HEADINGS = frozenset({
    "done", "finished", "completed", "complete", "end", "ended", "summary", "result",
    "results", "stats", "metrics", "metric", "info", "step", "iter", "epoch", "iteration",
    "at", "log", "logs", "logging", "progress", "average", "averaged", "overall", "avg",
    "mean", "status", "report"
})  # fmt: skip
"""Words of a heading that tell nothing about the numbers behind it."""
_BEST = re.compile(r"best\b", re.IGNORECASE)
"""What was best so far is not what was measured now."""
_MAX_CONTEXT_WORDS = 4
_MAX_WORD = 40
"""Characters of the words that are numbered, such as `layer`; the rest is not looked at."""


def clean_key(text: str, roles: Roles) -> str:
    """The last unmasked words of a text, without what surrounds a name."""
    key = text.rpartition(FILLER)[2].strip(KEY_EDGES)
    if (tagged := _GLUED_TAG.match(key)) and tagged["word"].casefold() in _IDLE_HEADINGS:
        key = key[tagged.end() :]
    key = _without_half_brackets(_NAMELESS_START.sub("", key))
    words = key.strip(KEY_EDGES).split()
    if len(words) > 1 and words[0].casefold() in roles.words("dropped"):
        del words[0]
    return " ".join(words)


def _without_half_brackets(key: str) -> str:
    """Drop brackets whose other half is not in the key, and what belongs to them."""
    while key[:1] in _CLOSING_BRACKETS and key.count(key[0]) > key.count(_CLOSING_BRACKETS[key[0]]):
        key = key[1:].strip(KEY_EDGES)
    if key.startswith((")", "]", "}")):
        key = key[1:]
    if key.endswith(")"):
        return key if "(" in key else key[:-1]
    if key.count("(") > key.count(")"):
        return key.rpartition("(")[2]
    return key


def last_sentence(phrase: str) -> str:
    """What follows the last full stop, colon or exclamation mark of a phrase."""
    return _SENTENCE_END.split(phrase)[-1]


def name_of(passage: Passage, phrase: str, start: int) -> tuple[str, Span | None]:
    """The name in a phrase that begins at `start`, if any, and the place of an index in it."""
    end = start + len(phrase)
    key_text = _split_off_heading(passage, phrase)
    key = clean_key(key_text, passage.roles)
    key, index_span = _settle_index(passage, key, end - len(key_text))
    if not _LETTER.search(key):
        return "", None
    if group := passage.group_at(end):
        return f"{group}/{key.rpartition('[')[2]}", index_span
    if passage.context and not key.startswith(passage.context):
        key = f"{passage.context} {key}"
    return key, index_span


def _split_off_heading(passage: Passage, phrase: str) -> str:
    """Note the sentences and the tag before the key; the text of the key remains."""
    *sentences, key_text = _SENTENCE_END.split(phrase)
    if sentences:
        _note_sentences(passage, " ".join(filter(None, sentences)))
    if tagged := _TAGGED_KEY.search(key_text):
        passage.context = tagged["tag"]
        return tagged["key"]
    return key_text


def _note_sentences(passage: Passage, heading: str) -> None:
    """A heading counts at the start; behind values one that is nothing but the name of a split."""
    if not passage.slots:
        passage.add_head_words(heading)
        _set_context(passage, heading)
    elif len(heading.split()) == 1 and passage.roles.split_of(heading):
        _set_context(passage, heading)


def _settle_index(passage: Passage, key: str, key_start: int) -> tuple[str, Span | None]:
    """Keep the number of `layer 3 grad_norm` and its place; drop that of `Region 82 Avg IOU`."""
    lone = _LONE_INTEGER.search(key)
    if lone is None:
        return key, None
    before, behind = key[: lone.start()], key[lone.end() :]
    word = _LAST_WORD.search(before[-_MAX_WORD:])
    if word and word["word"].casefold() in passage.roles.words("indexed"):
        key_at = passage.text.find(key, key_start)
        if key_at >= 0:
            return key, passage.in_line((key_at + lone.start(), key_at + lone.end()))
    return " ".join(f"{before} {behind}".split()).strip(KEY_EDGES), None


def note_heading(passage: Passage, segment: str) -> None:
    """`DEV :` or `validation:` gives its words to the names behind it."""
    heading = segment.strip()
    if passage.slots or heading.endswith("="):
        return  # `v_num=` is a field without a value
    passage.add_head_words(segment)
    # `eta: 0:05:57` is a value that is no number, not a heading.
    if (heading.endswith(":") or _BEST.match(heading)) and FILLER not in heading:
        _set_context(passage, heading)


def _set_context(passage: Passage, heading: str) -> None:
    words = clean_key(_DIGITS.sub(" ", heading), passage.roles).split()
    telling = [word for word in words if _is_telling(word)]
    if 0 < len(telling) <= _MAX_CONTEXT_WORDS:
        passage.context = " ".join(telling)


def _is_telling(word: str) -> bool:
    if word.casefold().strip("()[]") in _IDLE_HEADINGS:
        return False
    return _LETTER_OR_UNDERSCORE.search(word) is not None
