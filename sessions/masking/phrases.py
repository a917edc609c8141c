"""Recovery phrases of wallets: a dozen or more plain words after a name that announces them.

The words are those of everyday English. Without a name, and without the list of the 2,048 words
that wallets choose from, nothing tells a phrase from a list of labels: a phrase alone stays.
"""

from __future__ import annotations

import re

from .marks import find_marks
from .word_set import words

_WORDS = (
    r"[a-z]{3,8}(?P<gap>[ \t]{1,2}|\\{0,4}[\"']?,[ \t]?\\{0,4}[\"']?)[a-z]{3,8}"
    r"(?:(?P=gap)[a-z]{3,8}){10,22}(?![A-Za-z])"
)
_END_OF_NAME = r"\\{0,4}[\"'`]?\]?[ \t]{0,8}"
_NAMED = re.compile(
    r"(?P<head>(?:(?i:(?:mnemonic|bip-?39|phrase|words?)(?:[ _-]?(?:phrase|words|seed|key))?)"
    rf"{_END_OF_NAME}"
    rf"(?:(?:=>|:=|[:=|│,(]|is:?|was:?)\s{{0,8}})?\[?"
    rf"|(?i:seed|wallet){_END_OF_NAME}[:=][ \t]{{0,8}})\\{{0,4}}[\"'`]?)"
    rf"(?P<phrase>{_WORDS})",
    re.ASCII,
)
_OWNER = re.compile(r"(?i:seed|recovery|backup|secret|wallet|mnemonic)[ _-]?\Z")
_MARKS = tuple(
    form
    for mark in ("mnemonic", "bip39", "bip-39", "phrase", "words", "seed", "wallet")
    for form in (mark, mark.capitalize(), mark.upper())
)
_SHORTEST = 12 * 4
_PHRASE = re.compile(rf"\s*{_WORDS}\s*")
_PROSE = words(
    "the and for are was were has had its his her our not but from than been being which their "
    "them these those would could should did does who why how"
)
"""Words that hold sentences together; no phrase has one."""


def mask_phrases(text: str) -> str:
    """Mask the words after `mnemonic`, `seed phrase`, `recovery phrase` and the like."""
    if len(text) < _SHORTEST:
        return text
    pieces: list[str] = []
    done = 0
    for start, _ in find_marks(text, _MARKS):
        named = _NAMED.match(text, start) if start >= done else None
        if named is None or not (_is_name(text, start) and _is_no_prose(named["phrase"])):
            continue
        pieces += (text[done : named.start("phrase")], "[masked: recovery phrase]")
        done = named.end("phrase")
    if not pieces:
        return text
    pieces.append(text[done:])
    return "".join(pieces)


def is_phrase(text: str) -> bool:
    """True if a text is nothing but twelve to twenty-four words, as wallets choose them."""
    return _PHRASE.fullmatch(text) is not None and _is_no_prose(text)


def _is_name(text: str, start: int) -> bool:
    """True unless the mark is a part of another word, or `phrase` alone."""
    before = text[max(0, start - 12) : start]
    if text[start].lower() == "p" or text[start : start + 5].lower() == "words":
        return _OWNER.search(before) is not None
    return not before[-1:].isalpha() or text[start].isupper()


def _is_no_prose(text: str) -> bool:
    return _PROSE.isdisjoint(re.findall(r"[a-z]+", text))
