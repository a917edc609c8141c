"""Fixes that would destroy something or run something: flagged with the reason, never hidden."""

from __future__ import annotations

import re
import unicodedata

from ..answer.opinion import Fix
from ..answer.wording import one_line
from .checked import Danger
from .harmless import doubt_about
from .patterns import rules

_MOST = 6
_SHOWN = 60
_LOOKED_AT = 20_000
"""Characters; what is longer is never taken for harmless."""
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_DASHES = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_CONTINUED = re.compile(r"[\\^]\n[ \t]*")
_DISGUISE = re.compile(r"\\(?=[A-Za-z])|(?<=\w)(?:\"\"|'')(?=\w)|(?<![\w\"'])[\"'](?=\w+[\"']\s)")
_SPACE = re.compile(r"\$\{?IFS\}?(?:\$\d)?")


def dangers_of_text(text: str) -> tuple[Danger, ...]:
    """What is dangerous about a line that somebody may copy and act on."""
    found = _found(text, is_copied=True) or _doubted(text)
    return tuple(found.values())[:_MOST]


def dangers_of_fix(fix: Fix) -> tuple[Danger, ...]:
    """What is dangerous about a fix: about what is copied, and about what else it says."""
    copied = [one for one in (fix.change, fix.example) if one.strip()] or [fix.title]
    dangers = _found("\n".join((fix.title, fix.verify, fix.if_it_fails)), is_copied=False)
    dangers |= _found("\n".join(copied), is_copied=True)
    if not fix.is_reversible:
        match = one_line(fix.title or fix.change or fix.example, _SHOWN)
        final = Danger(kind="changes", match=match, reason="cannot be taken back")
        dangers = {final.reason: final, **dangers}
    for text in copied:
        dangers = dangers or _doubted(text)
    return tuple(dangers.values())[:_MOST]


def _doubted(text: str) -> dict[str, Danger]:
    """What nobody knows to be dangerous, but nobody knows to be harmless either."""
    doubt = doubt_about(_plain(text))
    if doubt is None:
        return {}
    kind, reason = "unknown", "is not recognised as harmless"
    if doubt.is_command:
        kind, reason = "runs", "runs a command"
    return {reason: Danger(kind=kind, match=one_line(doubt.words, _SHOWN), reason=reason)}


def _found(text: str, *, is_copied: bool) -> dict[str, Danger]:
    plain = _plain(text[:_LOOKED_AT]).replace("`", " ")
    shown = _DISGUISE.sub("", _SPACE.sub(" ", plain))
    dangers: dict[str, Danger] = {}
    # As it is written, and as a shell reads it.
    for read in dict.fromkeys((plain, shown)):
        for rule in rules():
            if rule.reason in dangers or (rule.is_start and not is_copied):
                continue
            if found := rule.pattern.search(read):
                # To the end of its line: what is deleted says more than that something is.
                rest = read[found.start() :].lstrip().partition("\n")[0]
                match = one_line(rest, _SHOWN)
                dangers[rule.reason] = Danger(kind=rule.kind, match=match, reason=rule.reason)
    return dangers


def _plain(text: str) -> str:
    """Letters that only look like others, and marks that hide between them, taken away."""
    folded = _DASHES.sub("-", unicodedata.normalize("NFKC", _BREAKS.sub("\n", text)))
    spaced = "".join(
        c if c.isprintable() or c in "\n\t" else " " if c.isspace() else "" for c in folded
    )
    return _CONTINUED.sub(" ", spaced)
