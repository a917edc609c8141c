"""Which diagnoses a session keeps: each may be tens of kilobytes."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.records import DiagnosisRecord

MOST_DIAGNOSES = 20
"""Of the analyzers, and as many of Claude."""


def affordable(records: Sequence[DiagnosisRecord]) -> tuple[DiagnosisRecord, ...]:
    """The records without those that are too many: neither source pushes out the other's.

    Of Claude's, the oldest words go first: a long talk must not lose the opinion it is about.
    """
    gone: set[int] = set()
    for is_claudes in (False, True):
        same = [n for n, record in enumerate(records) if record.is_claudes is is_claudes]
        # Sorting is stable: the oldest first among words alone, and then among opinions.
        order = sorted(same[:-1], key=lambda n: is_claudes and records[n].has_opinion)
        gone.update(order[: max(0, len(same) - MOST_DIAGNOSES)])
    return tuple(record for n, record in enumerate(records) if n not in gone)
