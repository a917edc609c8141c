"""How bad a line of a log sounds, and which process it comes from."""

from __future__ import annotations

import re

WARNING = "warning"
ERROR = "error"

KEYWORDS = (b"error", b"exception", b"traceback", b"critical", b"fatal", b"killed", b"warn", b"[e",
            b"[f", b"[w", b"fault", b"out of memory", b"abort", b"interrupt")  # fmt: skip
"""In lower case: a line with none of them has no level."""
_TEXT_KEYWORDS = tuple(keyword.decode() for keyword in KEYWORDS)

_ERROR = re.compile(
    r"""
    \b(?: ERROR | CRITICAL | FATAL | Traceback | Exception | EXCEPTION | KILLED | Killed )\b
  | \b[A-Z]\w*(?: Error | Exception | Interrupt )\b                     # the name of an exception
  | (?i: \b(?: fatal\ )? error: (?! \s* [-+\d.]) )          # but no metric called error
  | (?i: \b(?: segmentation\ fault | out\ of\ memory | core\ dumped | aborted ) \b )
  | \[ [EF] (?: \d{4} )? [ ]                                # torch and glog: [E1023 ...
    """,
    re.VERBOSE,
)
_WARNING = re.compile(
    r"""
    \b(?: WARN | WARNING | Warning )\b | \b[A-Z]\w*Warning\b | (?i: \bwarn(?:ing)?: )
  | \[ W (?: \d{4} )? [ ]
    """,
    re.VERBOSE,
)
_PREFIX = re.compile(r"(?:\[[^\]\s]{1,24}\]:?\s?|\d{1,5}:\s)*")
"""What launchers put before a line: `[rank0]: `, `3: `."""


def level_of(text: str) -> str:
    """`error`, `warning`, or nothing."""
    lowered = text.lower()
    if not any(keyword in lowered for keyword in _TEXT_KEYWORDS):
        return ""
    if _ERROR.search(text):
        return ERROR
    return WARNING if _WARNING.search(text) else ""


def begins_traceback(text: str) -> bool:
    """True for the line above the frames of a Python traceback."""
    return "Traceback (most recent call last)" in text


def is_frame(text: str) -> bool:
    """True for an indented line, as those of a traceback are, also behind a launcher's prefix."""
    prefix = _PREFIX.match(text)
    return text[prefix.end() if prefix else 0 :][:1] in (" ", "\t")


def rank_pattern(rank: int) -> re.Pattern[str]:
    """Finds lines that one of many processes wrote, by the marks of the usual launchers."""
    return re.compile(
        rf"""
        (?<![a-z]) rank (?: [\s:=_\#-] | \[ )* 0*{rank} (?!\d)
      | ^ \s* \[ (?: [a-z_]+ )? 0*{rank} \]
      | ^ \s* 0*{rank} : (?=\s)
        """,
        re.VERBOSE | re.IGNORECASE,
    )
