"""Secrets whose name stands in a tag around them, or on the line before."""

from __future__ import annotations

import re

from .names import Doubt, Named, announced
from .values import MASK, is_secret

_TAGGED = re.compile(
    r"(?P<head><(?P<name>[A-Za-z][\w.:-]{1,63})(?:[ \t][^<>\n]{0,200})?>\s{0,40})"
    r"(?P<value>[^<>\s][^<>\n]{0,511})(?P<tail></(?P=name)>|\s{1,40}</(?P=name)>)"
)
_NEXT_LINE = re.compile(
    r"(?P<head>(?<![\w.-])(?P<name>(?:[A-Za-z0-9]{2,20}[ ])?[A-Za-z][\w.-]{1,63}+)[\"']?"
    r"[ \t]{0,8}[:=][ \t]{0,8}(?:[|>][+-]?[ \t]{0,8}|\\)?\r?\n[ \t]{0,40}(?:-[ \t]{1,4})?)"
    r"(?:(?P<quote>[\"'])(?P<quoted>[^\"'\n]{1,512})(?P=quote)"
    r"|(?P<bare>[^\s\"'`:=]{8,512}={0,2}))"
    r"(?=,?[ \t]{0,8}(?:\r?\n|\Z))"
)
"""The value is all that its line holds; more would be a new sentence, or another name's."""


def mask_spread(text: str) -> str:
    """Mask `<password>...</password>`, and what stands alone below `token:`."""
    if "</" in text:
        text = _TAGGED.sub(_masked_in_tag, text)
    return _NEXT_LINE.sub(_masked_below, text) if "\n" in text else text


def _masked_in_tag(found: re.Match[str]) -> str:
    named = announced(found["name"])
    value = found["value"]
    if named is None or MASK.search(value) or not is_secret(value, named, is_quoted=True):
        return found.group()
    return f"{found['head']}[masked: {named.kind}]{found['tail']}"


def _masked_below(found: re.Match[str]) -> str:
    named = announced(found["name"])
    quoted, bare = found["quoted"], found["bare"]
    if named is None or MASK.search(quoted or bare):
        return found.group()
    if quoted is not None:
        named = named._replace(doubt=min(named.doubt, Doubt.SOME))
        is_one = is_secret(quoted, named, is_quoted=True)
    else:
        doubt = Doubt.MUCH if named.doubt <= Doubt.SOME else Doubt.MOST
        is_one = is_secret(bare, Named(named.kind, doubt), is_quoted=False)
    quote = found["quote"] or ""
    return f"{found['head']}{quote}[masked: {named.kind}]{quote}" if is_one else found.group()
