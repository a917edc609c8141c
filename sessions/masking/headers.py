"""Secrets in HTTP headers, and in commands that take them without naming them."""

from __future__ import annotations

import re

from .marks import has_mark

_AUTHORIZATION = r"authorization\\{0,4}[\"'`]?[ \t]{0,8}[:=,][ \t]{0,8}b?\\{0,4}[\"'`]?"
_PARAMETER = (
    r"[a-z][\w-]{0,40}=(?:\\{0,4}\"[^\"\n]{0,4000}+\""
    r"|(?:\[masked:[^\]\n]{1,40}\]|[^\s,\"'`\\\[]){1,4000}+)"
)
_RULES: tuple[tuple[tuple[str, ...], str, re.Pattern[str]], ...] = tuple(
    (tuple(marks.split()), kind, re.compile(pattern, re.IGNORECASE | re.ASCII))
    for marks, kind, pattern in (
        # A scheme with parameters, such as Digest or AWS4-HMAC-SHA256: all of them are credentials.
        ("authorization", "authorization",
         rf"(?P<head>{_AUTHORIZATION}[a-z][\w-]{{1,40}}[ \t]{{1,8}})"
         rf"(?P<secret>{_PARAMETER}(?:,[ \t]{{0,8}}{_PARAMETER}){{0,20}}+)"),
        ("authorization", "authorization",
         rf"(?P<head>{_AUTHORIZATION}[a-z][\w-]{{1,40}}[ \t]{{1,8}})"
         r"(?P<secret>(?=[^\s\"'`,;\\]{0,64}?\d)[\w.~+/=:-]{12,}+)"),
        ("authorization", "authorization",
         rf"(?P<head>{_AUTHORIZATION}"
         r"(?:(?:bearer|basic|token|digest|negotiate|apikey|bot)[ \t]{1,8})?)"
         r"(?P<secret>(?!\[masked)(?!bearer\b|basic\b|token\b|none\b|null\b|str\b)"
         r"(?![\w-]{2,41}[ \t]{1,8}\[masked)(?![a-z_][a-z_.]{0,40}[})\],])"
         r"(?=[^\s\"'`,;\\]{6})[^\s\"'`,;\\]++)"),
        ("bearer", "token",
         r"(?P<head>\bbearer[ \t]{1,8})(?P<secret>(?=[\w.~+/-]{0,64}\d)[\w.~+/-]{16,}+={0,2})"),
        ("cookie", "cookie",
         r"(?P<head>(?<![\w-])(?:set-)?cookie2?\\{0,4}[\"'`]?[ \t]{0,8}:[ \t]{0,8}\\{0,4}[\"'`]?)"
         r"(?P<secret>(?!\[masked)[\w.-]{1,80}=[^\n\"'`\\]*+)"),
        ("password", "password",
         r"(?P<head>\b(?:machine[ \t]+\S{1,200}|default)\s+login\s+\S{1,200}\s+password\s+)"
         r"(?P<secret>(?!\[masked)\S++)"),
        ("pwd=", "password",
         r"(?P<head>;[ \t]?pwd=)(?P<secret>(?!\[masked)[^;\s\"'`]++)"),
        ("sshpass", "password",
         r"(?P<head>\bsshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?)(?P<secret>(?!\[masked)[^\s\"']++)"),
        ("mysql mariadb", "password",
         r"(?P<head>\b(?:mysql|mariadb)[a-z]{0,8}\b[^\n|;]{0,120}?[ \t]-p[\"']?)"
         r"(?P<secret>(?!\[masked)[^\s\"']++)"),
        ("curl wget", "password",
         r"(?P<head>\bcurl\b[^\n|;]{0,200}?[ \t](?:-u|--user|--proxy-user)[ \t=]{0,4}[\"']?"
         r"[^\s:\"']{1,80}:)(?P<secret>(?!\[masked)[^\s\"']++)"),
        ("docker podman", "password",
         r"(?P<head>\b(?:docker|podman)[ \t]login\b[^\n|;]{0,120}?[ \t]-p[ \t]{1,4}[\"']?)"
         r"(?P<secret>(?!\[masked)[^\s\"']++)"),
        ("openssl", "password",
         r"(?P<head>\bopenssl\b[^\n|;]{0,200}?"
         r"[ \t]-(?:k[ \t]{1,4}|pass(?:in|out)?[ \t]{1,4}pass:)[\"']?)"
         r"(?P<secret>(?!\[masked)[^\s\"']++)"),
        ("bundle_", "credentials",
         r"(?P<head>\bBUNDLE_\w{1,80}__\w{2,20}[\"']?[=:][ \t]{0,4}[\"']?)"
         r"(?P<secret>\w{1,64}:\w{6,128}+)"),
        ("wandb", "W&B key",
         r"(?P<head>\bwandb\b[^\n]{0,80}?\b(?:login|key)\b[^\n]{0,40}?)(?<![\w])"
         r"(?P<secret>[0-9a-f]{40})(?!\w)"),
    )
)  # fmt: skip


def mask_headers(text: str) -> str:
    """Mask what follows such a header or stands in such a command."""
    folded = text.lower()
    for marks, kind, pattern in _RULES:
        if has_mark(folded, marks):
            text = pattern.sub(rf"\g<head>[masked: {kind}]", text)
    return text
