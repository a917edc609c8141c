"""A session in which Claude was asked: answers, follow-ups, a failure, a cancelled question."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from mltd.analyzers.core.cause import RootCause
from mltd.analyzers.core.finding import Basis, Finding, Severity
from mltd.analyzers.core.verdict import Diagnosis
from mltd.sessions.actions.hypotheses import AddHypothesis
from mltd.sessions.actions.records import AddRun, RecordDiagnosis
from mltd.sessions.adopting import record_of
from mltd.sessions.model.confidence import Confidence
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.hypothesis import Hypothesis, SuggestedFix
from mltd.sessions.model.records import DiagnosisRecord
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.report import Material

from .building import NOW, Case, log, series, triaged

TOKEN = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345678"
PASSWORD = "correct-horse-battery"


def checked(verdict: str, reason: str = "", **citation: Any) -> dict[str, Any]:
    """A citation and its verdict, as they are kept."""
    return {"citation": citation, "verdict": verdict, "reason": reason, "line": None, "step": None}


def claudes(minute: int, status: str, /, run: str = "R1", **body: Any) -> DiagnosisRecord:
    """A record of Claude's."""
    at = NOW + timedelta(minutes=minute)
    return DiagnosisRecord(at=at, source="claude", run=run, status=status, body=body)


def told(**more: Any) -> dict[str, Any]:
    """What every record of Claude's has."""
    return {
        "model": "claude-sonnet-4-5",
        "host": "llm.proxy.example.org",
        "is_redacted": False,
        "usage": {"input": 12400, "output": 910, "cached": 3100, "dollars": 0.0512, "seconds": 41},
        "question": "",
        "text": "",
        "looks": [],
        "error": None,
        **more,
    }


WHOLE: dict[str, Any] = {
    "opinion": {
        "status": "diagnosis_complete",
        "summary": "The loader repeats one shard since step 400.\n\nThe rate is not to blame.",
        "needed_data": [
            {"what": "the order of the shards", "why": "a replay would show.", "how": "log it"}
        ],
        "agreement": [
            {"id": "lr_too_high", "stance": "disagrees", "why": "the rate fell before step 400"},
            {"id": "loss_spike", "stance": "agrees", "why": ""},
        ],
    },
    "status": "needs_more_data",
    "causes": [
        {
            "cause": {
                "issue": "the loader on gpu-17 replays shard 3 from step 400 on",
                "failure_mode": "replayed_data",
                "severity": "critical",
                "explains": ["loss_spike"],
                "explanation": "mira resumed without the sampler's state, so *the same* batches "
                "come again.",
                "basis": "inference",
            },
            "confidence": 0.7,
            "said": 0.9,
            "is_known": True,
            "evidence": [
                checked("confirmed", kind="log", artifact="train.log", first_line=412,
                        last_line=413, quote="resuming from /home/mira/runs/ckpt",
                        shows="the resume"),
                checked("elsewhere", "it is at line 415, not 9", kind="log", artifact="train.log",
                        first_line=9, last_line=9, quote="shard 3", shows=""),
                checked("wrong", "lr is 0.01", kind="config", run="", key="lr", value="0.5",
                        shows="a high rate"),
                checked("unreadable", "no such run", kind="series", run="run7", name="loss",
                        step=400.0, value="2.1", shows=""),
            ],
            "against": ["the seed is new", checked("confirmed", kind="finding", id="loss_spike")],
            "notes": ["inference bears 0.70 at most"],
        },
        {
            "cause": {"issue": "moon phase", "failure_mode": "moon_phase", "severity": "info",
                      "explains": [], "explanation": "", "basis": "observation"},
            "confidence": 0.1, "said": 0.1, "is_known": False, "evidence": [], "against": [],
            "notes": [],
        },
    ],
    "quick_fixes": [
        {"text": "resume from step 350", "dangers": []},
        {"text": "rm -rf /home/mira/cache", "dangers": [
            {"kind": "deletes", "match": "rm -rf /home/mira/cache", "reason": "deletes files"}]},
    ],
    "recommended_fixes": [
        {
            "fix": {
                "priority": 1, "title": "keep the sampler's state", "addresses": "replayed_data",
                "change": "save sampler.state_dict() with the checkpoint",
                "example": f"login('{TOKEN}')\nstate['sampler'] = sampler.state_dict()",
                "metric": "train/loss", "expected_impact": "no spike at step 400",
                "verify": "log the first index after a resume", "if_it_fails": "shuffle by epoch",
                "is_reversible": False,
            },
            "dangers": [],
        }
    ],
    "notes": ["the status was lowered: no cause reaches 0.80"],
}  # fmt: skip


def answered() -> DiagnosisRecord:
    """The first answer, with everything that one can have."""
    contract = {
        "status": "needs_more_data",
        "root_causes": [{"id": "replayed_data", "issue": "the loader replays shard 3",
                         "confidence": 0.7, "basis": "inference"}],
        "opinion": WHOLE,
    }  # fmt: skip
    looks = [f"read_lines train.log {n}..{n + 9}" for n in range(0, 150, 10)]
    return claudes(20, "needs_more_data", **told(**contract, looks=looks, text="I looked first."))


def diagnosis() -> Diagnosis:
    spike = series("loss@400", "9.1")
    return Diagnosis(
        status="needs_more_data",
        findings=(Finding("loss_spike", "loss jumped to 9.1 at step 400", Severity.WARNING, 0.9,
                          Basis.OBSERVATION, (spike,), 400.0),),
        root_causes=(RootCause("lr_too_high", "the learning rate is too high", Severity.WARNING,
                               ("loss_spike",), 0.78, Basis.RESEARCH,
                               (spike, log("train.log:415", "loss 9.1"))),),
    )  # fmt: skip


def opinion() -> Case:
    """Claude was asked twice; one of its causes became a hypothesis."""
    later = {"input": 20000, "output": 1500, "cached": 9000, "dollars": None, "seconds": 70.5}
    hypothesis = Hypothesis(
        id="H1", statement="the loader replays shard 3 from step 400 on", cause="replayed_data",
        confidence=Confidence(value=0.7, basis=Basis.INFERENCE), source="claude", run="R1",
        evidence=(EvidenceRef(kind=RefKind.LOG, ref="train.log:412", quote="resuming"),),
        fixes=(SuggestedFix(change="save the sampler's state", addresses="replayed_data"),),
        explains=("loss_spike",), severity="critical", created=NOW,
    )  # fmt: skip
    failure = {"kind": "overloaded", "message": "the service is overloaded", "hint": "try later",
               "is_temporary": True}  # fmt: skip
    session = triaged(
        "20260314-0900-opinion",
        "spike after a resume",
        [
            AddRun(run=RunRef(id="R1", location="/home/mira/runs/train.log", name="train.log",
                              added=NOW)),
            RecordDiagnosis(diagnosis=record_of(diagnosis(), NOW, "R1")),
            RecordDiagnosis(diagnosis=answered()),
            RecordDiagnosis(diagnosis=claudes(25, "replied", **told(
                question="Why not the rate?\nIt is high.", usage=later,
                text=f"Because it fell.\n# no heading\npassword={PASSWORD}"))),
            RecordDiagnosis(diagnosis=claudes(30, "failed", **told(
                question="And the data?", error=failure, usage=None, text="The data"))),
            RecordDiagnosis(diagnosis=claudes(50, "cancelled", **told(
                is_redacted=True, usage={"input": 5, "seconds": "long"}, model=7))),
            AddHypothesis(hypothesis=hypothesis),
        ],
    )  # fmt: skip
    return Case(session, Material())
