"""Values: does this look like a secret, or is it a number, a word, a place for one?"""

from __future__ import annotations

import math
import re
from collections import Counter

from .names import Doubt, Named
from .phrases import is_phrase
from .word_set import words

MASK = re.compile(r"\[masked: [^\[\]\n]{1,40}\]")
_PLACEHOLDER = re.compile(
    r"""(?:\[masked:.*|\*{2,}.*|[xX]{3,}|\.{2,}|…|<[^<>]*>|\$\{[^{}]*\}|\$\w+|\$\([^()]*\)"""
    r"""|%\(?\w+\)?s?|\{\{?[^{}]*\}?\}|\[[A-Za-z ]*\]|-+|_+|[|│]+|\w+ \{[^{}]*\})""",
    re.DOTALL,
)
_NOTHING = words(
    "none null nil nan true false yes no on off auto default undefined empty unset missing "
    "required optional redacted hidden masked removed str string bytes int bool float any "
    "secretstr self"
)
_PROSE = words(
    "not no invalid required wrong incorrect expired is was are must should the a an for to in "
    "on failed found set given provided expected denied authentication permission access from "
    "and or of with could cannot can't it this that use using please enter see be has have file "
    "got too does did do if when you your"
)
_CODE = re.compile(
    r"(?:os|self|cls|args|cfg|config|conf|settings|opts|options|kwargs|env|environ|getpass|input"
    r"|getenv|str|flags|FLAGS|hparams|params|request|torch|tokenizer|tokens?|len|f)[.\[(]"
)
_ERROR = re.compile(r"[A-Z][A-Za-z]{1,40}(?:Error|Exception|Warning):?")
_RANDOM = re.compile(r"[A-Za-z0-9_+/=.~:!@#$%^&*-]+", re.ASCII)
_NUMBER = re.compile(r"[-+]?[\d.,_]+(?:[eE][-+]?\d+)?[%a-zA-Z/]{0,9}")
_WORD = re.compile(r"[A-Za-z][a-z]*|[A-Z]+")
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:[\\/]|\\\\")
_FOLDER = re.compile(r"[/\\\n]|\A(?:~|\.{1,2})\Z")
_LEAST_RANDOM = 12
_LEAST_BITS = 3.0
_LEAST_BITS_OF_FEW = 2.2
"""Few characters cannot differ much."""
_MOST_LOOKED_AT = 512


def is_secret(value: str, named: Named, *, is_quoted: bool) -> bool:
    """True if a value may be the secret that its name announces."""
    bare = value.strip()
    if not bare or bare.lower() in _NOTHING or _PLACEHOLDER.fullmatch(bare):
        return False
    if not is_quoted and (
        _CODE.match(bare) or _ERROR.fullmatch(bare) or bare.lower().rstrip(".,:;!?") in _PROSE
    ):
        return False
    if named.kind == "recovery phrase":
        return is_phrase(bare)
    if named.kind == "authorization" and MASK.search(bare):
        return False  # "Bearer [masked: token]": only the secret itself was masked.
    if named.kind != "password" and _PATH.match(bare):
        return False
    if named.may_be_folder and _FOLDER.search(bare):
        return False
    if named.kind == "token" and _NUMBER.fullmatch(bare):
        return False
    if named.doubt is Doubt.NONE:
        return True
    if named.doubt is Doubt.SOME:
        return not (len(bare) < 5 or _NUMBER.fullmatch(bare) or _WORD.fullmatch(bare))
    return looks_random(bare, 8 if named.doubt is Doubt.MUCH else _LEAST_RANDOM)


def looks_random(value: str, least: int = _LEAST_RANDOM) -> bool:
    """True for what nobody would write by hand: long, of letters and digits, and varied."""
    value = value[:_MOST_LOOKED_AT]
    if len(value) < least or not _RANDOM.fullmatch(value) or _PATH.match(value):
        return False
    if _NUMBER.fullmatch(value) or not any(c.isdecimal() for c in value):
        return False
    return any(c.isalpha() for c in value) and _bits_per_character(value) >= (
        _LEAST_BITS if len(value) >= _LEAST_RANDOM else _LEAST_BITS_OF_FEW
    )


def _bits_per_character(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
