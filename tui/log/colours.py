"""Colours that a program put into its log, in the colours of the theme."""

from __future__ import annotations

from rich.style import Style

from .styles import Styles

_MEANINGS = (
    "quiet",  # black: what was hardly to be seen on a dark screen
    "severity-critical",
    "severity-fine",
    "severity-warning",
    "severity-info",
    "chart-4",
    "log-metric",
    "log-text",
)


class Pen:
    """Keeps what select-graphics sequences have set so far in a line."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._colour: int | None = None
        self._bold = self._dim = self._italic = self._underline = False

    def apply(self, numbers: str) -> Style | None:
        """Take one sequence (`1;31`), and give the style from there on; None if it is plain."""
        # A sequence of thousands of numbers, or of one with thousands of digits, is no colour.
        fields = numbers[:64].replace(":", ";").split(";")
        codes = [int(code) if code else 0 for code in fields]
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                chosen = _indirect(codes)
                self._colour = chosen if code == 38 else self._colour
            else:
                self._set(code)
        return self._style()

    def _set(self, code: int) -> None:
        if code == 0:
            self._colour = None
            self._bold = self._dim = self._italic = self._underline = False
        elif code in (1, 2, 22):
            self._bold, self._dim = code == 1, code == 2
        elif code in (3, 23):
            self._italic = code == 3
        elif code in (4, 24):
            self._underline = code == 4
        elif 30 <= code <= 37 or 90 <= code <= 97:
            self._colour = code % 10
        elif code == 39:
            self._colour = None

    def _style(self) -> Style | None:
        style = Style.null()
        if self._colour is not None:
            style += self._styles(_MEANINGS[self._colour])
        if self._bold or self._italic or self._underline:
            style += Style(
                bold=self._bold or None,
                italic=self._italic or None,
                underline=self._underline or None,
            )
        if self._dim and self._colour is None:
            style += self._styles("quiet")
        return style or None


def _indirect(codes: list[int]) -> int | None:
    """The basic colour nearest to one of 256, or to red, green and blue; takes its numbers."""
    if codes[:1] == [5] and len(codes) > 1:
        number = codes[1]
        del codes[:2]
        if number < 16:
            return number % 8
        if number >= 232:
            return 0 if number < 244 else 7
        cube = number - 16
        return _nearest(*(level * 51 for level in (cube // 36 % 6, cube // 6 % 6, cube % 6)))
    if codes[:1] == [2] and len(codes) > 3:
        colour = _nearest(*codes[1:4])
        del codes[:4]
        return colour
    codes.clear()
    return None


def _nearest(red: int, green: int, blue: int) -> int:
    strongest = max(red, green, blue)
    if strongest < 64:
        return 0
    return sum(bit for bit, level in ((1, red), (2, green), (4, blue)) if level > strongest * 0.6)
