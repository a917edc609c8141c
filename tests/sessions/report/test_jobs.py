"""Reports about runs whose job is known."""

from __future__ import annotations

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run
from mltd.runs.schedulers.job import Job, JobState
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.report import Options, build, material_of
from tests.sessions.report.building import NOW

STEPS = "".join(f"step {step}/100 loss {3 / (1 + step / 9):.4f}\n" for step in range(40))


def cancelled() -> Run:
    run = Run("train.log")
    run.is_over = True
    read_stream(run, "train.log", iter([STEPS.encode()]))
    run.job = Job(id="48213", state=JobState.CANCELLED, user="annamaria", nodes="gpu03",
                  cancelled_by="bertram", work_dir="/home/annamaria/exp")  # fmt: skip
    return run


def report(*, redact: bool) -> str:
    run = cancelled()
    ref = RunRef(id="R1", location="train.log", added=NOW)
    session = Session(id="s", title="t", created=NOW, runs=(ref,))
    material = material_of(session, {"R1": run}, {"R1": diagnose(run)})
    built = build(session, material, Options(at=NOW, redact=redact, as_json=True))
    return built.markdown + built.json


def test_a_job_is_evidence_in_a_report() -> None:
    text = report(redact=False)
    assert "job:48213" in text
    assert "was cancelled by user bertram" in text


def test_whose_job_it_is_can_be_redacted() -> None:
    text = report(redact=True)
    for name in ("annamaria", "bertram", "gpu03"):
        assert name not in text
    assert "job 48213" in text
