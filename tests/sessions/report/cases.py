"""Sessions to report on: a solved divergence, a crash without metrics, an empty draft."""

from __future__ import annotations

from pathlib import Path

from mltd.analyzers.core.cause import RootCause
from mltd.analyzers.core.finding import Basis, Finding, Severity
from mltd.analyzers.core.verdict import Diagnosis
from mltd.sessions.actions.checks import MarkCheck
from mltd.sessions.actions.records import (
    AddRun,
    PutNote,
)
from mltd.sessions.model.checklist import MarkState
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.report import Material, material_of

from .building import NOW, Case, log, read, triaged
from .divergence import divergence
from .opined import PASSWORD, TOKEN, opinion

CRASH = f"""\
starting on gpu-17 as mira
config: {{'lr': 0.0003, 'batch_size': 64}}
login with HF_TOKEN={TOKEN}
``` # a fence in a log
<script>alert(1)</script> | not a table | ![x](http://evil.example/x.png)
Traceback (most recent call last):
  File "/home/mira/code/train.py", line 88, in <module>
    main()
  File "/home/mira/code/train.py", line 71, in main
    loss = model(batch.to("cuda"))
RuntimeError: Expected all tensors to be on the same device, but found cuda:0 and cpu!
srun: error: gpu-17: task 0: Exited with exit code 1
"""


def crash_diagnosis() -> Diagnosis:
    error = log("crash.err:11", "RuntimeError: Expected all tensors to be on the same device")
    return Diagnosis(
        status="needs_more_data",
        findings=(
            Finding(
                "device_mismatch",
                "tensors on cuda:0 and cpu were combined at train.py:71",
                Severity.CRITICAL,
                0.95,
                Basis.OBSERVATION,
                (error, log("crash.err:9", 'File "/home/mira/code/train.py", line 71')),
            ),
        ),
        root_causes=(
            RootCause(
                "code_bug",
                "something was not moved to the device, or a layer is created inside forward",
                Severity.CRITICAL,
                ("device_mismatch",),
                0.62,
                Basis.INFERENCE,
                (error,),
            ),
        ),
        requests=("the standard output of this run: only messages were found",),
    )


def crash() -> Case:
    """A crash without metrics whose log is full of things that must not get out."""
    Path("crash.err").write_text(CRASH)
    session = triaged(
        "20260314-0900-crash",
        "crash on gpu-17",
        [
            AddRun(run=RunRef(id="R1", location="/home/mira/jobs/crash.err",
                              name="crash.err", added=NOW)),
            MarkCheck(item="metrics", state=MarkState.WAIVED, reason="it died before the first"),
            PutNote(id="N1", text=f"mira logs in with password={PASSWORD} on gpu-17"),
        ],
    )  # fmt: skip
    runs = {"R1": read("crash.err")}
    return Case(session, material_of(session, runs, {"R1": crash_diagnosis()}))


def draft() -> Case:
    """A session that was only just begun."""
    session = triaged("20260314-0900-draft", "draft", [])
    return Case(session, Material())


CASES = {"divergence": divergence, "crash": crash, "draft": draft, "opinion": opinion}
