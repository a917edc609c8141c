"""Users where the text says that they are some, and `user@host` in all its places."""

from __future__ import annotations

import re

from .common_words import COMMON, is_pseudonym
from .host_names import HERE, is_hostlike
from .pseudonyms import Pseudonyms
from .word_set import words

_NAME = r"(?P<user>[A-Za-z_][\w.-]{0,39}+)(?!\[)"
_DID = (
    r"(?:has )?(?:logged|signed|connected|disconnected|authenticated|submitted|started|stopped"
    r"|cancelled|canceled|joined|launched|exceeded)\b"
)
_SAID = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"\b(?:USER|LOGNAME|USERNAME|SUDO_USER|SLURM_JOB_USER|SLURM_USER)[\"']?[=:] ?[\"']?"
        rf"{_NAME}",
        rf"\bUserId={_NAME}(?=\()",
        rf"\b(?i:user_?name|user|login|owner)=[\"']?{_NAME}",
        rf"[\"'](?i:user_?name|user|login|owner)[\"']: ?[\"']{_NAME}(?=[\"'])",
        rf"\b(?i:username): ?{_NAME}",
        # A whole cell or line; "User: what is ..." is a conversation.
        rf"\b(?:User|Owner|Login|USER|OWNER)[ \t]{{0,20}}:[ \t]{{0,20}}{_NAME}"
        rf"(?=[ \t]{{0,8}}(?:[\r\n,;|)\]]|\Z)| {_DID})",
        rf"\b(?i:user) [\"']?{_NAME}(?=[\"']? {_DID})",
        rf"\b(?i:logged in as):? {_NAME}",
        rf"\b(?:for|by|of|as) user [\"']?{_NAME}",
        rf"(?<![\w/.~])~{_NAME}(?=/)",
        rf"%2F(?:home|Users)%2F{_NAME}",
    )
)
_AT = re.compile(
    r"(?<![\w.+%@-])(?P<user>[\w.+-]{1,64})@"
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){0,6})(?![\w@])",
    re.ASCII,
)
_NO_USERS = words(
    "none null true false user host str string default unknown and or the a an has have had is was "
    "are who just not successfully already then that which can will must should also never first "
    "last session account input process job hello hi hey yes no ok okay thanks what why how id"
)
_METRICS = words(
    "precision recall hits hit acc accuracy prec map ndcg mrr top ap ar r p f1 pass bleu em hr "
    "iou auc err error loss step epoch"
)
_NO_DOMAINS = words("py pyc json yaml yml log txt pt pth ckpt csv md sh cfg toml so git")
_SHELL = re.compile(r"(?:ssh|scp|rsync|sftp|mosh)\b[^\n]{0,60}\Z|\[\Z")
_PROMPT = re.compile(r":[~/]|[ :][^\s\]]{1,60}\][$#%]|[$#%>]")


def replace_people(text: str, names: Pseudonyms) -> str:
    """Replace users that the text names as such, and learn their names."""
    if "@" in text:
        text = _AT.sub(lambda found: _at(found, names), text)
    for pattern in _SAID:
        text = pattern.sub(lambda found: _said(found, names), text)
    return text


def _said(found: re.Match[str], names: Pseudonyms) -> str:
    name = found["user"].rstrip(".-")
    if not name or name.lower() in _NO_USERS or is_pseudonym(name):
        return found.group()
    at = found.start("user") - found.start()
    whole = found.group()
    return whole[:at] + names.user(name) + whole[at + len(name) :]


def _at(found: re.Match[str], names: Pseudonyms) -> str:
    user, host = found["user"], found["host"]
    if not _is_address(found, user, host):
        return found.group()
    called = user if user == "git" else names.user(user)
    return f"{called}@{host if HERE.fullmatch(host) else names.host(host)}"


def _is_address(found: re.Match[str], user: str, host: str) -> bool:
    if user.lower() in _METRICS or (is_pseudonym(host) and is_pseudonym(user)):
        return False
    ending = host.rpartition(".")[2].lower()
    if "." in host and not host[0].isdecimal():
        return ending.isalpha() and len(ending) > 1 and ending not in _NO_DOMAINS
    if "." in host or not host[0].isalpha():
        return host.count(".") == 3 and host.replace(".", "").isdecimal()
    text = found.string
    is_command = _SHELL.search(text[max(0, found.start() - 80) : found.start()])
    is_prompt = _PROMPT.match(text, found.end())
    if is_command or is_prompt:
        return host.lower() not in COMMON or user.lower() not in COMMON
    return len(user) > 2 and is_hostlike(host)
