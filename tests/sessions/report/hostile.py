"""Texts that would like to be markup, and a session that has one of them in every field."""

from __future__ import annotations

from datetime import timedelta

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
        ),
        owner=text,
    )
