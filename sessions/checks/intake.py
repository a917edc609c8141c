"""Phase 1: logs, metrics, configuration, seeds, hardware, revision, baseline."""

from __future__ import annotations

from ..facts.gathered import NO_TARGET, Seen, SeenLog
from ..model.constraints import Fact, Topic
from ..model.evidence import EvidenceRef, RefKind
from ..model.run_ref import RunPart
from ..model.session import Session
from .look import Look, counted, done, lacking, some

FEW_SETTINGS = 3
"""Fewer are no configuration that one could run again."""


def logs(session: Session, seen: Seen | None) -> Look:
    """A text that the run itself has written."""
    if seen is None:
        return lacking("no run was looked at yet: open the run of the incident")
    read = [log for log in seen.logs if log.lines and _is_told(log)]
    if read:
        lines = sum(log.lines for log in read)
        said = f"{counted(len(read), 'log')}, {counted(lines, 'line')}: "
        refs = [
            EvidenceRef(kind=RefKind.LOG, ref=f"{log.name}:1", quote=counted(log.lines, "line"))
            for log in read[:4]
        ]
        return done(said + some([log.name for log in read]), *refs)
    names = some([log.name for log in seen.logs])
    if seen.logs and not any(log.lines for log in seen.logs):
        return lacking(f"nothing is written in {names} yet: wait for it, or open another log")
    if seen.logs:
        return lacking(f"only metrics were opened ({names}): add the run's standard output")
    return lacking("the run has no log: open its standard output, or the file that it is kept in")


def _is_told(log: SeenLog) -> bool:
    """True for what a run says; records of metrics count only where the log itself is made so."""
    return log.format == "text" or (log.format == "jsonl" and "log" in log.name.casefold())


def metrics(session: Session, seen: Seen | None) -> Look:
    """Numbers over the training."""
    if seen is None:
        return lacking("no run was looked at yet: open the run of the incident")
    if seen.metric_count:
        names = [metric.name for metric in seen.metrics]
        said = f"{counted(seen.metric_count, 'metric')}, {counted(seen.points, 'point')}: "
        refs = [
            EvidenceRef(kind=RefKind.SERIES, ref=metric.name, quote=counted(metric.points, "point"))
            for metric in seen.metrics[:3]
        ]
        return done(said + some(names), *refs)
    return lacking(
        "no metric was found in the run: add metrics.csv, an event file, or log the loss"
    )


def configs(session: Session, seen: Seen | None) -> Look:
    """Settings, from a file or from what the log prints."""
    if seen is None:
        return lacking("no run was looked at yet: open the run of the incident")
    if seen.settings >= FEW_SETTINGS:
        source = some(seen.config_files) or "the log"
        said = f"{counted(seen.settings, 'setting')} from {source}"
        return done(said, EvidenceRef(kind=RefKind.CONFIG, ref="config", quote=said))
    found = f"only {counted(seen.settings, 'setting')} were" if seen.settings else "no setting was"
    return lacking(
        f"{found} found: put config.yaml beside the log and open the run again, or let the "
        "training print its settings"
    )


def seeds(session: Session, seen: Seen | None) -> Look:
    """A fact, or settings that are seeds."""
    if (fact := session.constraints.facts.get(Topic.SEEDS)) is not None:
        return _known(fact)
    if seen is not None and seen.seeds:
        names = [seed.partition(" = ")[0] for seed in seen.seeds]
        refs = [EvidenceRef(kind=RefKind.CONFIG, ref=f"config:{name}") for name in names]
        return done(some(seen.seeds), *refs)
    return lacking("neither log nor config states a seed: answer the question about seeds")


def hardware(session: Session, seen: Seen | None) -> Look:
    """A fact that names what it ran on; how many processes there were is none."""
    fact = session.constraints.facts.get(Topic.HARDWARE)
    if fact is not None and (fact.is_complete or not fact.is_prefilled):
        return _known(fact)
    if fact is not None:
        return lacking(f"which accelerators, and how many? The log only says: {fact.value}")
    return lacking("the log does not say what it ran on: answer the question about hardware")


def revision(session: Session, seen: Seen | None) -> Look:
    """An answer of a person: a log may name the commit, never what was new in it."""
    fact = session.constraints.facts.get(Topic.REVISION)
    if fact is not None and not fact.is_prefilled:
        return _known(fact)
    if fact is not None:
        return lacking(f"{fact.value} is known: say what was new in it")
    return lacking("no commit stands in log or config: say which code ran, and what was new in it")


def baseline(session: Session, seen: Seen | None) -> Look:
    """A stated target, or a run that did what was expected; a planned length is neither."""
    runs = [run for run in session.runs if run.part is RunPart.BASELINE]
    if runs:
        return done(f"compared with {some([run.label for run in runs])}")
    fact = session.constraints.facts.get(Topic.TARGETS)
    if fact is not None and not (fact.is_prefilled and fact.value.startswith(NO_TARGET)):
        return _known(fact)
    known = ""
    if fact is not None and (rest := fact.value.removeprefix(NO_TARGET).strip("; ")):
        known = f" (the config only says: {rest})"
    return lacking(f"no target is known{known}: state one, or add a run that did well as baseline")


def _known(fact: Fact) -> Look:
    said = f"read in the {fact.source}" if fact.is_prefilled else "stated by a person"
    return done(f"{fact.value} ({said})", *fact.evidence)
