"""The SDK's client: built here alone, so that evidence goes to the address that was agreed to.

The SDK takes its address from `ANTHROPIC_BASE_URL`, from the profile that `ANTHROPIC_PROFILE`
names or from the active profile on disk, and versions differ: it is read off the built client.
"""

from __future__ import annotations

import inspect
import re
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from .access import KEY
from .errors import ConsultError

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from ..settings import ConsultSettings

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


def build_client(settings: ConsultSettings, agreed: str) -> AsyncAnthropic:
    """A client that sends to the agreed destination and nowhere else; this imports the SDK."""
    client = _built(settings)
    found = destination_of(client)
    if found != agreed:
        raise ConsultError(
            f"Nothing was sent: it would go to {found}, but {agreed} was agreed to",
            hint="the environment or the profile of the SDK has changed; ask anew and look at it",
            kind="other_destination",
        )
    return client


def destination(settings: ConsultSettings) -> str:
    """Where a client that is built now would send everything to; this imports the SDK."""
    return destination_of(_built(settings))


def destination_of(client: AsyncAnthropic) -> str:
    """Where a client sends to: `host`, `host:port`, `http://host` if unencrypted, and any reader.

    Through TLS a proxy sees the name of the host alone; without it, everything.
    """
    parts = _split(str(client.base_url))
    if parts is None:
        raise ConsultError(
            "The address of the service is no address",
            hint="`ANTHROPIC_BASE_URL`, or `base_url` in the profile of the SDK, begins with "
            "https:// and names a host; unset it for Anthropic's own",
            kind="bad_address",
        )
    for name, value in client.default_headers.items():
        if name.lower() == "host" and isinstance(value, str):
            raise ConsultError(
                "A custom header names another host than the address does",
                hint="take `Host` out of `ANTHROPIC_CUSTOM_HEADERS`; "
                "`ANTHROPIC_BASE_URL` says where to send to",
                kind="bad_address",
            )
    proxy = _reading_proxy(parts)
    return _place(parts) + (f" through the proxy {proxy}" if proxy else "")


def address_of(url: object) -> str:
    """The place that a URL names, without anything that may be secret; empty if it names none."""
    parts = _split(str(url))
    return _place(parts) if parts is not None else ""


def _built(settings: ConsultSettings) -> AsyncAnthropic:
    from anthropic import AnthropicError, AsyncAnthropic, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(settings.silence_seconds, connect=min(10.0, settings.silence_seconds))
    options: dict[str, Any] = {}
    place = ""

    async def stay(request: Any) -> None:
        if (asked := address_of(request.url)) != place:
            raise ConsultError(
                f"Nothing was sent to {asked}, which is not where it was agreed to send to",
                hint="ask anew and look at the address",
                kind="other_destination",
            )

    if "open_telemetry" in inspect.signature(AsyncAnthropic).parameters:
        # Spans may hold the content of requests, and whoever collects them was not agreed to.
        options["open_telemetry"] = False
    try:
        client = AsyncAnthropic(
            # Never tried again by the SDK: the person is told of every wait, and the time is ours.
            max_retries=0,
            timeout=timeout,
            # The SDK's own client would carry a request over to wherever it is redirected.
            http_client=DefaultAsyncHttpxClient(
                timeout=timeout,
                follow_redirects=False,
                event_hooks={"request": [stay]},
            ),
            **options,
        )
    except AnthropicError as error:
        # A profile that is named but broken; its own words hold paths, not secrets.
        first = (str(error).splitlines() or [""])[0]
        raise ConsultError(
            f"The log-in for Claude cannot be read: {first[:300]}",
            hint=f"correct the profile, or `export {KEY}=...`",
            kind="no_key",
        ) from error
    place = address_of(client.base_url)
    return client


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if is_address else None


def _place(parts: SplitResult) -> str:
    # Whatever stands before the host may be a password.
    host = parts.hostname or ""
    is_usual = parts.port in (None, _PORTS[parts.scheme])
    place = (
        host if is_usual else f"[{host}]:{parts.port}" if ":" in host else f"{host}:{parts.port}"
    )
    is_open = parts.scheme == "http" and not _LOOPBACK.fullmatch(host)
    return f"http://{place}" if is_open else place


def _reading_proxy(parts: SplitResult) -> str:
    """The proxy that can read everything, as nothing is encrypted; empty if there is none."""
    if parts.scheme != "http":
        return ""
    # The same variables that the SDK's HTTP library reads, by the same function.
    known = getproxies()
    proxy = known.get("http") or known.get("all") or ""
    port = parts.port or _PORTS["http"]
    if not proxy or proxy_bypass(f"{parts.hostname}:{port}"):
        return ""
    return address_of(proxy if "://" in proxy else f"http://{proxy}") or "of the environment"


def main() -> None:
    """Print the destination, for a process that must not import the SDK."""
    from ..settings import ConsultSettings

    try:
        sys.stdout.write(f"{destination(ConsultSettings())}\n")
    except ConsultError as error:
        sys.exit(f"{error.sentence}\t{error.hint}")


if __name__ == "__main__":
    main()
