"""What can be wrong with a link to another machine: ssh's own words, and what to do."""

from __future__ import annotations

import errno
import re
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from ..errors import InputError

if TYPE_CHECKING:
    from .address import Host

LONGEST = 300
"""Characters of ssh's words that are shown."""


_SHORTAGES = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


class LinkKind(StrEnum):
    """What a link fails by."""

    AUTHENTICATION = "authentication"
    HOST_KEY = "host key"
    UNKNOWN_HOST = "unknown host"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    NEGOTIATION = "negotiation"
    CONFIGURATION = "configuration"
    NO_SHELL = "no shell"
    NOT_INSTALLED = "not installed"
    LOST = "lost"
    GARBLED = "garbled"
    OTHER = "other"


_MAY_PASS = frozenset(
    {
        LinkKind.UNKNOWN_HOST,  # a laptop that is offline for a while knows no host
        LinkKind.UNREACHABLE,
        LinkKind.REFUSED,
        LinkKind.TIMEOUT,
        LinkKind.LOST,
        LinkKind.GARBLED,
    }
)
_REFUSALS = frozenset({LinkKind.AUTHENTICATION, LinkKind.HOST_KEY})


class LinkError(InputError):
    """There is no link to a host."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        kind: LinkKind = LinkKind.OTHER,
        may_pass: bool | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.may_pass = kind in _MAY_PASS if may_pass is None else may_pass
        """True if trying again by itself makes sense, though no log-in has worked yet."""

    @property
    def is_refusal(self) -> bool:
        """True if the log-in itself is refused: frequent tries could get the account blocked.

        Once a log-in has worked, every other problem may pass.
        """
        return self.kind in _REFUSALS


class LinkLost(LinkError):
    """The channel ended or stalled in mid-conversation."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        kind: LinkKind = LinkKind.LOST,
        may_pass: bool | None = None,
    ) -> None:
        super().__init__(message, hint=hint, kind=kind, may_pass=may_pass)


class _Rule(NamedTuple):
    """Words of ssh that tell what is wrong."""

    words: re.Pattern[str]
    kind: LinkKind
    hint: str
    what: str = ""
    """Said in place of ssh's words, which then follow in brackets."""


def _rule(words: str, kind: LinkKind, hint: str, what: str = "") -> _Rule:
    return _Rule(re.compile(words), kind, hint, what)


