"""Styles by meaning: every colour comes from the theme, by the name of what it says.

A theme gives each meaning a colour (`severity-critical`) and, where colour alone would not do,
words of a text style (`severity-critical-style = "bold reverse"`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.style import Style
from textual.color import Color

if TYPE_CHECKING:
    from textual.app import App

DEFAULTS: dict[str, str] = {
    "severity-critical": "#ff5f5f",
    "severity-warning": "#ffaf00",
    "severity-info": "#5fafff",
    "severity-fine": "#5fd787",
    "severity-unknown": "#8a8a8a",
    "chart-1": "#5fafff",
    "chart-2": "#ffaf5f",
    "chart-3": "#5fd787",
    "chart-4": "#d787ff",
    "chart-5": "#ff87af",
    "chart-6": "#d7d75f",
    "chart-faint": "#4e5a66",
    "chart-axis": "#8a8a8a",
    "chart-cursor": "#ffffff",
    "heat-low": "#20304a",
    "heat-middle": "#3f8f7f",
    "heat-high": "#ffd75f",
    "heat-bad": "#ff5f5f",
    "log-text": "#d0d0d0",
    "log-number": "#6c6c6c",
    "log-error": "#ff5f5f",
    "log-warning": "#ffaf00",
    "log-nan": "#ff5fd7",
    "log-metric": "#87d7ff",
    "log-control": "#8a8a8a",
    "log-match": "#ffd75f",
    "log-mark": "#5fd787",
    "confidence": "#5fafff",
    "confidence-ceiling": "#8a8a8a",
    "stale": "#ffaf00",
    "quiet": "#8a8a8a",
    "struck": "#8a8a8a",
    "heading": "#ffffff",
    "key": "#ffaf5f",
}
"""Every meaning there is, with the colours of a dark theme."""


def style(app: App[Any], meaning: str) -> Style:
    """The style for a meaning in the current theme."""
    variables = app.theme_variables
    return _style(
        variables.get(meaning) or DEFAULTS[meaning], variables.get(f"{meaning}-style", "")
    )


@lru_cache(maxsize=512)
def _style(colour: str, words: str) -> Style:
    # No colour at all, rather than "the default colour", which costs bytes for every segment.
    is_plain = colour in ("", "default", "ansi_default")
    rich_colour = None if is_plain else Color.parse(colour).rich_color
    return Style.parse(words or "none") + Style(color=rich_colour)
