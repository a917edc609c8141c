"""How a meaning looks, as the painting of lines asks for it."""

from __future__ import annotations

from collections.abc import Callable

from rich.style import Style

Styles = Callable[[str], Style]
"""From a meaning (`log-error`) to its style in the current theme."""
