"""Secrets that a name before them announces, in shell, YAML, JSON, Python, INI or prose."""

from __future__ import annotations

import re

from .names import Doubt, Named, announced
from .values import is_secret

_GATE = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|cookie|bearer|string|conn|certificate", re.IGNORECASE
)
_HIT = re.compile(
    r"""
    (?:pass(?:w(?:or)?[dt]|phrase|code)?|pwd?|secret|token|key|cred(?:ential|s)|auth|cookie|bearer
     |(?:connection|conn)[ _.-]?str|certificate[_-]?data)
    (?:\w|[.-](?=\w)){0,40}+                         # the rest of the name
    (?P<quote>\\{0,4}["'`]\]?)?                      # the name may be quoted
    (?P<sep>
        :[ \t]{0,8}(?:Optional\[)?(?:str|bytes|String|string|SecretStr)\]?
            (?:[ \t]\|[ \t]None)?[ \t]{0,8}=[ \t]{0,8}
      | [ \t]{0,40}(?:=>|->|:=|==?|:(?!:)|：)[ \t]{0,40}
      | %3[DdAa](?:%20|\+)?
      | [ \t]?\.{3,}+[ \t]?
      | [ \t]{0,60}[|│┃][ \t]{0,8}
      | ,[ \t]{0,4}(?=\\{0,4}["'`])
      | [ \t]{1,8}(?:(?:is|was)[ \t]?:?[ \t])?
    )
    """,
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_QUOTED = re.compile(
    r"""(?P<open>[bBrRuUfF]{0,2}(?P<slashes>\\{0,4})(?P<q>["'`]))"""
    r"""(?P<body>(?:(?!(?P=slashes)(?P=q)|\n)(?:\\.|.))*+)"""
)
_NEXT_NAME = r"""(?=[\s"'`)\]}>|\\]|$|[\w.-]{1,40}["'`]?\s?[=:])"""
"""After a comma or the like: what follows is not the value any more."""
_UNQUOTED = re.compile(
    r"""(?:\[masked:[ ][^\[\]\n]{1,40}\]|\$\{[^{}\s]{0,60}\}|<[^<>\s]{0,40}>"""
    rf"""|[^\s"'`,;&)\]}}>|│┃]|[,;&](?!{_NEXT_NAME})|["'`)\]}}>](?=\w))++"""
)
_URL_ENCODED = re.compile(r"(?:(?!%26|%3B|%2C|%20|%22|%27)[^\s&\"'`<>])++", re.IGNORECASE)
_REST_OF_LINE = re.compile(r"[^\n\"'`]*+")
_NAME_AND_VALUE = re.compile(
    r"""(?P<head>\b(?:name|key)["']?\s{0,4}[:=]\s{0,4}["']?(?P<name>[A-Za-z][\w.-]{2,63})["']?,?"""
    r"""\s{1,40}["']?value["']?\s{0,4}[:=]\s{0,4}["']?)(?P<value>[^\s"',}]++)"""
)
"""`name: API_KEY`, and below it `value: ...`, as containers are given their environment."""
_LONGEST_NAME = 60
_LONGEST_GLANCE = 512
_WORD_BEFORE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{2,20}[ ]\Z")
_BEGINS_LINE = re.compile(r"(?:^|\n)[ \t]*(?:-[ \t]+)?\Z")
_OWNER = re.compile(r"\b(?:my|our|his|her|their)[ ](?:\w{1,20}[ ])?\Z", re.IGNORECASE)
_STATE = re.compile(
    r"(?:unknown|stored|saved|hashed|encrypted|correct|valid|safe|strong|weak|long|short|still|also"
    r"|now|being|same|different|right|ok|never|always|accepted|rejected|changed|empty)\b",
    re.IGNORECASE,
)
"""What may be said about a password without telling it."""
_SETTERS = re.compile(r"(?:\bsetenv|\bENV|\bset)[ \t]+\Z")


def mask_assignments(text: str) -> str:
    """Mask the value after each name that announces a secret."""
    if not _GATE.search(text):
        return text
    if "value" in text:
        text = _NAME_AND_VALUE.sub(_masked_value, text)
    pieces: list[str] = []
    done = 0
    at = 0
    while hit := _HIT.search(text, at):
        at = hit.end()
        span = _value_after(text, hit, done)
        if span is None:
            # The name may be the value of another one; no hit begins twice in the same place.
            at = max(hit.start() + 1, hit.start("sep"))
            continue
        start, end, kind = span
        pieces += (text[done:start], f"[masked: {kind}]")
        done = at = end
    pieces.append(text[done:])
    return "".join(pieces)


def _masked_value(found: re.Match[str]) -> str:
    named = announced(found["name"])
    if named is None or not is_secret(found["value"], named, is_quoted=True):
        return found.group()
    return f"{found['head']}[masked: {named.kind}]"


def _value_after(text: str, hit: re.Match[str], since: int) -> tuple[int, int, str] | None:
    """Where the secret after a hit begins and ends, and its kind; None if it is none."""
    start = _start_of_name(text, hit.start(), since)
    name = text[start : hit.end("sep") - len(hit["sep"])].rstrip("\\\"'`]")
    sep = hit["sep"]
    before = text[max(0, start - 24) : start]
    is_flag = name.startswith("-") or before.endswith("-")
    named = announced(name.lstrip("-"))
    if named is None:
        named = _prose_named(name, before)
    if named is None:
        return None
    is_pair = before.rstrip("\\\"'`").endswith("(")
    if sep.startswith(",") and not (is_flag or is_pair):
        return None
    if not sep.strip() or sep.strip().lower() in ("is", "was"):
        if hit["quote"] and not is_flag:
            return None
        is_set = is_flag or _SETTERS.search(before) is not None
        if not is_set:
            if sep.strip() and _STATE.match(text, hit.end()):
                return None
            named = Named(named.kind, _doubt_in_prose(named, before, is_told=bool(sep.strip())))
    return _value_at(text, hit.end(), named, sep, is_line=_BEGINS_LINE.search(before) is not None)


def _doubt_in_prose(named: Named, before: str, *, is_told: bool) -> Doubt:
    """`my password is ...` tells one; `the password is wrong` does not."""
    if not is_told or named.kind != "password":
        return Doubt.MOST
    return Doubt.NONE if _OWNER.search(before) else Doubt.MUCH


def _prose_named(name: str, before: str) -> Named | None:
    """Two words that only together announce a secret: `API key`, `client secret`."""
    word = _WORD_BEFORE.search(before)
    return announced(f"{word.group()}{name}") if word else None


def _start_of_name(text: str, start: int, since: int) -> int:
    least = max(since, start - _LONGEST_NAME)
    while start > least and (text[start - 1].isalnum() or text[start - 1] in "_-."):
        start -= 1
    return start


def _value_at(
    text: str, at: int, named: Named, sep: str, *, is_line: bool
) -> tuple[int, int, str] | None:
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        if not is_secret(quoted["body"], named, is_quoted=True):
            return None
        return quoted.start("body"), quoted.end("body"), named.kind
    if sep.startswith("%"):
        pattern = _URL_ENCODED
    elif named.kind == "connection string":
        pattern = _REST_OF_LINE
    else:
        pattern = _UNQUOTED
    # What is looked at is bounded: names may follow each other without end, each the other's value.
    glance = pattern.match(text, at, at + _LONGEST_GLANCE)
    if glance is None or not is_secret(_trimmed(glance.group(), named), named, is_quoted=False):
        return None
    found = pattern.match(text, at) or glance
    value = _trimmed(found.group(), named)
    end = at + len(value)
    if text[end : end + 1] in (",", ")", "}", "]") and value.isidentifier() and announced(value):
        return None  # Code that hands a variable on: connect(password=db_password).
    if is_line and named.kind == "password" and sep.strip() in (":", "="):
        # A pass phrase without quotes, as YAML and INI allow it.
        line = _REST_OF_LINE.match(text, at)
        rest = line.group().partition(" #")[0].rstrip() if line else ""
        end = max(end, at + len(rest))
    return at, end, named.kind


def _trimmed(value: str, named: Named) -> str:
    """Without the full stop of a sentence; a password may well end with one."""
    return value if named.kind == "password" else value.rstrip(".")
