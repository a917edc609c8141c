"""Every failure that the SDK can raise, as a sentence with what to do."""

from __future__ import annotations

import re
from typing import Any

from .access import KEY
from .connecting import asked_host, explain_connection
from .errors import ConsultError
from .sdk_client import address_of
from .waiting import wait_asked_for

_TOO_LONG = re.compile(r"too long|context (limit|window)|too many (input )?tokens|too large", re.I)
_FILTERED = re.compile(r"content filter|usage polic", re.I)
_BILLING = re.compile(r"credit balance|billing|spend limit", re.I)
_SECRET = re.compile(r"sk-ant-[\w-]+|(?<=Bearer )\S+")
_WRITTEN = " JSON: "
"""Behind this the SDK puts what it could not read of a call."""
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.I | re.S)


def explain(error: BaseException, model: str) -> ConsultError:
    """One sentence for whatever went wrong between us and the service."""
    if isinstance(error, ConsultError):
        return error
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _explain_status(error, status, model)
    if isinstance(error, TypeError) and "authentication" in str(error):
        return ConsultError("There is no key for Claude", hint=f"`export {KEY}=...`", kind="no_key")
    if isinstance(error, ValueError):
        return _unreadable(error)
    return explain_connection(error)


def malformed(what: str, unusable: str = "") -> ConsultError:
    """The model's answer has a form that nobody can use; `unusable` is that answer."""
    return ConsultError(
        f"Claude's answer {what}",
        hint="ask again; what it said is kept",
        kind="malformed",
        unusable=unusable,
    )


def fault_of(error: Exception) -> str:
    """What is wrong with an answer, in words for a person and not for the model."""
    told = getattr(error, "problem", "") or getattr(error, "message", "") or str(error)
    return _one_line(str(told))


def _unreadable(error: ValueError) -> ConsultError:
    # The SDK's own words hold advice for programmers, and all that the model has written.
    if isinstance(error, UnicodeDecodeError):
        return malformed("could not be read: it holds bytes that are no text")
    written = str(error).partition(_WRITTEN)[2]
    return malformed("could not be read: a part of it is not valid JSON", written)


def is_about(error: BaseException, *words: str) -> bool:
    """Whether the service rejects a part of our request that goes by one of these words."""
    told = said(error).lower()
    return getattr(error, "status_code", None) == 400 and any(word in told for word in words)


def said(error: BaseException) -> str:
    """The service's own words, on one line, without anything like a key."""
    body = getattr(error, "body", None)
    if isinstance(body, str):
        title = _TITLE.search(body)
        return _one_line(title.group(1) if title else "" if "<" in body else body)
    return _one_line(str(_deep(body, "error", "message") or ""))


def _explain_status(error: BaseException, status: int, model: str) -> ConsultError:
    host = asked_host(error)
    if 300 <= status < 400:
        return _redirected(error, status, host)
    words = said(error)
    quoted = f": {words}" if words else ""
    body = getattr(error, "body", None)
    named = str(_deep(body, "error", "type") or "")
    wait = wait_asked_for(getattr(getattr(error, "response", None), "headers", None))
    if not named and status not in (401, 413, 429):
        return _from_between(status, host, quoted, wait)
    match (named, status):
        case ("authentication_error", _) | (_, 401):
            return ConsultError(
                f"{host} does not accept the key (401){quoted}",
                hint=f"check `{KEY}`; `mltd-tui doctor` says whether it looks like one",
                kind="unauthorized",
            )
        case ("billing_error", _) | (_, 402):
            return _billing(quoted)
        case ("permission_error", _) | (_, 403):
            return ConsultError(
                f"This key may not do that (403){quoted}",
                hint="ask whoever owns the key, or use a model that it may use: `--model NAME`",
                kind="forbidden",
            )
        case ("not_found_error", _) | (_, 404):
            return ConsultError(
                f"{host} does not know the model {model} (404)",
                hint="name another: `--model NAME`, `MLTD_MODEL` or `claude.model`; "
                "a newer SDK knows newer ones: `pip install -U anthropic`",
                kind="unknown_model",
            )
        case ("request_too_large", _) | (_, 413):
            return _too_long(quoted)
        case ("rate_limit_error", _) | (_, 429):
            if _BILLING.search(words):
                return _billing(quoted)
            return ConsultError(
                f"{host} asks to slow down (429){quoted}",
                hint="wait a little and ask again",
                kind="rate_limited",
                is_temporary=True,
                retry_after=wait,
            )
        case ("overloaded_error", _) | (_, 529):
            return ConsultError(
                f"{host} is overloaded at the moment (529)",
                hint="wait a little and ask again",
                kind="overloaded",
                is_temporary=True,
                retry_after=wait,
            )
        case ("timeout_error", _) | (_, 408 | 504):
            return ConsultError(
                f"{host} took too long to answer ({status})",
                hint="ask again",
                kind="timeout",
                is_temporary=True,
                retry_after=wait,
            )
        case ("api_error", _) | (_, 409):
            return _server(status, host, wait)
    if status >= 500:
        return _server(status, host, wait)
    if _TOO_LONG.search(words):
        return _too_long(quoted)
    if _BILLING.search(words):
        return _billing(quoted)
    if _FILTERED.search(words):
        return ConsultError(
            f"The service's content filter blocked the answer{quoted}",
            hint="ask in other words, or leave out the log excerpt that may have caused it",
            kind="filtered",
        )
    return ConsultError(
        f"{host} did not accept the question ({status}){quoted}",
        hint="try another model: `--model NAME`",
        kind="invalid",
    )


def _redirected(error: BaseException, status: int, host: str) -> ConsultError:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    elsewhere = address_of(headers.get("location", ""))
    to = f" to {elsewhere}" if elsewhere and elsewhere != host else ""
    return ConsultError(
        f"{host} redirects the question{to} ({status}), where nothing was sent",
        hint="if that is right, name the new address in `ANTHROPIC_BASE_URL` and ask anew",
        kind="other_destination",
    )


def _from_between(status: int, host: str, quoted: str, wait: float | None) -> ConsultError:
    # The service always answers in JSON that names the error; this came from something else.
    is_temporary = status >= 500
    if status == 404:
        return ConsultError(
            f"There is no Messages API at {host} (404){quoted}",
            hint="check `ANTHROPIC_BASE_URL`",
            kind="no_service",
        )
    return ConsultError(
        f"Something between here and Claude answered instead of {host} ({status}){quoted}",
        hint="check the proxy (`HTTPS_PROXY`) and `ANTHROPIC_BASE_URL`"
        + (", or ask again" if is_temporary else ""),
        kind="proxy",
        is_temporary=is_temporary,
        retry_after=wait,
    )


def _server(status: int, host: str, wait: float | None) -> ConsultError:
    return ConsultError(
        f"{host} has a problem of its own ({status if status >= 400 else 'in mid-answer'})",
        hint="wait a little and ask again; status.anthropic.com tells more",
        kind="server",
        is_temporary=True,
        retry_after=wait,
    )


def _billing(quoted: str) -> ConsultError:
    return ConsultError(
        f"The account behind the key cannot pay for this{quoted}",
        hint="look at the plan and the limits at console.anthropic.com",
        kind="billing",
    )


def _too_long(quoted: str) -> ConsultError:
    return ConsultError(
        f"What was sent is too long for the model{quoted}",
        hint="send less: a smaller `claude.pack_tokens`, or begin anew instead of asking on",
        kind="too_long",
    )


def _one_line(text: str) -> str:
    shown = "".join(c if c.isprintable() else " " for c in _SECRET.sub("[key]", text[:2000]))
    return " ".join(shown.split())[:300]


def _deep(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
