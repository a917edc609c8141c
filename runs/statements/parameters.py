"""Lines that say how many parameters a model has, in the words of the usual frameworks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .sizes import NUMBER, TIMES, count_of
from .statement import Statement, StatementKind

_COUNT = rf"(?P<n>{NUMBER}) ?(?P<times>{TIMES})?"
_WORDS = re.compile(r"(?i)(?<![\w/-])\w{0,10}?_?param(?:eter)?s?\b(?!\w)|\bparam[_ ]count\b")
_NOT_A_COUNT = re.compile(
    r"(?i)hyper-?param|parameter tensors|param(?:eter)?[ _]groups?|param(?:eter)?s?[ _](?:norm|"
    r"name|server|shape)|\bunused param|\bmissing\b|decayed|swapping"
)
"""Other things that are counted in lines about parameters."""
_BEFORE = re.compile(
    r"(?i)"
    # PEFT: trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.06
    r"(?P<label>(?<![\w.])(?:(?:total|all|num(?:ber)?\.?|n|#|of|the|model|shared|trainable|"
    r"trained|learnable|non[- ]?trainable|frozen|network|generator|unique)[ _]+){0,6}"
    r"(?:param(?:eter)?s?(?:[ _]count)?|param[ _]count|mparams)(?![\w/]))"
    # What one rank of Megatron or DeepSpeed holds.
    r"(?P<where> on (?:\([\w, ]{1,40}\) )?model parallel rank (?:\([\d, ]{1,20}\)|\d{1,5}))?"
    r"(?P<millions> ?\(M\))?"
    rf"(?: {{0,40}}[:=|]{{1,2}} {{0,4}}| {{2,20}}| is ){_COUNT}"
)
_TRAINED = re.compile(rf"(?i)\(num\. trained: {_COUNT}")
_BEHIND = re.compile(
    rf"(?<![\w.,:/-]){_COUNT} {{1,20}}"
    r"(?P<label>(?:(?:[Tt]otal|[Tt]rainable|[Nn]on-?[Tt]rainable|[Ff]rozen|[Ll]earnable|[Mm]odel|"
    r"[Uu]nique) ){0,3}[Pp]aram(?:eter)?s\b(?![\w/]))"
)


def is_about_parameters(text: str) -> bool:
    """True if lines of this shape may state a number of parameters; looks at words alone."""
    return _WORDS.search(text) is not None and _NOT_A_COUNT.search(text) is None


def parameter_statements(text: str) -> Iterator[Statement]:
    """All counts in one line."""
    if not is_about_parameters(text):
        return
    found = [*_BEFORE.finditer(text)] or [*_BEHIND.finditer(text)]
    for match in found[:4]:
        groups = match.groupdict()
        times = "M" if groups.get("millions") else groups["times"]
        if (value := count_of(groups["n"], times)) is not None:
            subject = "rank" if groups.get("where") and "rank" in groups["where"] else ""
            yield _stated(subject or _subject(groups["label"]), value, match[0])
    trained = _TRAINED.search(text) if found else None
    value = count_of(trained["n"], trained["times"]) if trained is not None else None
    if trained is not None and value is not None:
        yield _stated("trainable", value, trained[0])


def _subject(label: str) -> str:
    words = label.casefold()
    if re.search(r"non[- ]?trainable|frozen", words):
        return "frozen"
    return "trainable" if re.search(r"train(?:able|ed)|learnable", words) else "total"


def _stated(subject: str, value: float, text: str) -> Statement:
    return Statement(StatementKind.PARAMETERS, subject, value, text.strip()[:200])
