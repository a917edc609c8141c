"""For terminals without colour: what a background said is said by reverse video."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter


class MonoFilter(LineFilter):
    """Sends no colour, not even the default one; bold, dim, underline and reverse are kept."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments without colours."""
        return [
            Segment(text, None if style is None else _colourless(style), control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=1024)
def _colourless(style: Style) -> Style:
    has_background = style.bgcolor is not None and not style.bgcolor.is_default
    # Reverse within reverse is plain: so a critical word stands out on the highlighted row too.
    is_reversed = has_background != bool(style.reverse)
    return style.without_color + Style(reverse=is_reversed)
