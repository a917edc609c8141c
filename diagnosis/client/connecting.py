"""Failures of the line itself: no route, no name, no trust, no answer."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from .errors import ConsultError
from .sdk_client import address_of


def explain_connection(error: BaseException) -> ConsultError:
    """What is wrong with the line, by what lies under the SDK's error."""
    causes = list(chain(error))
    for cause in causes:
        if isinstance(cause, ConsultError):
            return cause  # we stopped it ourselves, below the SDK
    host = asked_host(error)
    # The HTTP library has two names over the versions of the SDK, so its errors go by theirs.
    names = {base.__name__ for cause in causes for base in type(cause).__mro__}
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return ConsultError(
            f"{host} cannot be trusted: the TLS handshake failed",
            hint="behind a proxy that inspects traffic, name its certificates: `SSL_CERT_FILE`",
            kind="tls",
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return ConsultError(
            f"The host name {_name(host)} cannot be found",
            hint="is this machine allowed to reach the internet? Check `HTTPS_PROXY` "
            "and `ANTHROPIC_BASE_URL`",
            kind="dns",
            is_temporary=True,
        )
    if "ProxyError" in names:
        return ConsultError(
            f"The proxy does not let us through to {host}",
            hint="check `HTTPS_PROXY`",
            kind="proxy",
        )
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return ConsultError(
            f"{host} refuses the connection",
            hint="check `ANTHROPIC_BASE_URL` and `HTTPS_PROXY`; many clusters have no way out",
            kind="refused_connection",
            is_temporary=True,
        )
    if names & {"TimeoutException", "APITimeoutError", "TimeoutError"}:
        return ConsultError(
            f"{host} did not answer in time",
            hint="ask again; on a machine without a way out, set `HTTPS_PROXY`",
            kind="timeout",
            is_temporary=True,
        )
    return ConsultError(
        f"The connection to {host} failed ({type(causes[-1]).__name__})",
        hint="ask again; check `HTTPS_PROXY` and `ANTHROPIC_BASE_URL`",
        kind="connection",
        is_temporary=True,
    )


def asked_host(error: BaseException) -> str:
    """The place that a failed request went to."""
    for cause in chain(error):
        # The HTTP library's errors raise where they have no request.
        with contextlib.suppress(RuntimeError):
            request = getattr(cause, "request", None)
            if request is not None and (place := address_of(request.url)):
                return place
    return "the service"


def _name(place: str) -> str:
    return urlsplit(place if "://" in place else f"//{place}").hostname or place


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and everything that led to it."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions
