"""Themes and stylesheets: where they are, and how they get into the app."""

from __future__ import annotations

from pathlib import Path

import mltd.themes

THEMES = Path(mltd.themes.__file__).parent


def stylesheets() -> list[Path]:
    """The stylesheets of all parts of the screen."""
    return sorted(THEMES.glob("*.tcss"))
