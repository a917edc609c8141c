"""How much of a message fits into a quote: its beginning, the words that count, its end."""

from __future__ import annotations

MOST = 300
"""Characters of a quote."""
_HEAD, _TAIL = 150, 140
_BEFORE, _AROUND, _AFTER = 115, 90, 80
_CUT = " … "


def excerpt(text: str, start: int = 0, end: int = 0) -> str:
    """A line as it stands; of one that is too long the reason at its end is kept as well."""
    if len(text) <= MOST:
        return text
    if end <= _HEAD or start >= len(text) - _TAIL:
        # The sentence goes on a little after the words that were recognised.
        first = min(max(_HEAD, end + 45), _HEAD + 45) if end <= _HEAD else _HEAD
        last = len(text) - (_HEAD + _TAIL - first)
        return f"{text[:first].rstrip()}{_CUT}{text[last:].lstrip()}"
    begin = start - 5 if end - start < _AROUND - 10 else end + 40 - _AROUND
    middle = text[max(_BEFORE, begin) :][:_AROUND].strip()
    return f"{text[:_BEFORE].rstrip()}{_CUT}{middle}{_CUT}{text[-_AFTER:].lstrip()}"
