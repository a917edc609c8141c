"""Text that may leave the machine: secrets masked, and on demand names, hosts and paths too."""

from __future__ import annotations

from .masker import Masker
from .secrets import mask_secrets

__all__ = ["Masker", "mask_secrets"]
