"""Charts in a report: pictures beside it, text plots in fences, the main ones as both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from .chart import Chart
from .curves import slug
from .markdown import escaped
from .pen import Pen
from .svg import svg
from .text_plot import text_plot

_KINDS = {"train/loss": "loss", "val/loss": "loss", "grad_norm": "gradients"}
"""Roles of the charts that count most: one of each kind is shown in both ways."""


class Gallery:
    """Draws charts and keeps the pictures, each under a name of its own."""

    def __init__(self, pen: Pen, folder: str = "", *, is_inside: bool = False) -> None:
        self._pen = pen
        self._folder = folder
        self._is_inside = is_inside
        """The Markdown itself is in the folder, beside the few pictures that a program asks for."""
        self._kinds: set[str] = set()
        self.pictures: dict[str, str] = {}
        self.by_role: dict[str, str] = {}
        """The first picture of each role."""

    def show(self, chart: Chart) -> Iterator[str]:
        """The blocks that show a chart."""
        drawn = self._cleaned(chart)
        yield f"**{escaped(drawn.title)}**"
        is_main = self._is_main(chart)
        is_picture = bool(self._folder) and (is_main or not self._is_inside)
        if is_picture:
            name = self._free_name(drawn.name)
            self.pictures[name] = svg(drawn)
            self.by_role.setdefault(chart.role, name)
            link = name.rpartition("/")[2] if self._is_inside else name
            yield f"![{escaped(drawn.description)}]({quote(os.fsencode(link))})"
        if is_main or not is_picture:
            yield self._pen.fenced(text_plot(drawn))

    def _is_main(self, chart: Chart) -> bool:
        """True for the first chart of the loss, and for the first of the gradients."""
        kind = _KINDS.get(chart.role, "")
        is_main = bool(kind) and kind not in self._kinds
        self._kinds.add(kind)
        return is_main

    def _cleaned(self, chart: Chart) -> Chart:
        """The chart with all names as they may be shown."""
        pen = self._pen
        return replace(
            chart,
            name=slug(chart.name),
            title=pen.plain(chart.title, 80) or "unnamed metric",
            axis=pen.plain(chart.axis, 20),
            traces=tuple(replace(t, label=pen.plain(t.label, 40)) for t in chart.traces),
            marks=tuple(replace(m, label=pen.plain(m.label, 70)) for m in chart.marks),
        )

    def _free_name(self, name: str) -> str:
        names = (
            f"{self._folder}/{name}{end}.svg" for end in ("", *(f"-{n}" for n in range(2, 99)))
        )
        return next(one for one in names if one not in self.pictures)
