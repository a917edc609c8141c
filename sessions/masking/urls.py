"""Secrets in URLs: passwords before the host, signatures and tokens in the query."""

from __future__ import annotations

import re

from .names import announced
from .values import is_secret, looks_random
from .word_set import words

_USER_INFO = re.compile(
    r"(?P<head>://(?P<user>[^\s/?#@:'\"<>\[\]]{0,128}):)(?P<secret>[^\s/?#'\"<>\[\]]{1,512})(?=@)"
)
_TOKEN_AS_USER = re.compile(r"(?<=://)[A-Za-z0-9_.-]{16,512}(?=@)")
_ENCODED_USER_INFO = re.compile(
    r"(?P<head>%3A%2F%2F[\w.+-]{0,128}%3A)(?P<secret>(?:(?!%40|%2F)[^\s&'\"<>]){1,512})(?=%40)",
    re.IGNORECASE,
)
_PARAMETER = re.compile(
    r"(?P<head>(?:[?&]|&amp;|\\u0026|%26|%3F)(?P<name>[\w.-]{1,64})(?P<sep>=|%3D))"
    r"(?P<secret>(?:(?!%26)[^\s&\"'`<>#\\\[\]])++)",
    re.IGNORECASE,
)
_SIGNED = words(
    "sig signature x-amz-signature x-amz-credential x-amz-security-token x-goog-signature "
    "x-goog-credential awsaccesskeyid googleaccessid key-pair-id policy hmac se-sig token auth "
    "access_token id_token refresh_token authkey"
)
_OFTEN_SECRET = frozenset({"key", "code", "st", "ticket", "session", "sid", "state", "jwt"})


def mask_urls(text: str) -> str:
    """Mask what gives access in a URL; the rest of it stays readable."""
    if "://" in text:
        text = _USER_INFO.sub(_masked_password, text)
        text = _TOKEN_AS_USER.sub(_masked_user, text)
    if "%2" in text or "%3" in text:
        text = _ENCODED_USER_INFO.sub(_masked_password, text)
    if "=" in text or "%3" in text:
        text = _PARAMETER.sub(_masked_parameter, text)
    return text


def _masked_password(found: re.Match[str]) -> str:
    return f"{found['head']}[masked: password]"


def _masked_user(found: re.Match[str]) -> str:
    return "[masked: token]" if looks_random(found.group()) else found.group()


def _masked_parameter(found: re.Match[str]) -> str:
    name, value = found["name"], found["secret"]
    named = announced(name)
    if name.lower() in _SIGNED:
        kind = "token" if "token" in name.lower() else "signature"
    elif name.lower() in _OFTEN_SECRET and looks_random(value):
        kind = "token"
    elif named is not None and is_secret(value, named, is_quoted=True):
        kind = named.kind
    else:
        return found.group()
    return f"{found['head']}[masked: {kind}]"
