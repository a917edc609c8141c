"""Secrets in files of credentials, where only the whole tells what a value is."""

from __future__ import annotations

import re

from .values import looks_random

_QUOTE = r"\\{0,4}[\"']?"
_USER_AND_KEY = re.compile(
    rf"(?P<head>\b(?:username|user){_QUOTE}\s{{0,4}}[:=]\s{{0,4}}{_QUOTE}[\w.@+-]{{1,64}}+{_QUOTE},?"
    rf"\s{{0,40}}{_QUOTE}key{_QUOTE}\s{{0,4}}[:=]\s{{0,4}}{_QUOTE})(?P<secret>[\w+/=-]{{20,}}+)"
)
_KEY_AND_USER = re.compile(
    rf"(?P<head>\bkey{_QUOTE}\s{{0,4}}[:=]\s{{0,4}}{_QUOTE})(?P<secret>[\w+/=-]{{20,200}}+)"
    rf"(?={_QUOTE},?\s{{0,40}}{_QUOTE}(?:username|user){_QUOTE}\s{{0,4}}[:=])"
)
"""`{"username": "joe", "key": "..."}`, as Kaggle writes it: `key` alone says nothing."""
_JSON_WEB_KEY = re.compile(
    r"(?P<head>[\"'](?:d|p|q|dp|dq|qi|k)\\{0,4}[\"']\s{0,4}:\s{0,4}\\{0,4}[\"'])"
    r"(?P<secret>[\w-]{16,}+)"
)
_PGPASS = re.compile(
    r"(?P<head>^(?:[\w.*-]{1,100}):(?:543\d|6432|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:)"
    r"(?P<secret>[^\s:]{4,128}+)(?=[ \t\r]*$)",
    re.MULTILINE,
)
_SECRET_KIND = re.compile(r"\bkind\\{0,4}[\"']?:\s{0,4}\\{0,4}[\"']?Secret\b")
_DATA_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)(?:data|stringData):[ \t]*\r?\n"
    r"(?:(?P=indent)[ \t]+[^\n]*(?:\n|\Z))+",
    re.MULTILINE,
)
_DATA_OBJECT = re.compile(r"[\"'](?:data|stringData)\\{0,4}[\"']\s{0,4}:\s{0,4}\{[^{}]{0,20000}\}")
_ENTRY = re.compile(
    r"(?P<head>(?<![\w.\[-])[\w.-]{1,100}\\{0,4}[\"']?:[ \t]{0,4}\\{0,4}[\"']?)"
    r"(?P<secret>(?!\[masked)[^\s\"'{},\\]{4,}+)"
)
_DOCUMENT = re.compile(r"(?m)^(?=---[ \t]*\r?$)")


def mask_documents(text: str) -> str:
    """Mask keys of Kaggle, JSON Web Keys, Kubernetes secrets and .pgpass files."""
    if "user" in text and "key" in text:
        text = _USER_AND_KEY.sub(_masked_key, text)
        text = _KEY_AND_USER.sub(_masked_key, text)
    if '"kty' in text or "'kty" in text:
        text = _JSON_WEB_KEY.sub(r"\g<head>[masked: private key]", text)
    if ":543" in text or ":6432:" in text or ":*:" in text:
        text = _PGPASS.sub(r"\g<head>[masked: password]", text)
    if "Secret" in text and _SECRET_KIND.search(text):
        text = "".join(map(_masked_kubernetes, _DOCUMENT.split(text)))
    return text


def _masked_key(found: re.Match[str]) -> str:
    return f"{found['head']}[masked: API key]" if looks_random(found["secret"]) else found.group()


def _masked_kubernetes(document: str) -> str:
    if not _SECRET_KIND.search(document):
        return document
    document = _DATA_BLOCK.sub(_masked_entries, document)
    return _DATA_OBJECT.sub(_masked_entries, document)


def _masked_entries(block: re.Match[str]) -> str:
    return _ENTRY.sub(r"\g<head>[masked: secret]", block.group())
