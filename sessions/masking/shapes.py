"""Secrets that are known by their shape alone, whatever stands around them."""

from __future__ import annotations

import re
from typing import NamedTuple

_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"
"""Not inside a longer word; an escaped character before it is no letter of it."""


class Shape(NamedTuple):
    """What such a secret is called, what it cannot lack, and what it looks like."""

    kind: str
    marks: tuple[str, ...]
    """Found by plain search, which is much faster: no secret without one of them."""
    pattern: re.Pattern[str]


def _shape(kind: str, marks: str, pattern: str) -> Shape:
    return Shape(kind, tuple(marks.split()), re.compile(_EDGE + pattern, re.ASCII))


SHAPES: tuple[Shape, ...] = (
    _shape("API key", "sk-ant-", r"sk-ant-[\w-]{12,}+"),
    _shape("API key", "sk-", r"sk-(?=[\w-]{0,40}?[A-Za-z0-9]{10})(?=[\w-]{0,60}?\d)[\w-]{18,}+"),
    _shape("API key", "gsk_ xai- pplx- r8_ nvapi- csk-",
           r"(?:(?:gsk|r8)_|(?:xai|pplx|nvapi|csk)-)[\w-]{30,}+"),
    _shape("AWS secret key", "AKIA ASIA",
           r"(?:AKIA|ASIA)[A-Z0-9]{16}[\s,:;/|\"']{1,6}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])"),
    _shape("AWS key id", "AKIA ASIA", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
    _shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}+"),
    _shape("GitHub token", "github_pat_", r"github_pat_\w{20,}+"),
    _shape("GitLab token", "glpat- gldt- glrt- glptt- glcbt- glsoat-",
           r"gl(?:pat|dt|rt|ptt|cbt|soat)-[\w.-]{16,}+"),
    _shape("Hugging Face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{24,}+"),
    _shape("Slack token", "xox xapp-", r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}+"),
    _shape("Slack webhook", "hooks.slack.com",
           r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]++"),
    _shape("webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d++/[\w-]++"),
    _shape("webhook", "webhook.office.com", r"webhook\.office\.com/[\w/@.-]++"),
    _shape("bot token", "bot", r"bot\d{8,10}:[\w-]{35}"),
    _shape("Google key", "AIza", r"AIza[\w-]{35}"),
    _shape("Google token", "ya29. GOCSPX-", r"(?:ya29\.|GOCSPX-)[\w-]{20,}+"),
    _shape("Stripe key", "_live_ _test_ whsec_",
           r"(?:(?:sk|rk|pk)_(?:live|test)|whsec)_[A-Za-z0-9]{10,}+"),
    _shape("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}+"),
    _shape("PyPI token", "pypi-", r"pypi-(?=[\w-]{0,200}?\d)[A-Za-z0-9_-]{40,}+"),
    _shape("Docker token", "dckr_pat_", r"dckr_pat_[\w-]{20,}+"),
    _shape("W&B key", "wandb_v1_", r"wandb_v1_\w{30,}+"),
    _shape("Databricks token", "dapi", r"dapi[0-9a-f]{32}"),
    _shape("Vault token", "hvs. hvb.", r"hv[sb]\.[\w-]{20,}+"),
    _shape("SendGrid key", "SG.", r"SG\.[\w-]{20,24}\.[\w-]{40,46}"),
    _shape("DigitalOcean token", "_v1_", r"do[por]_v1_[0-9a-f]{60,}+"),
    _shape("age key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}+"),
    _shape("private key", "b3BlbnNzaC1rZXktdjE",
           r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]*+(?:(?:\\n|\s){1,4}[A-Za-z0-9+/=]{40,}+)*+"),
    # One that begins within a word would be tried anew at each hyphen of a very long one.
    _shape("JWT", "eyJ", r"(?<![_-])eyJ[\w-]{6,}+\.[\w-]{4,}+(?:\.[\w-]*+){1,3}"),
)  # fmt: skip


def mask_shapes(text: str) -> str:
    """Mask every secret that its shape gives away."""
    for kind, marks, pattern in SHAPES:
        if any(mark in text for mark in marks):
            text = pattern.sub(f"[masked: {kind}]", text)
    return text
