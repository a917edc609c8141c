"""Whether a consultation could begin: the SDK is there, and some way to log in."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .errors import ConsultError

if TYPE_CHECKING:
    from ..settings import ConsultSettings

INSTALL = "pip install 'mltd-tui[claude]'"
KEY = "ANTHROPIC_API_KEY"
TOKEN = "ANTHROPIC_AUTH_TOKEN"
_FEDERATION = ("ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_ORGANIZATION_ID")
_IDENTITY = ("ANTHROPIC_IDENTITY_TOKEN_FILE", "ANTHROPIC_IDENTITY_TOKEN")


def is_installed() -> bool:
    """Whether the SDK is there; looking for it does not import it."""
    return importlib.util.find_spec("anthropic") is not None


def way_to_log_in(environment: Mapping[str, str] | None = None) -> str:
    """Which way of the SDK would be used, by name and never by value; empty if there is none."""
    known = os.environ if environment is None else environment
    for name in (KEY, TOKEN):
        if known.get(name, "").strip():
            return name
    headers = known.get("ANTHROPIC_CUSTOM_HEADERS", "").lower().splitlines()
    if any(line.partition(":")[0].strip() in ("authorization", "x-api-key") for line in headers):
        return "ANTHROPIC_CUSTOM_HEADERS"
    if profile := known.get("ANTHROPIC_PROFILE"):
        return f"the profile {profile}"
    if all(known.get(name) for name in _FEDERATION) and any(known.get(name) for name in _IDENTITY):
        return "workload identity"
    return "the active profile" if _has_profile(known) else ""


def obstacle(
    settings: ConsultSettings, environment: Mapping[str, str] | None = None
) -> ConsultError | None:
    """What stands in the way of a consultation; None if it could begin."""
    known = os.environ if environment is None else environment
    if not settings.is_enabled:
        return ConsultError(
            "Consulting Claude is switched off here",
            hint="see `--no-claude` and `claude.enabled` in the configuration file",
            kind="disabled",
        )
    if not is_installed():
        return ConsultError(
            "The package anthropic is not installed", hint=f"`{INSTALL}`", kind="not_installed"
        )
    if not _is_address(known.get("ANTHROPIC_BASE_URL", "").strip()):
        return ConsultError(
            "ANTHROPIC_BASE_URL is no address of a service",
            hint="it begins with https:// and names a host; unset it for Anthropic's own",
            kind="bad_address",
        )
    way = way_to_log_in(known)
    if not way:
        return ConsultError(
            "There is no key for Claude",
            hint=f"`export {KEY}=...` with a key from console.anthropic.com",
            kind="no_key",
        )
    if way in (KEY, TOKEN) and not _can_be_sent(known[way]):
        return ConsultError(
            f"{way} has white space, quotes or characters that no key has",
            hint=f"copy it anew: `export {way}=...`",
            kind="bad_key",
        )
    return None


def _has_profile(known: Mapping[str, str]) -> bool:
    home = known.get("HOME") or os.path.expanduser("~")
    folder = Path(known.get("ANTHROPIC_CONFIG_DIR") or Path(home, ".config", "anthropic"))
    try:
        name = (folder / "active_config").read_text(encoding="utf-8").strip() or "default"
    except (OSError, UnicodeDecodeError):
        name = "default"
    return "/" not in name and (folder / "configs" / f"{name}.json").is_file()


def _is_address(address: str) -> bool:
    if not address:
        return True
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _can_be_sent(secret: str) -> bool:
    # White space would end the header, and quotes come from a shell that did not remove them.
    return secret.isascii() and secret.isprintable() and not set(secret) & set(" \"'")
