"""Charts in a report: a text plot in a fence, and a picture beside the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from .chart import Chart
from .curves import slug
from .markdown import escaped
from .pen import Pen
from .svg import svg
from .text_plot import text_plot


class Gallery:
    """Draws charts and keeps the pictures, each under a name of its own."""

    def __init__(self, pen: Pen, folder: str = "", *, is_inside: bool = False) -> None:
        self._pen = pen
        self._folder = folder
        self._is_inside = is_inside
        """The Markdown itself is in the folder: its pictures are neighbours."""
        self.pictures: dict[str, str] = {}
        self.by_role: dict[str, str] = {}
        """The first picture of each role."""

    def show(self, chart: Chart) -> Iterator[str]:
        """The blocks that show a chart."""
        drawn = self._cleaned(chart)
        yield f"**{escaped(drawn.title)}**"
        if self._folder:
            name = self._free_name(drawn.name)
            self.pictures[name] = svg(drawn)
            self.by_role.setdefault(chart.role, name)
            link = name.rpartition("/")[2] if self._is_inside else name
            yield f"![{escaped(drawn.description)}]({quote(link)})"
        yield self._pen.fenced(text_plot(drawn))

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
