"""Recovery phrases of wallets: a dozen or more plain words after a name that announces them.

The words are those of everyday English. Without a name, and without the list of the 2,048 words that
wallets choose from, nothing tells a phrase from a list of labels, so a phrase alone is left as it is.
"""

from __future__ import annotations

import re

from .word_set import words

_WORDS = r"[a-z]{3,8}(?:(?:[ \t]{1,2}|\\{0,4}[\"']?,[ \t]?\\{0,4}[\"']?)[a-z]{3,8}){11,23}"
_NAMED = re.compile(
    r"""
    (?P<head>\b(?:mnemonic|bip-?39|(?:seed|recovery|backup|secret|wallet)[ _-]?(?:phrase|words?|mnemonic))
        (?:[ _-]?(?:phrase|words|seed|key))?\\{0,4}["'`]?\]?[ \t]{0,8}
        (?:(?:=>|:=|[:=|│,(]|is:?|was:?)\s{0,8})?\[?\\{0,4}["'`]?
      | \b(?:seed|wallet)\\{0,4}["'`]?\]?[ \t]{0,8}[:=][ \t]{0,8}\\{0,4}["'`]?)
    (?P<phrase>(?-i:WORDS))(?![A-Za-z])
    """.replace("WORDS", _WORDS.replace(" ", r"\x20")),
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PHRASE = re.compile(rf"\s*{_WORDS}\s*")
_PROSE = words(
    "the and for are was were has had its his her our not but from into than been being which their "
    "them these those would could should did does who why how"
)
"""Words that hold sentences together; no phrase has one."""


def mask_phrases(text: str) -> str:
    """Mask the words after `mnemonic`, `seed phrase`, `recovery phrase` and the like."""
    folded = text.lower()
    if not any(mark in folded for mark in ("mnemonic", "phrase", "words", "seed", "wallet", "bip")):
        return text
    return _NAMED.sub(_masked_phrase, text)


def is_phrase(text: str) -> bool:
    """True if a text is nothing but twelve to twenty-four words, as wallets choose them."""
    return _PHRASE.fullmatch(text) is not None and _is_no_prose(text)


def _masked_phrase(found: re.Match[str]) -> str:
    if not _is_no_prose(found["phrase"]):
        return found.group()
    return f"{found['head']}[masked: recovery phrase]"


def _is_no_prose(text: str) -> bool:
    return _PROSE.isdisjoint(re.findall(r"[a-z]+", text))
