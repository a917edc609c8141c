"""From a run to what a triage asks for; read-only, bounded, and silent where nothing is stated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mltd.analyzers.core.settings_lookup import Settings
from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.run import Run

from ..model.constraints import Fact, Topic
from . import framework, hardware, provenance, targets
from .gathered import Gathered
from .incident import incident_start
from .lines import Head, Line, heads
from .material import Material, fact_of
from .places import Places
from .seen import seen_in
from .timeline import timeline
from .wording import is_going

_Reader = Callable[[Material], Fact | None]
_READERS: dict[Topic, tuple[tuple[bytes, ...], _Reader]] = {
    Topic.HARDWARE: (hardware.NEEDLES, hardware.hardware),
    Topic.FRAMEWORK: (framework.NEEDLES, lambda material: fact_of(framework.pieces(material))),
    Topic.DATA: (provenance.DATA_NEEDLES, lambda material: fact_of(provenance.data(material))),
    Topic.TARGETS: (targets.NEEDLES, targets.targets),
    Topic.REVISION: (provenance.REVISION_NEEDLES, provenance.revision_fact),
    Topic.SEEDS: (provenance.SEED_NEEDLES, lambda material: fact_of(provenance.seeds(material))),
}
_START_LINES = 60
"""Lines in which a log tells when it began, if it tells at all."""


def gather(run: Run, diagnosis: Diagnosis | None = None) -> Gathered:
    """Everything that a triage of this run can be pre-filled with."""
    places = Places(run)
    beginnings = heads(run)
    failures = places.read_failures()
    settings = Settings(run.config)
    facts: dict[Topic, Fact] = {}
    for topic, (needles, read) in _READERS.items():
        fact = read(Material(run, settings, _lines(beginnings, failures, needles)))
        if fact is not None:
            facts[topic] = fact
    seen = seen_in(run, settings)
    start = incident_start(places, diagnosis, is_growing=is_going(seen))
    if start is not None:
        facts[Topic.INCIDENT_START] = start
    first = beginnings[0].first(_START_LINES) if beginnings else []
    return Gathered(
        facts={topic: facts[topic] for topic in Topic if topic in facts},
        timeline=timeline(places, seen, first, diagnosis),
        seen=seen,
    )


def _lines(
    beginnings: Sequence[Head], failures: Sequence[Line], needles: tuple[bytes, ...]
) -> tuple[Line, ...]:
    """Lines that may answer a question: of the beginnings, then of what ended the run."""
    words = tuple(needle.decode() for needle in needles)
    found = dict.fromkeys(line for head in beginnings for line in head.with_any(needles))
    for line in failures:
        lowered = line.text.casefold()
        if any(word in lowered for word in words):
            found.setdefault(line)
    return tuple(found)
