"""The document that `check --json` prints: a run and its diagnosis as the contract has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mltd.runs.run import Run
from mltd.runs.summary import describe_run

if TYPE_CHECKING:
    from mltd.analyzers.diagnosis import Diagnosis

SCHEMA = 1


def document(run: Run, seconds: float, diagnosis: Diagnosis) -> dict[str, object]:
    """The contract's document; what nobody knows is null."""
    from mltd.analyzers.describing import describe_diagnosis

    described = describe_diagnosis(diagnosis)
    content: dict[str, object] = {
        "schema": SCHEMA,
        "status": described.pop("status"),
        "run": describe_run(run),
        **described,
        "analysis_artifacts": {"report": None, "loss_plot": None, "gradient_analysis": None},
        "seconds": round(seconds, 3),
    }
    notices = [f"{source.path}: {source.notice}" for source in run.files if source.notice]
    if notices or diagnosis.problems:
        content["notices"] = [*notices, *diagnosis.problems]
    return content
