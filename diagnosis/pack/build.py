"""From the material to a pack within its budget, the most informative first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .allotting import by_share
from .evidence_pack import EvidencePack, PackSection, characters_for, tokens_of
from .material import PackMaterial
from .sections.circumstances import environment, job
from .sections.config import config
from .sections.curves import curves
from .sections.excerpts import excerpts
from .sections.missing import missing
from .sections.so_far import so_far
from .sections.symptoms import symptoms
from .sections.task import runs, task
from .sections.tracebacks import tracebacks
from .writing import Draft, Written, clean_pages, need, write

if TYPE_CHECKING:
    from mltd.sessions.masking import Masker

DEFAULT_TOKENS = 20_000
_MISSING = "What is missing"
_LAST_SHARE = 0.03
_KEPT_BACK = 100
"""Tokens for the last section, which names those that did not fit."""


def build_pack(
    material: PackMaterial, *, budget_tokens: int = DEFAULT_TOKENS, masker: Masker
) -> EvidencePack:
    """The pack; the same for the same material and a masker in the same state."""
    if budget_tokens < 1:
        raise ValueError("a pack needs a budget of at least one token")
    drafts, problems = _drafts(material, masker)
    if masker.redacts:
        # Whom a text speaks of may only show further down: the second time all are known.
        for draft in drafts:
            clean_pages(draft, masker)
        drafts, problems = _drafts(material, masker)
    pages = [clean_pages(draft, masker) for draft in drafts]
    needs = [need(draft, clean) for draft, clean in zip(drafts, pages, strict=True)]
    sizes = [tokens_of("x" * size) for size in needs]
    # What is asked comes whole, whatever is left for the evidence.
    first = min(sizes[0], budget_tokens)
    shares = [draft.share for draft in drafts[1:]]
    # Some is kept back, to say at least which sections are not there.
    rest = budget_tokens - first
    kept_back = min(rest // 3, max(_KEPT_BACK, int(_LAST_SHARE * rest)))
    rooms = [first, *by_share(sizes[1:], shares, rest - kept_back)]
    written: list[Written] = []
    spare = 0
    for draft, clean, room in zip(drafts, pages, rooms, strict=True):
        written.append(write(draft, clean, characters_for(room + spare)))
        # What a page could not use is of use to the next.
        spare += room - tokens_of(written[-1].text)
    gone = [draft.title for draft, one in zip(drafts, written, strict=True) if not one.text]
    last = _last(material, problems, gone)
    spent = sum(tokens_of(one.text) for one in written)
    drafts.append(last)
    room = characters_for(budget_tokens - spent)
    written.append(write(last, clean_pages(last, masker), room) if last.pages else Written(""))
    return _pack(drafts, written, masker)


def _pack(drafts: list[Draft], written: list[Written], masker: Masker) -> EvidencePack:
    sections = [
        PackSection(draft.title, one.text, tokens_of(one.text), priority)
        for priority, (draft, one) in enumerate(zip(drafts, written, strict=True), start=1)
        if one.text
    ]
    left_out = tuple(what for one in written for what in one.left_out)
    return EvidencePack(tuple(sections), left_out, masker.redacts)


def _drafts(material: PackMaterial, masker: Masker) -> tuple[list[Draft], list[str]]:
    """All sections but the last, without those that have nothing to say."""
    problems: list[str] = []
    known = [
        Draft("Task and constraints", 0.0, list(task(material)), _opening(material)),
        Draft("Runs and files", 0.08, list(runs(material))),
        Draft("Symptoms and causes considered", 0.18, list(symptoms(material))),
        Draft("Tracebacks", 0.14, tracebacks(material, problems)),
        Draft("Log excerpts", 0.16, excerpts(material, problems)),
        Draft("Curves", 0.18, curves(material)),
        Draft("Configuration", 0.08, list(config(material, masker))),
        Draft("Environment and hardware", 0.04, list(environment(material, problems))),
        Draft("Job", 0.02, list(job(material))),
        Draft("Hypotheses and experiments so far", 0.05, list(so_far(material))),
    ]
    return [draft for draft in known if draft.pages], problems


def _last(material: PackMaterial, problems: list[str], gone: list[str]) -> Draft:
    return Draft(_MISSING, _LAST_SHARE, list(missing(material, problems, gone)))


def _opening(material: PackMaterial) -> str:
    count = len(material.runs)
    runs = "1 training run" if count == 1 else f"{count:,} training runs"
    return f"# Evidence pack: what mltd-tui knows about {runs}, to be diagnosed"
