"""Evidence: what the logs say, the values at the places in question, and the curves."""

from __future__ import annotations

from collections.abc import Iterator

from .. import numbers
from ..chart import Chart
from ..drawing import Gallery
from ..markdown import table
from ..material import Excerpt, ValueTable
from ..pieces import Piece, pieces_about
from ..subject import Subject

_MOST_QUOTES = 12


def evidence(subject: Subject, gallery: Gallery) -> Iterator[str]:
    """Everything that can be shown, run by run."""
    refs = subject.session.runs
    shown = False
    for ref in refs:
        material = subject.material.of(ref.id)
        pieces = pieces_about(subject.session, ref.id, subject.diagnosis_of(ref.id))
        blocks = [
            *_excerpts(subject, material.excerpts),
            *_quotes(subject, pieces, material.available),
            *_values(subject, material.values),
            *_curves(subject, gallery, material.charts),
        ]
        if not blocks and material.available:
            continue
        shown = True
        if len(refs) > 1:
            yield f"### {ref.id} {subject.pen.text(ref.label, 80)}"
        if not material.available:
            yield (
                f"The files of this run could not be read: {subject.pen.text(material.why_not)}. "
                "What follows is what the session keeps of them."
            )
        yield from blocks or ["The session keeps nothing of them."]
    if not shown:
        yield "No evidence is recorded."


def _excerpts(subject: Subject, excerpts: tuple[Excerpt, ...]) -> Iterator[str]:
    for excerpt in excerpts:
        first, last = excerpt.lines[0].number, excerpt.lines[-1].number
        place = f"{excerpt.file}:{first}" if first == last else f"{excerpt.file}:{first}-{last}"
        why = f", about {subject.pen.text(excerpt.why, 120)}" if excerpt.why else ""
        yield f"Log excerpt {subject.pen.code(place)}{why}:"
        yield subject.pen.fenced(_numbered(subject, excerpt))


def _numbered(subject: Subject, excerpt: Excerpt) -> list[str]:
    """The lines with their numbers; `>` stands before those that are evidence."""
    width = len(str(excerpt.lines[-1].number))
    # Together, because a secret may go over several lines; apart, if that changed their number.
    cleaned = subject.pen.clean("\n".join(line.text for line in excerpt.lines)).split("\n")
    if len(cleaned) != len(excerpt.lines):
        return [*cleaned, "(lines are not numbered, because some were masked)"]
    lines: list[str] = []
    before = excerpt.lines[0].number - 1
    for line, shown in zip(excerpt.lines, cleaned, strict=True):
        if line.number > before + 1:
            gap = numbers.counted(line.number - before - 1, "line")
            lines.append(f"  {'':>{width}} | [... {gap} left out ...]")
        sign = ">" if line.is_evidence else " "
        lines.append(f"{sign} {line.number:>{width}} | {shown}")
        before = line.number
    return lines


def _quotes(subject: Subject, pieces: list[Piece], is_readable: bool) -> Iterator[str]:
    """What the evidence says where it stands; log lines only if no excerpt shows them."""
    wanted = [piece for piece in pieces if piece.quote.strip()
              and not (is_readable and piece.kind in ("log", "series"))
              and piece.kind != "experiment"]  # fmt: skip
    if not wanted:
        return
    pen = subject.pen
    yield table(
        ("where", "kind", "what stands there", "about"),
        [
            (pen.code_cell(p.ref), pen.cell(p.kind), pen.code_cell(p.quote), pen.cell(p.why))
            for p in wanted[:_MOST_QUOTES]
        ],
    )


def _values(subject: Subject, values: ValueTable | None) -> Iterator[str]:
    if values is None:
        return
    pen = subject.pen
    yield "Values at the places that the evidence names (each the last one logged by then):"
    yield table(
        (pen.cell(values.axis), *(pen.code_cell(name, 60) for name in values.columns), "named by"),
        [
            (numbers.place(x), *(numbers.value(one) for one in row), pen.cell(what))
            for x, row, what in values.rows
        ],
        ">" * (1 + len(values.columns)) + "<",
    )


def _curves(subject: Subject, gallery: Gallery, charts: tuple[Chart, ...]) -> Iterator[str]:
    for chart in charts:
        yield from gallery.show(chart)