_AGAIN = "open it again from the start to log in: nothing can be asked while the screen is taken"
_HUNG_UP = "it may have too many connections, or block this machine for a while: try again later"
# In this order, because the last line is often the least telling: with a jump host, or when the
# shared connection is gone, it only says that something was closed.
_RULES = (
    _rule(
        r"^Offending \S+ key in ", LinkKind.HOST_KEY,
        "ask its administrators; if they have changed it, remove that line, then `{command}`",
        "its host key has changed",
    ),
    _rule(
        r"REMOTE HOST IDENTIFICATION HAS CHANGED", LinkKind.HOST_KEY,
        "ask its administrators; `{command}` tells which line of known_hosts is meant",
        "its host key has changed",
    ),
    _rule(
        r"^No \S+ host key is known for |^Host key verification failed", LinkKind.HOST_KEY,
        "`{command}` once, compare the key with what the host's administrators say, answer yes",
        "its host key is not known here",
    ),
    _rule(
        r"^Permissions \d+ for .* are too open|bad permissions$", LinkKind.AUTHENTICATION,
        "`chmod 600` that key",
    ),
    _rule(r"Too many authentication failures", LinkKind.AUTHENTICATION,
          "name its key by `IdentityFile` and `IdentitiesOnly yes` in ~/.ssh/config"),
    _rule(r"agent refused operation", LinkKind.AUTHENTICATION,
          "`ssh-add -l` shows the keys of the agent; unlock it, or log in anew"),
    _rule(r"Permission denied \(.*\bgssapi", LinkKind.AUTHENTICATION,
          "`klist` shows whether the ticket has run out, `kinit` renews it; {otherwise}"),
    _rule(r"Permission denied \(publickey\)", LinkKind.AUTHENTICATION,
          "`ssh-add -l` shows the keys of the agent; {otherwise}"),
    _rule(r"Permission denied \(|No more authentication methods", LinkKind.AUTHENTICATION,
          "{otherwise}"),
    _rule(r"Could not resolve hostname .*: Temporary failure", LinkKind.UNKNOWN_HOST,
          "is this machine online?"),
    _rule(r"Could not resolve hostname|open failed: .*Name or service not known",
          LinkKind.UNKNOWN_HOST,
          "check its name, and `Host` in ~/.ssh/config; a local file of that name is ./NAME"),
    _rule(r"(?:connect to (?:host|address) .*|connect failed): Connection refused",
          LinkKind.REFUSED, "is the host up, and the port right?"),
    _rule(r"No route to host|Network is unreachable|Host is (?:down|unreachable)",
          LinkKind.UNREACHABLE, "is this machine online, the VPN up, a jump host needed?"),
    _rule(r"^ssh: connect to .*timed out|during banner exchange|connect failed: .*timed out",
          LinkKind.TIMEOUT, "is this machine online, the VPN up, a jump host needed?"),
    _rule(r"^Unable to negotiate with |no matching .* found", LinkKind.NEGOTIATION,
          "allow what it offers for this host alone, in ~/.ssh/config, if you trust that"),
    _rule(r"[Bb]ad configuration option|[Bb]ad owner or permissions|: line \d+:|^command-line"
          r"|ControlPath too long|unix_listener|muxserver_listen|percent_expand|^Bad \S+ '",
          LinkKind.CONFIGURATION, "`{command}` must work; see ~/.ssh/config and `mltd-tui doctor`"),
    _rule(r"Session open refused by peer|open failed: (?:administratively|resource)",
          LinkKind.REFUSED,
          "the host allows only so many sessions in one connection; leave some of them"),
    _rule(r"booting up|[Tt]oo many logins|shutting down|going down|pam_nologin",
          LinkKind.REFUSED, "try again later"),
    _rule(r"^kex_exchange_identification|^ssh_exchange_identification|^banner exchange|MaxStartups",
          LinkKind.REFUSED, _HUNG_UP),
    _rule(r"^Timeout, server|not responding", LinkKind.LOST, ""),
    _rule(r"^mux_client|^muxclient|[Cc]ontrol ?[Ss]ocket|read from master failed|master is dead",
          LinkKind.LOST, ""),
    _rule(r"Broken pipe|[Cc]onnection reset|closed by remote host", LinkKind.LOST, ""),
    _rule(r"^Connection closed by ", LinkKind.REFUSED, _HUNG_UP),
    _rule(r"timed out|Operation timed out", LinkKind.TIMEOUT, ""),
)  # fmt: skip
_BEHIND_PROXY = re.compile(r"\bUNKNOWN port 65535")
_NOISE = re.compile(
    r"^Warning: Permanently added |^Warning: No xauth|^X11 forwarding|^Pseudo-terminal will not"
    r"|^debug\d: |^Authenticated to |^Connection to \S+ closed\.$|^Shared connection to "
    r"|^(?:stty|tset): |^(?:\*\* )?(?:WARNING: connection is not using a post-quantum|This session "
    r"may be vulnerable|The server may need to be upgraded)|^[\W_]*$"
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")


def explain(
    said: bytes, host: Host, *, code: int | None = 255, is_asking: bool = False
) -> LinkError:
    """Why ssh gave up: from what it said, and its exit code, which is 255 if it was ssh itself."""
    lines = meaningful_lines(said)
    if code not in (255, None) and code >= 0:
        return no_shell(said, host)
    for rule in _RULES:
        # The last one: a first try may have failed in another way.
        for line in reversed(lines):
            if rule.words.search(line):
                if "closed" in line and any(map(_BEHIND_PROXY.search, lines)):
                    break
                return _error(host, line, rule, is_asking)
    if any(map(_BEHIND_PROXY.search, lines)):
        return LinkError(f"no link to {host.label}: the connection is gone", kind=LinkKind.LOST)
    last = lines[-1] if lines else "ssh gave no reason"
    return LinkError(_message(host, last), hint=f"see whether `{command(host)}` works")


def no_shell(said: bytes, host: Host) -> LinkError:
    """The log-in worked, but no shell could be talked to."""
    lines = meaningful_lines(said)
    words = f": {_cut(lines[-1])}" if lines else ""
    return LinkError(
        f"{host.label} lets us in, but runs no commands{words}",
        hint=f"`{command(host)} true` must print nothing and succeed",
        kind=LinkKind.NO_SHELL,
    )


def endless_greeting(host: Host) -> LinkError:
    """The log-in worked, but what the log-in shell prints does not end."""
    return LinkError(
        f"{host.label} lets us in, but prints text without end instead of running a command",
        hint=f"`{command(host)} true` must print nothing: check the shell profile there",
        kind=LinkKind.NO_SHELL,
    )


def not_installed(program: str, error: OSError) -> LinkError:
    """The ssh client itself cannot be started."""
    if isinstance(error, FileNotFoundError):
        return LinkError(
            f"there is no {_cut(program)} here to reach other machines with",
            hint="install the OpenSSH client",
            kind=LinkKind.NOT_INSTALLED,
        )
    return LinkError(
        f"{_cut(program)} cannot be started: {error.strerror or error}",
        kind=LinkKind.NOT_INSTALLED,
        may_pass=error.errno in _SHORTAGES,
    )


def too_late(host: Host, seconds: float) -> LinkError:
    """Nothing came of it for so long."""
    return LinkError(
        f"no link to {host.label}: no answer within {seconds:.0f} s",
        hint=f"see whether `{command(host)}` works",
        kind=LinkKind.TIMEOUT,
    )


def behind_proxy(host: Host) -> LinkError:
    """A jump host, or what is behind it, hung up, and nobody here was told why."""
    return LinkError(
        f"no link to {host.label}: its jump host or proxy hung up",
        hint=f"`{command(host)}` shows why",
        kind=LinkKind.UNREACHABLE,
    )


def unreadable(why: str = "") -> LinkLost:
    """The other machine answers, but not what it was asked."""
    return LinkLost(
        "the host's answer cannot be read" + (f": {_cut(why)}" if why else ""),
        hint="log in by hand, and see what its shell profile prints and whether `dd` works there",
        kind=LinkKind.GARBLED,
    )


def command(host: Host) -> str:
    """What a person types to log in there."""
    port = "" if host.port is None else f"-p {host.port} "
    return f"ssh {port}{host.user}@{host.name}" if host.user else f"ssh {port}{host.name}"


def meaningful_lines(said: bytes) -> list[str]:
    """The lines of ssh that may tell what is wrong, harmless for a terminal."""
    text = _ESCAPES.sub("", said.decode("utf-8", "replace"))
    lines = (
        "".join(c if c.isprintable() else " " for c in line).strip() for line in text.splitlines()
    )
    return [line for line in lines if line and not _NOISE.search(line)]


def _error(host: Host, line: str, rule: _Rule, is_asking: bool) -> LinkError:
    shown = command(host)
    otherwise = f"see whether `{shown}` works" if is_asking else _AGAIN
    hint = rule.hint.replace("{otherwise}", otherwise).replace("{command}", shown)
    said = f"{rule.what} ({_cut(line)})" if rule.what else line
    return LinkError(_message(host, said), hint=hint, kind=rule.kind)


def _message(host: Host, said: str) -> str:
    return f"no link to {host.label}: {_cut(said.removeprefix('ssh: '))}"


def _cut(text: str) -> str:
    text = text.rstrip(".")
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
