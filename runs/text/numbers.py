"""Numbers as logs print them, and what only looks like one."""

from __future__ import annotations

import re

NON_FINITE = r"(?:[nN]a[nN]|NAN|[iI]nf(?:inity)?|INF|1\.\#(?:IND|INF|QNAN|SNAN)(?:0+)?)"
"""`nan`, `Inf`, and `1.#IND` as Windows prints it."""
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
"""`1,234.5`, `12.`, `.5`, `1e-5`."""
_UNIT = (
    r"(?:%|/s(?:ec)?(?:/(?:gpu|GPU|device|chip|core|rank|node))?(?![\w/])|[a-zA-Zµμ]{1,12}/[a-zA-Z]{1,9}(?![\w/])|[a-zA-Zµμ]{1,5}(?![\w/])"
    r"|f0(?!\w))"
)
"""`%`, `/s`, `tok/s`, `ms`, and how Julia marks a single precision number: `0.31f0`."""

NUMBER = re.compile(
    rf"""
    (?<![\w.@])(?<![A-Za-z]-)        # not inside a word, a version or another number
    (?P<number>[+-]?(?:{NON_FINITE}(?=\b|m?s\b|\W|$)|{_DIGITS}))
    (?P<unit>{_UNIT}(?!\s?[:=]))?    # glued to the number
    (?![\w])
    (?!\.\d)(?!:\d)(?!-\d)           # a version, a clock time, a date
    """,
    re.VERBOSE,
)
FRACTION = re.compile(
    r"\s*+[\[(]?\s*+(?P<n>\d+)\s*/\s*(?P<total>\d+)\s*(?:\(\s*\d+(?:\.\d+)?%\s*\))?\s*[\])]?"
)
"""`3/20`, `(3/20)`, `[ 640/60000 (1%)]`."""
TOTAL = re.compile(
    r"\s*(?:/|\b(?:of|von|sur|из|van|di)\b)\s*(?P<total>\d[\d,]*+)(?![\d.]*/)(?![\w.]*\.\d)"
)
"""`/20` or `of 20`, behind the number that counts towards it."""

_LOOKALIKES = re.compile(
    r"""
      \d{4}[-/]\d{1,2}[-/]\d{1,2}                                # 2024-01-31
      (?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?              # ... 10:00:00,123
    | \d{1,2}/\d{1,2}/\d{2,4}                                    # 31/01/24
    | \b\d{1,3}(?::\d{2}){1,2}(?:[.,]\d+)?(?![\d:])              # 0:05:57
    | \b(?:\d+\ ?days?,\ )                                       # 2 days, ...
    | \b(?:\d+(?:[dhm]|hr|min)\ ?){1,4}\d+(?:\.\d+)?s\b | \b\d+h\ \d+m\b | \b\d+m\ \d+s\b # 2m 22s
    | \b\d+(?:\.\d+){2,}\S*                                      # versions, addresses
    | \b0x[0-9a-fA-F]+
    | \b1[3-9]\d{8}\.\d+ | \b1[3-9]\d{11}\b                      # seconds, milliseconds since 1970
    | (?<![\w/])(?:[~.]{0,2}/[\w.-]+){1,}\S*                     # paths
    | \b\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?){2,}                      # 53.4/26.3/15.0
    | \w{1,20}://\S+
    | [\w./-]{0,200}
      \.(?:py|cc|cpp|cu|h|json|yaml|txt|pt|pth|ckpt|pkl|log|csv|jpg|png|npy)(?:[:(]\d+\)?)?
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
