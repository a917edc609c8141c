"""How much a generated text repeats itself."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_PADDING = re.compile(
    r"<\|?(?:pad|eos|endoftext|im_end|end_of_text|eot_id)\|?>|</s>|<s>|\[(?:PAD|EOS|SEP|CLS)\]",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s,;|\[\]()]+")
_LEAST_CHARACTERS = 8
_LEAST_WORDS = 6
_LONGEST_PHRASE = 24
_MOST_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Repetition:
    """What a text says over and over."""

    unit: str
    share: float
    """Of the text's words or characters."""
    count: int
    is_phrase: bool = False
    """A loop of several words or letters rather than a single token."""


def repetition(text: str) -> Repetition | None:
    """The token or phrase that makes up a text; None for a text that says something.

    What follows the end of a sentence (padding) is no repetition, and neither is the prompt
    before it: only the later two thirds are looked at.
    """
    said = _PADDING.sub(" ", text[:_MOST_CHARACTERS]).strip().strip("\"'`")
    words = _WORD.findall(said)
    if len(words) >= _LEAST_WORDS:
        words = words[len(words) // 3 :]
        return _one_word(words) or _phrase(" ".join(words))
    letters = re.sub(r"\s+", "", said)
    if letters.isdigit() or len(letters) < _LEAST_CHARACTERS:
        return None
    letters = letters[len(letters) // 3 :]
    unit, count = Counter(letters).most_common(1)[0]
    if count >= 0.9 * len(letters):
        return Repetition(unit, count / len(letters), count)
    return _phrase(letters)


def _one_word(words: list[str]) -> Repetition | None:
    unit, count = Counter(words).most_common(1)[0]
    if count >= 0.9 * len(words):
        return Repetition(unit, count / len(words), count)
    letters = "".join(words)
    unit, count = Counter(letters).most_common(1)[0]
    if count >= 0.9 * len(letters):
        return Repetition(unit, count / len(letters), count)
    return None


def _phrase(text: str) -> Repetition | None:
    """A text that is one short phrase again and again, at least four times."""
    for period in range(2, min(_LONGEST_PHRASE, len(text) // 4) + 1):
        if text[period:] == text[:-period]:
            return Repetition(text[:period].strip(), 1.0, len(text) // period, is_phrase=True)
    return None
