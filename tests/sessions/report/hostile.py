"""Texts that would like to be markup, and a session that has one of them in every field."""

from __future__ import annotations

from datetime import timedelta

from pydantic import JsonValue

from mltd.analyzers.core.finding import Basis
from mltd.sessions.model.checklist import CheckMark, MarkState
from mltd.sessions.model.confidence import Confidence, ConfidenceChange
from mltd.sessions.model.constraints import Constraints, Fact, TimelineEntry, Topic
from mltd.sessions.model.criterion import Criterion, Demand
from mltd.sessions.model.evidence import EvidenceRef, RefKind
from mltd.sessions.model.experiment import Experiment, ExperimentStatus
from mltd.sessions.model.hypothesis import Hypothesis, HypothesisStatus, SuggestedFix
from mltd.sessions.model.records import Decision, DiagnosisRecord, Note, Prevention
from mltd.sessions.model.result import BeforeAfter, CriterionResult, MetricChange, Outcome
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.model.session import Session

from .building import NOW

HOSTILE = (
    "# heading",
    "## h\n===\n---",
    "- item\n* item\n+ item\n1. item\n2) item",
    "> quote\n> [!WARNING]",
    "| a | b |\n|---|---|\n| c | d |",
    "```\nout\n```",
    "~~~~\nout",
    "`a``b```c",
    "[x](http://evil.example) ![y](http://evil.example/p.png)",
    "[ref]: http://evil.example\n[ref]",
    "<script>alert(1)</script><!-- x --><img src=x onerror=1>",
    "<http://evil.example>",
    "*bold* **x** _y_ __z__ ~~s~~ $m$",
    "&lt;b&gt; &#35; &copy;",
    "\\# \\| \\\\| \\",
    "    indented code\n\tcode",
    "***\n---\n___\n- - -",
    "- [x] done",
    "\x1b[31mred\x1b[0m \u202egnp\u202c\x00\x07",
    "=====",
    "a\r\nb\rc\u2028d\u0085e",
    "trailing  \nbreak\\",
)


def opined(text: str) -> dict[str, JsonValue]:
    """What is kept of an opinion, with the text wherever one can be."""
    places: list[dict[str, JsonValue]] = [
        {"kind": "log", "artifact": text, "first_line": 1, "last_line": 2, "quote": text},
        {"kind": "series", "run": text, "name": text, "step": 1.5, "value": text},
        {"kind": "config", "run": text, "key": text, "value": text},
        {"kind": "finding", "id": text},
    ]
    verdicts = ("confirmed", "elsewhere", "wrong", "unreadable")
    checked: list[JsonValue] = [
        {"citation": {**place, "shows": text}, "verdict": verdict, "reason": text}
        for place, verdict in zip(places, verdicts, strict=True)
    ]
    cause: JsonValue = {
        "issue": text,
        "failure_mode": text,
        "severity": text,
        "explains": [text],
        "explanation": text,
        "basis": text,
    }
    fix: JsonValue = {
        "title": text,
        "change": f"{text}!",
        "example": text or "-",
        "addresses": text,
        "metric": text,
        "expected_impact": text,
        "verify": text,
        "if_it_fails": text,
        "is_reversible": False,
    }
    dangers: JsonValue = [{"reason": text, "match": text}]
    whole: JsonValue = {
        "status": text,
        "opinion": {
            "summary": text,
            "needed_data": [{"what": text, "why": text, "how": text}],
            "agreement": [{"id": text, "stance": text, "why": text}],
        },
        "causes": [
            {
                "cause": cause,
                "confidence": 0.4,
                "said": 0.9,
                "is_known": False,
                "evidence": checked,
                "against": [text, checked[2]],
                "notes": [text],
            }
        ],
        "quick_fixes": [{"text": text, "dangers": dangers}],
        "recommended_fixes": [{"fix": fix, "dangers": dangers}],
        "notes": [text],
    }
    return {
        "opinion": whole,
        "model": text,
        "host": text,
        "is_redacted": True,
        "text": text,
        "usage": {"input": 9, "output": 9},
        "looks": [text],
    }


def session_of(text: str) -> Session:
    """A session with the text wherever one can be."""
    said = text or "-"
    ref = EvidenceRef(kind=RefKind.LOG, ref=said, quote=text)
    sure = Confidence(value=0.5, basis=Basis.INFERENCE)
    step = ConfidenceChange(at=NOW, confidence=sure, reason=said, source=text)
    fix = SuggestedFix(change=said, example=text, expected_impact=text, verify=text,
                       if_it_fails=text, addresses=text)  # fmt: skip
    hypothesis = Hypothesis(
        id="H1", statement=said, cause="x", confidence=sure, evidence=(ref,), against=(ref,),
        history=(step, step), fixes=(fix,), explains=(said,), requests=(said,), run="R1",
        status=HypothesisStatus.OPEN, created=NOW,
    )  # fmt: skip
    result = BeforeAfter(
        at=NOW, before="R1", after="R2", outcome=Outcome.FAILED, summary=text,
        criteria=(CriterionResult(criterion=text, outcome=Outcome.FAILED, said=text),),
        changes=(MetricChange(name=text, axis=text, window=(0.0, 1.0), parts_at=1.0, needed=3),),
    )  # fmt: skip
    criterion = Criterion(metric=said, demand=Demand.FINITE)
    tried = Experiment(
        id="E1", hypothesis="H1", change=said, command="run", success=(criterion,),
        guards=(criterion,), status=ExperimentStatus.FAILED, run="R2", result=result,
        rollback=text, created=NOW,
    )  # fmt: skip
    planned = tried.model_copy(
        update={"id": "E2", "status": ExperimentStatus.PLANNED, "result": None, "command": said}
    )
    return Session(
        id="s",
        title=said,
        created=NOW,
        runs=(
            RunRef(id="R1", location=said, name=said, added=NOW),
            RunRef(id="R2", location=said, name=text, added=NOW),
        ),
        constraints=Constraints(
            facts={topic: Fact(value=said, source="log", evidence=(ref,)) for topic in Topic},
            timeline=(TimelineEntry(text=said, evidence=ref, source=text),),
        ),
        hypotheses=(hypothesis,),
        experiments=(tried, planned),
        marks={
            "logs": CheckMark(item="logs", state=MarkState.DONE, reason=text, evidence=(ref,)),
            "seeds": CheckMark(item="seeds", state=MarkState.WAIVED, reason=text),
        },
        notes=(Note(id="N1", at=NOW, text=said),),
        decisions=(Decision(id="D1", at=NOW + timedelta(1), text=said, because=text),),
        prevention=(Prevention(id="P1", text=said, owner=text),),
        diagnoses=(
            DiagnosisRecord(
                at=NOW, source="claude", run="R1", status=text, body={"root_causes": [{"id": text}]}
            ),
            DiagnosisRecord(at=NOW, source="claude", run="R2", status=text, body=opined(text)),
            DiagnosisRecord(
                at=NOW,
                source="claude",
                run="R2",
                status="replied",
                body={"question": said, "text": said, "looks": [text]},
            ),
            DiagnosisRecord(
                at=NOW,
                source="claude",
                run="R2",
                status="failed",
                body={"question": said, "error": {"message": text, "hint": text}},
            ),
        ),
        owner=text,
    )
