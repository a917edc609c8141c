"""Secrets that are known by their shape alone, whatever stands around them."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from .marks import has_mark
from .vendor_tokens import compile_tokens

_LEAST = 15
"""Characters without a gap: no vendor's token is shorter."""


class Shape(NamedTuple):
    """A secret that no prefix gives away."""

    kind: str
    marks: tuple[str, ...]
    """Found by plain search, which is much faster: no secret without one of them."""
    pattern: re.Pattern[str]


def _shape(kind: str, marks: str, pattern: str) -> Shape:
    return Shape(kind, tuple(marks.split()), re.compile(pattern, re.ASCII))


_EDGE = r"(?<![A-Za-z0-9])"
_BEFORE_TOKENS: tuple[Shape, ...] = (
    _shape("AWS secret key", "AKIA ASIA",
           rf"{_EDGE}(?:AKIA|ASIA)[A-Z0-9]{{16}}[\s,:;/|\"']{{1,6}}[A-Za-z0-9/+]{{40}}(?![A-Za-z0-9/+])"),
    _shape("Slack webhook", "hooks.slack.com",
           r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]++"),
    _shape("webhook", "/webhooks/",
           r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d++/[\w-]++"),
    _shape("webhook", "webhook.office.com", r"webhook\.office\.com/[\w/@.-]++"),
    _shape("webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/[\w/]++"),
    _shape("bot token", "bot", r"(?<![A-Za-z0-9])bot\d{8,10}:[\w-]{35}"),
)  # fmt: skip
_AFTER_TOKENS: tuple[Shape, ...] = (
    _shape("bot token", ":AA", r"(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _shape("private key", "b3BlbnNzaC1rZXktdjE",
           r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]*+(?:(?:\\n|\s){1,4}[A-Za-z0-9+/=]{40,}+)*+"),
    # One that begins within a word would be tried anew at each hyphen of a very long one.
    _shape("JWT", "eyJ", r"(?<![A-Za-z0-9_-])eyJ[\w-]{6,}+\.[\w-]{4,}+(?:\.[\w-]*+){1,3}"),
    _shape("password hash", "$",
           r"\$(?:2[abxy]?|1|5|6|7|y|apr1|scrypt|argon2(?:id|i|d)|pbkdf2[a-z0-9-]{0,12})"
           r"\$[\w./,=+-]{1,64}+(?:\$[\w./,=+-]{8,128}+){1,3}"),
    _shape("Azure secret", "Q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])"),
    _shape("Azure storage key", "+ASt",
           r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{6}={0,2}"),
    _shape("Azure registry password", "+ACR",
           r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9]{6}(?![A-Za-z0-9])"),
    _shape("Azure DevOps token", "AZDO",
           r"(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{18}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    _shape("Terraform token", ".atlasv1.",
           r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}+"),
    _shape("New Relic key", "FFFFNRAL", r"(?<![A-Za-z0-9])\w{32}FFFFNRAL(?![A-Za-z0-9])"),
    _shape("MaxMind key", "_mmk", r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)"),
    _shape("Mailchimp key", "-us", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    _shape("Twitter token", "AAAAAAAAAAAAAAAAAA",
           r"(?<![A-Za-z0-9+/])A{18,24}[A-Za-z0-9]{8,60}%(?:2B|2F|3D)[A-Za-z0-9%]{30,}+"),
)  # fmt: skip
"""Longer ones come before their parts: a webhook's path and a bot's address hold tokens, too."""
_AFTER_EDGE = rf"(?<![A-Za-z0-9])(?=[\w.~/:+-]{{{_LEAST}}})"
_AFTER_ESCAPE = r"(?:%[0-9A-Fa-f]{2}|\\[nrtbf]|\\u[0-9A-Fa-f]{4})"
"""An escaped character before a token is no letter of it."""
# Compiled when the first text is masked, not on import: each takes some 20 ms.
_compiled = cache(compile_tokens)


def mask_shapes(text: str) -> str:
    """Mask every secret that its shape gives away."""
    text = _masked_tokens(_masked(text, _BEFORE_TOKENS), _AFTER_EDGE)
    if "%" in text or "\\" in text:
        text = _masked_tokens(text, _AFTER_ESCAPE)
    return _masked(text, _AFTER_TOKENS)


def _masked(text: str, shapes: tuple[Shape, ...]) -> str:
    for kind, marks, pattern in shapes:
        if has_mark(text, marks):
            text = pattern.sub(f"[masked: {kind}]", text)
    return text


def _masked_tokens(text: str, before: str) -> str:
    pattern, kinds = _compiled(before)

    def masked(found: re.Match[str]) -> str:
        group = found.lastindex or 0
        whole = found.group()
        # A group begins after the first letter of its prefix; what stands before that is kept.
        head = whole[: found.start(group) - found.start() - 1]
        dots = whole[len(whole.rstrip(".")) :]
        return f"{head}[masked: {kinds[group - 1]}]{dots}"

    return pattern.sub(masked, text)
