"""Short ways from an example or a log to what is found in it."""

from __future__ import annotations

from mltd.analyzers.catalogue.examples import example_run
from mltd.analyzers.core.case import Case
from mltd.analyzers.core.cause import RootCause
from mltd.analyzers.core.finding import Finding
from mltd.analyzers.core.ranking import rank
from mltd.analyzers.core.registry import registry
from mltd.analyzers.core.view import RunView
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run


def run_of_log(text: str) -> Run:
    run = Run("log")
    run.is_over = True
    read_stream(run, "train.log", iter([text.encode()]))
    return run


def found(identity: str, run: Run | str) -> list[Finding]:
    """What one analyzer says about a run, or about an example."""
    view = RunView(example_run(run) if isinstance(run, str) else run)
    return list(registry().analyzers[identity].examine(view))


def cause(identity: str, run: Run | str) -> RootCause | None:
    """One cause, weighed against all findings of the run."""
    view = RunView(example_run(run) if isinstance(run, str) else run)
    findings = [f for analyzer in registry().analyzers.values() for f in analyzer.examine(view)]
    failed: list[str] = []
    ranked = rank(Case(view, findings), [registry().causes[identity]], failed)
    assert failed == []
    return ranked[0] if ranked else None
