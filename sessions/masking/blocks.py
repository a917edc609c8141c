"""Private keys that go over several lines, whole or cut off at either end."""

from __future__ import annotations

import re

_MARK = "[masked: private key]"
_BEGIN = re.compile(r"-----BEGIN (?P<what>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_KEY = 65_536
_BODY = re.compile(
    r"(?:(?:\s|\\[nr]|[\"',+>|│])*+"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]*+|[A-Za-z0-9+/=]{8,}+))*+"
)
"""What can belong to a key that breaks off: lines of base64, and its headers."""
_TAIL = re.compile(r"(?:^|(?<=[\n\"']))[^\S\n]*[A-Za-z0-9+/=]{16,}[^\S\n]*(?:\r?\n|\\n)?\Z")
_PUTTY = re.compile(r"(Private-Lines: \d{1,4}\r?\n)((?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\Z)){1,200})")


def mask_blocks(text: str) -> str:
    """Mask private keys in PEM, OpenSSH, PGP and PuTTY form."""
    if "Private-Lines:" in text:
        text = _PUTTY.sub(rf"\g<1>{_MARK}\n", text)
    if "PRIVATE KEY" not in text:
        return text
    pieces: list[str] = []
    done = 0
    while begin := _BEGIN.search(text, done):
        pieces += (_without_tails(text[done : begin.start()]), _MARK)
        done = _end_of_key(text, begin.end())
    pieces.append(_without_tails(text[done:]))
    return "".join(pieces)


def _end_of_key(text: str, start: int) -> int:
    end = _END.search(text, start, start + _LONGEST_KEY)
    again = _BEGIN.search(text, start, start + _LONGEST_KEY)
    if end is not None and (again is None or end.start() < again.start()):
        return end.end()
    body = _BODY.match(text, start)
    return body.end() if body is not None else start


def _without_tails(text: str) -> str:
    """Mask the ends of keys whose beginning is missing."""
    pieces: list[str] = []
    done = 0
    while end := _END.search(text, done):
        kept = text[done : end.start()]
        while tail := _last_line_of_key(kept):
            kept = kept[: -len(tail)]
        pieces += (kept, _MARK)
        done = end.end()
    pieces.append(text[done:])
    return "".join(pieces)


def _last_line_of_key(text: str) -> str:
    """The last line if it is one of base64; looked for in a bounded stretch of text."""
    found = _TAIL.search(text[-512:])
    return found.group() if found is not None else ""
