from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Evidence, EvidenceKind
from mltd.tui.evidence_place import LinePlace, SeriesPlace, place_of


@pytest.mark.parametrize(
    ("kind", "ref", "place"),
    [
        (EvidenceKind.SERIES, "train/loss@24590..25010", SeriesPlace("train/loss", 24590.0)),
        (EvidenceKind.SERIES, "loss@1e+06", SeriesPlace("loss", 1e6)),
        (EvidenceKind.SERIES, "mAP@0.5@12.5", SeriesPlace("mAP@0.5", 12.5)),
        (EvidenceKind.SERIES, "grad_norm", SeriesPlace("grad_norm")),
        (EvidenceKind.LOG, "train.err:812", LinePlace("train.err", 812)),
        (EvidenceKind.LOG, "a:b.log:7-12", LinePlace("a:b.log", 7)),
        (EvidenceKind.LOG, "no line here", None),
        (EvidenceKind.CONFIG, "config:optimizer.lr", None),
        (EvidenceKind.JOB, "job:48213", None),
        (EvidenceKind.JOB, "slurm.txt:9", LinePlace("slurm.txt", 9)),
    ],
)
def test_evidence_names_the_place_to_jump_to(
    kind: EvidenceKind, ref: str, place: SeriesPlace | LinePlace | None
) -> None:
    assert place_of(Evidence(kind, ref, "quote")) == place
