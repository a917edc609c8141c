"""What facts are read from, and how findings become one fact: short, on one line, with evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mltd.analyzers.core.settings_lookup import Setting, Settings
from mltd.runs.name_text import escape_undecodable
from mltd.runs.roles import normalise
from mltd.runs.run import Run
from mltd.runs.sources.line_text import shown_text

from ..model.constraints import Fact
from ..model.evidence import EvidenceRef, RefKind
from .lines import Line, quote_of

LONGEST_VALUE = 200
LONGEST_PIECE = 120
MOST_PIECES = 8
_NOTHING = frozenset({"", "none", "null", "nan", "n/a", "unknown", "auto", "-", "[]", "{}", "''"})


class Piece(NamedTuple):
    """A part of an answer, and where it was read."""

    text: str
    evidence: EvidenceRef


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that readers of facts may look at."""

    run: Run
    settings: Settings
    lines: Sequence[Line]
    """Lines that hold a word some reader asked for, file by file in their order."""

    def search(
        self, pattern: re.Pattern[str], unless: re.Pattern[str] | None = None
    ) -> Iterator[tuple[Line, re.Match[str]]]:
        """Lines in which a pattern is found."""
        for line in self.lines:
            found = pattern.search(line.text)
            if found is not None and (unless is None or not unless.search(line.text)):
                yield line, found

    def named(self, *names: str) -> Iterator[Setting]:
        """Settings whose own name is one of these (lower-case words), those that say something."""
        for setting in self.settings:
            if normalise(setting.path.rpartition(".")[2]) in names and says_something(setting):
                yield setting


def says_something(setting: Setting) -> bool:
    """False for None, an empty list, and other ways of stating nothing."""
    return setting.text not in _NOTHING and setting.value not in ([], {}, ())


def from_line(line: Line, found: re.Match[str], text: str) -> Piece:
    """A piece that a log states."""
    quote = quote_of(line, *found.span())
    ref = EvidenceRef(kind=RefKind.LOG, ref=f"{line.file}:{line.number}", quote=quote)
    return Piece(text, ref)


def from_setting(setting: Setting, text: str = "") -> Piece:
    """A piece that the configuration states; in its own words unless others are given."""
    quote = tidy(str(setting.value), LONGEST_PIECE)
    name = tidy(setting.path, 80)
    shown = text or f"{tidy(setting.path.rpartition('.')[2], 60)} = {quote}"
    return Piece(shown, EvidenceRef(kind=RefKind.CONFIG, ref=f"config:{name}", quote=quote))


def tidy(text: str, most: int = LONGEST_PIECE) -> str:
    """Any text as one short printable line."""
    line = " ".join(text[: most * 4].split())
    if not line.isprintable():
        line = shown_text(escape_undecodable(line).encode()).text
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def fact_of(pieces: Iterable[Piece], lead: str = "") -> Fact | None:
    """All pieces as one answer, each thing said once; None if there is none."""
    said: dict[str, Piece] = {}
    length = len(lead)
    for piece in pieces:
        text = tidy(piece.text)
        key = text.casefold()
        if not text or key in said:
            continue
        length += len(text) + 2
        if said and (length > LONGEST_VALUE or len(said) >= MOST_PIECES):
            break
        said[key] = Piece(text, piece.evidence)
    if not said:
        return None
    evidence = tuple(dict.fromkeys(piece.evidence for piece in said.values()))
    value = lead + "; ".join(piece.text for piece in said.values())
    return Fact(value=tidy(value, LONGEST_VALUE), source=_source(evidence), evidence=evidence)


def _source(evidence: Sequence[EvidenceRef]) -> str:
    return evidence[0].kind.value
