"""Secrets that are arguments of a call without a name: `smtp.login('bob', '...')`."""

from __future__ import annotations

import re
from typing import NamedTuple

from .marks import find_marks
from .names import Doubt, Named
from .values import is_secret

_CALL = re.compile(
    r"""
    (?<!\w)(?:\w{1,40}_)?(?:
        (?P<login>login|authenticate|simple_bind(?:_s)?|(?:HTTP)?(?:Basic|Digest|Proxy)Auth
           |basic_auth)
      | (?P<server>FTP(?:_TLS)?|(?:MySQLdb|pymysql|aiomysql|mysql\.connector|psycopg2?|asyncpg
           |pyodbc|cx_Oracle|oracledb|pymssql|snowflake\.connector|ssh|sftp|client|transport|conn
           |db|ftp|server|session)\.connect)
      | (?P<only>set_?password|(?:HTTP)?(?:Token|Bearer)Auth|Fernet|AzureKeyCredential|SecretStr
           |AccessToken)
      | (?P<pair>auth[ ]?=[ ]?)
    )\(\Z
    """,
    re.VERBOSE | re.ASCII,
)
_MARKS = (
    "login(", "authenticate(", "simple_bind(", "simple_bind_s(", "Auth(", "basic_auth(", "FTP(",
    "FTP_TLS(", ".connect(", "set_password(", "setpassword(", "Fernet(", "AzureKeyCredential(",
    "SecretStr(", "AccessToken(", "auth=(", "auth = (",
)  # fmt: skip
_LONGEST_NAME = 72
_ARGUMENT = re.compile(
    r"""\s{0,40}(?P<name>[A-Za-z_]\w{0,40}\s?=\s?)?"""
    r"""(?:[bBrRuUfF]{0,2}(?P<slashes>\\{0,4})(?P<quote>["'])"""
    r"""(?P<body>(?:(?!(?P=slashes)(?P=quote)|\n)(?:\\.|.)){0,512}+)(?P=slashes)(?P=quote)"""
    r"""|(?P<other>[\w.\[\]]{1,80}(?:\(\))?))\s{0,40}(?P<end>[,)])"""
)
_MOST_ARGUMENTS = 6
_LEAST_ALONE = 16
"""Characters of a single argument of `login`: a shorter one may be a user."""


class _Argument(NamedTuple):
    """A positional argument of a call: its text if it is a literal, and where that stands."""

    text: str | None
    start: int
    end: int


def mask_calls(text: str) -> str:
    """Mask passwords and tokens that calls get by position."""
    if "(" not in text:
        return text
    pieces: list[str] = []
    done = 0
    for _, end in find_marks(text, _MARKS):
        call = _CALL.search(text, max(done, end - _LONGEST_NAME), end)
        if call is None:
            continue
        secret = _secret_of(call, _positional(text, end))
        if secret is not None and secret.start >= done:
            kind = "token" if call.lastgroup == "only" and "assword" not in call[0] else "password"
            pieces += (text[done : secret.start], f"[masked: {kind}]")
            done = secret.end
    if not pieces:
        return text
    pieces.append(text[done:])
    return "".join(pieces)


def _positional(text: str, at: int) -> list[_Argument]:
    """The arguments without a name; numbers, such as a port, are left out."""
    arguments: list[_Argument] = []
    for _ in range(_MOST_ARGUMENTS):
        found = _ARGUMENT.match(text, at)
        if found is None:
            break
        if not found["name"] and not (found["other"] or "").isdecimal():
            arguments.append(_Argument(found["body"], found.start("body"), found.end("body")))
        at = found.end()
        if found["end"] == ")":
            break
    return arguments


def _secret_of(call: re.Match[str], arguments: list[_Argument]) -> _Argument | None:
    """The argument that is the secret, if it is a literal."""
    if call.lastgroup == "only":
        return _literal(arguments[-1:], Doubt.NONE)
    if call.lastgroup == "server":
        return _literal(arguments[2:3], Doubt.SOME)
    if len(arguments) == 1 and call.lastgroup == "login":
        alone = arguments[0].text or ""
        return _literal(arguments, Doubt.MUCH) if len(alone) >= _LEAST_ALONE else None
    return _literal(arguments[1:2], Doubt.NONE)


def _literal(arguments: list[_Argument], doubt: Doubt) -> _Argument | None:
    if not arguments or arguments[0].text is None:
        return None
    named = Named("password", doubt)
    return arguments[0] if is_secret(arguments[0].text, named, is_quoted=True) else None
