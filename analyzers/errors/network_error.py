"""network_error: a service cannot be reached.

What it sees: failed downloads, unreachable hosts, proxies and certificates that are refused,
    and W&B that retries.
Why it matters: compute nodes often have no way out; a retry in the background is harmless, a
    failed download ends the program.
Fires on:
    log: OSError: We couldn't connect to 'https://huggingface.co' to load this file
    log: wandb: Network error (ReadTimeout), entering retry loop.
Stays quiet:
    log: Downloading: 100% | step 1 loss 2.5
Try next: download on a login node and work offline; set the proxy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.finding import Finding
from ..core.registry import analyzer
from ..core.view import RunView
from .told import report


@analyzer
@dataclass(frozen=True, slots=True)
class NetworkError:
    """Services out of reach, by message."""

    id: ClassVar[str] = "network_error"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("exception", "error", "warning")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Look at what the run said."""
        yield from report(view, self.id)
