"""An item of the checklist in full, and a circumstance: why it matters, and what shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mltd.sessions.model.checklist import CHECKS
from mltd.sessions.model.constraints import Topic

from ..findings.blocks import Block, heading, plain
from ..findings.spans import Line, Span, clean, fit, spread, wrap
from . import marks
from .lines import moment, paragraphs, section
from .places import reference_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mltd.sessions.model.evidence import EvidenceRef

    from .pick import Pick
    from .shown import Shown

_SAYERS = {"app": "by the app, which can see it", "person": "by you"}


def check_detail(shown: Shown, pick: Pick, width: int) -> Iterator[Block]:
    """State, why it matters, what is missing, who ticked it on what evidence."""
    check = next(check for check in CHECKS if check.id == pick.id)
    given = shown.session.marks.get(check.id)
    mark = marks.CHECKS[given.state.value if given else "open"]
    right: Line = (Span(f"phase {check.phase.number}", "quiet"),)
    if shown.suggested == check.id:
        right = (Span(f"{marks.NEXT}  ", "key"), *right)
    lines = [
        title_line(mark, check.title, right, width),
        *((Span(part),) for part in wrap(check.why, width)),
    ]
    yield plain(*lines)
    is_open = given is None or not mark.is_over
    lacking = shown.missing.get(check.id, "")
    if is_open and lacking:
        yield from section("What is missing", paragraphs(lacking, width), width)
    if given is not None:
        said = f"{mark.word} {_SAYERS.get(given.by, f'by {clean(given.by)}')}"
        if given.at is not None:
            said += f", {moment(given.at)}"
        told = [*paragraphs(said, width, "quiet")]
        told += paragraphs(given.reason, width) if given.reason else ()
        yield from section("Mark", told, width)
        yield from evidence(given.evidence, width, pick)
    yield keys_line(
        "space ticks it · w waives it with a reason" if is_open else "space opens it again", width
    )


def fact_detail(shown: Shown, pick: Pick, width: int) -> Iterator[Block]:
    """The answer, where it comes from, and the question."""
    topic = Topic(pick.id)
    fact = shown.session.constraints.facts.get(topic)
    mark = marks.CHECKS["open" if fact is None else "done"]
    word = "not known" if fact is None else "pre-filled" if fact.is_prefilled else "known"
    yield plain(title_line(mark._replace(word=word), topic.heading, (), width))
    if fact is None:
        yield plain(*paragraphs(topic.question, width))
        yield keys_line("f answers it", width)
        return
    yield plain(*paragraphs(fact.value, width, "heading"))
    if fact.is_prefilled:
        said = f"read from the {clean(fact.source)}; nobody has confirmed it yet"
        yield plain(*paragraphs(said, width, "stale"))
    else:
        yield plain(*paragraphs("answered by you", width, "quiet"))
    yield from evidence(fact.evidence, width, pick)
    yield from section("The question", paragraphs(topic.question, width, "quiet"), width)
    confirms = "space confirms it · " if fact.is_prefilled else ""
    yield keys_line(f"{confirms}f corrects it", width)


def title_line(mark: marks.Mark, title: str, right: Line, width: int) -> Line:
    """State and title, with something quiet at the end."""
    left: Line = (
        Span(f"{mark.glyph} {mark.word}", mark.meaning),
        Span(f"  {clean(title)}", "heading"),
    )
    return fit(spread(left, right, width), width)


def evidence(pieces: Sequence[EvidenceRef], width: int, pick: Pick) -> Iterator[Block]:
    """Places where it shows; nothing if there are none."""
    if pieces:
        yield heading("Evidence", width, "Enter goes there")
        yield from reference_blocks(pieces, width, pick)


def keys_line(text: str, width: int) -> Block:
    """What can be done here, below everything else."""
    return plain((), *paragraphs(text, width, "quiet"))
