"""Numbers as logs print them, and what only looks like one."""

from __future__ import annotations

import re

NON_FINITE = r"(?:[nN]a[nN]|NAN|[iI]nf(?:inity)?|INF|1\.\#(?:IND|INF|QNAN|SNAN)(?:0+)?)"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
UNIT = r"(?:%|/s(?:ec)?(?![\w/])|[a-zA-Zµμ]{1,12}/[a-zA-Z]{1,9}(?![\w/])|[a-zA-Zµμ]{1,5}(?![\w/]))"

NUMBER = re.compile(
    rf"""
    (?<![\w.@])(?<![A-Za-z]-)        # not inside a word, a version or another number
    (?P<number>[+-]?(?:{NON_FINITE}(?=\b|m?s\b|\W|$)|{_DIGITS}))
    (?P<unit>{UNIT}(?!\s?[:=]))?     # glued to the number
    (?![\w])
    (?!\.\d)(?!:\d)(?!-\d)          # a version, a clock time, a date
    """,
    re.VERBOSE,
)


_LOOKALIKES = re.compile(
    r"""
      \d{4}[-/]\d{1,2}[-/]\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?   # dates
    | \d{1,2}/\d{1,2}/\d{2,4}
    | \b\d{1,3}(?::\d{2}){1,2}(?:[.,]\d+)?(?![\d:])                            # clock times
    | \b(?:\d+\ ?days?,\ )
    | \b(?:\d+[dhm]\ ?)+\d+s\b | \b\d+h\ \d+m\b | \b\d+m\ \d+s\b           # 2m 22s
    | \b\d+(?:\.\d+){2,}\S*                                                # versions, addresses
    | \b0x[0-9a-fA-F]+
    | \b1[3-9]\d{8}\.\d+ | \b1[3-9]\d{11}\b                                 # unix times
    | (?<![\w/])(?:[~.]{0,2}/[\w.-]+){1,}\S*                                # paths
    | \b\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?){2,}                                # 53.4/26.3/15.0
    | \w+://\S+
    | [\w./-]*\.(?:py|cc|cpp|cu|h|json|yaml|txt|pt|pth|ckpt|pkl|log|csv|jpg|png|npy)(?:[:(]\d+\)?)?
    """,
    re.VERBOSE,
)
FILLER = "\x7f"
"""Stands for what was masked: neither white space nor a word nor a number."""


def mask_lookalikes(text: str) -> str:
    """Blank out dates, times, versions, paths and addresses, keeping every offset."""
    return _LOOKALIKES.sub(lambda found: FILLER * len(found[0]), text)


def parse_number(text: str) -> float:
    """The value of what `NUMBER` matched."""
    plain = text.replace(",", "").casefold()
    if "#" in plain:
        sign = "-" if plain.startswith("-") else ""
        plain = f"{sign}inf" if "inf" in plain else "nan"
    return float(plain.replace("-nan", "nan"))


def is_non_finite_word(text: str) -> bool:
    """True for nan, inf and their spellings: words, not digits."""
    return "#" in text or text.lstrip("+-")[:1] in ("n", "N", "i", "I")
