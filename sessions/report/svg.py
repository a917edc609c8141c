"""A chart as an SVG file of its own: no script, no font to load, readable on light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from . import numbers
from .chart import Chart, Point, Trace
from .scale import Scale, place_scale, tick_label, value_scale

WIDTH, HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 48, 40
_LINE = 17
"""Height of a line of the list below the plot."""
_MOST_LABEL = 96
_STYLE = """
text{font:12px -apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#59636e}
.ground{fill:#ffffff;stroke:#d1d9e0}
.title{font-size:14px;font-weight:600;fill:#1f2328}
.grid{stroke:#d1d9e0;stroke-width:1}
.axis{stroke:#818b98;stroke-width:1}
.c0{stroke:#0969da}.c1{stroke:#bc4c00}.c2{stroke:#8250df}
.curve{fill:none;stroke-width:1.6;stroke-linejoin:round}
.dot{stroke-width:5;stroke-linecap:round}
.bad{stroke:#cf222e;stroke-width:1.5}
.mark{stroke:#818b98;stroke-dasharray:4 3}
.mark.critical{stroke:#cf222e}.mark.warning{stroke:#9a6700}
.letter{font-size:11px;font-weight:600;text-anchor:middle;fill:#1f2328}
@media (prefers-color-scheme:dark){
text{fill:#9198a1}.ground{fill:#0d1117;stroke:#3d444d}
.title,.letter{fill:#f0f6fc}.grid{stroke:#2a313c}.axis{stroke:#656c76}
.c0{stroke:#4493f8}.c1{stroke:#f0883e}.c2{stroke:#ab7df8}.bad{stroke:#f85149}
.mark.critical{stroke:#f85149}.mark.warning{stroke:#d29922}
}
"""


def svg(chart: Chart) -> str:
    """The whole file."""
    return "\n".join(_Drawing(chart).lines()) + "\n"


class _Drawing:
    """One chart on its canvas."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart
        spread = chart.y_range
        self._has_values = spread is not None
        self._x = place_scale(*chart.x_range)
        self._y = value_scale(*spread, chart.role) if spread else Scale(0.0, 1.0)
        self._remarks = list(self._below())
        self._height = HEIGHT + _LINE * len(self._remarks) + (6 if self._remarks else 0)

    def lines(self) -> Iterator[str]:
        chart = self._chart
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self._height}" '
            f'width="{WIDTH}" height="{self._height}" role="img" '
            f"aria-label={quoteattr(_legal(chart.description))}>"
        )
        yield f"<style>{_STYLE}</style>"
        yield (
            f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" '
            f'height="{self._height - 1}" rx="6"/>'
        )
        yield _text(16, 24, chart.title, 'class="title"')
        yield from self._legend()
        yield from self._grid()
        yield from self._marks()
        for number, trace in enumerate(chart.traces):
            yield from self._trace(number % 3, trace)
        yield from self._bad()
        for row, remark in enumerate(self._remarks):
            yield _text(_LEFT, HEIGHT + 8 + row * _LINE, remark)
        yield "</svg>"

    def _legend(self) -> Iterator[str]:
        """Names of the curves at the upper right, if there are several."""
        right = WIDTH - _RIGHT
        if len(self._chart.traces) > 1:
            for number, trace in reversed(list(enumerate(self._chart.traces))):
                label = trace.label[:40]
                width = round(6.6 * len(label))
                yield _text(right, 24, label, 'text-anchor="end"')
                yield (
                    f'<path class="curve c{number % 3}" d="M{right - width - 28} 20h20" '
                    f'style="stroke-width:3"/>'
                )
                right -= width + 44
        if self._y.is_log:
            yield _text(_LEFT, HEIGHT - _BOTTOM + 33, "logarithmic scale")

    def _grid(self) -> Iterator[str]:
        bottom = HEIGHT - _BOTTOM
        if self._has_values:
            for tick in self._y.ticks(5):
                y = self._down(tick)
                yield f'<path class="grid" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>'
                yield _text(_LEFT - 8, y + 4, tick_label(tick), 'text-anchor="end"')
        else:
            yield _text(
                (_LEFT + WIDTH - _RIGHT) / 2, 150, "no finite value", 'text-anchor="middle"'
            )
        for tick in self._x.ticks(6):
            x = self._across(tick)
            yield f'<path class="axis" d="M{x} {bottom}v4"/>'
            yield _text(x, bottom + 17, numbers.place(tick), 'text-anchor="middle"')
        yield f'<path class="axis" d="M{_LEFT} {bottom}H{WIDTH - _RIGHT}"/>'
        yield _text(WIDTH - _RIGHT, bottom + 33, self._chart.axis, 'text-anchor="end"')

    def _marks(self) -> Iterator[str]:
        free = 0.0
        for letter, mark in self._chart.lettered:
            x = self._across(mark.x)
            kind = mark.severity if mark.severity in ("critical", "warning") else ""
            yield f'<path class="mark {kind}" d="M{x} {_TOP}V{HEIGHT - _BOTTOM}"/>'
            # Letters of marks that are close stand beside each other.
            at = max(x, free)
            free = at + 11
            yield _text(at, _TOP - 4, letter, 'class="letter"')

    def _trace(self, colour: int, trace: Trace) -> Iterator[str]:
        for stretch in trace.stretches:
            if len(stretch) == 1 and stretch[0][1] == stretch[0][2]:
                x, low, _ = stretch[0]
                spot = f"M{self._across(x)} {self._down(low)}h0"
                yield f'<path class="dot c{colour}" d="{spot}"/>'
                continue
            steps = " ".join(f"{x} {y}" for x, y in self._corners(stretch))
            yield f'<path class="curve c{colour}" d="M{steps}"/>'

    def _corners(self, stretch: tuple[Point, ...]) -> Iterator[tuple[float, float]]:
        """The way of the pen: through both extremes of every place, the nearer one first."""
        at: float | None = None
        for x, low, high in stretch:
            ends = [self._down(low), self._down(high)]
            if at is not None and abs(ends[1] - at) < abs(ends[0] - at):
                ends.reverse()
            across = self._across(x)
            yield across, ends[0]
            if ends[1] != ends[0]:
                yield across, ends[1]
            at = ends[1]

    def _bad(self) -> Iterator[str]:
        """Short strokes on the axis where values are not finite."""
        bottom = HEIGHT - _BOTTOM
        places = sorted({self._across(x) for trace in self._chart.traces for x in trace.bad})
        strokes: list[str] = []
        for before, x in pairwise([-9.0, *places]):
            if x - before >= 0.5:
                strokes.append(f"M{x} {bottom}v-8")
        if strokes:
            yield f'<path class="bad" d="{"".join(strokes)}"/>'

    def _below(self) -> Iterator[str]:
        """What the letters and the strokes mean."""
        for letter, mark in self._chart.lettered:
            yield f"{letter}  {mark.label} at {self._chart.axis} {numbers.place(mark.x)}"
        bad = sum(trace.bad_count for trace in self._chart.traces)
        if bad:
            yield f"red strokes: {numbers.counted(bad, 'value')} not finite (NaN or infinite)"

    def _across(self, x: float) -> float:
        return round(_LEFT + self._x.share(x) * (WIDTH - _LEFT - _RIGHT), 1)

    def _down(self, y: float) -> float:
        return round(HEIGHT - _BOTTOM - self._y.share(y) * (HEIGHT - _TOP - _BOTTOM), 1)


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    shown = text if len(text) <= _MOST_LABEL else text[: _MOST_LABEL - 1] + "…"
    return f'<text x="{x:g}" y="{y:g}" {attributes}>{escape(_legal(shown))}</text>'


def _legal(text: str) -> str:
    """The characters that XML allows."""
    return "".join(c for c in text if c.isprintable() and c not in "\ufffe\uffff")
