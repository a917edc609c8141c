"""orchestration_error: what should start or lead the job failed, not the training.

What it sees: rejected submissions (sbatch, qsub, bsub: account, partition, QOS, resources,
    dependencies that can never be met), tasks that could not be launched, pods that cannot be
    scheduled or pulled, and errors of Prefect, Airflow, Dask, submitit, Ray Tune, Hydra's
    launchers and W&B sweeps. Dask workers that die are counted, with the reason that the log
    gives: memory, the time limit of their jobs, a connection; those that end with their cluster
    are not.
Why it matters: nothing was trained, or nobody watches over what is; the training's own code is
    not to blame.
Fires on:
    log: sbatch: error: Batch job submission failed: Invalid account or partition combination
    log: TimeoutError: Only 0/4 workers arrived after 300s
    log: Warning  FailedScheduling  0/5 nodes are available: 5 Insufficient nvidia.com/gpu.
    log: 12345 gpu train anna PD 0:00 2 (DependencyNeverSatisfied)
    job: state=PENDING, reason=BadConstraints, reason_words=no node can ever give what it asks for
    log: 12:00:00.000 | ERROR | Flow run 'red-fox' - Finished in state Crashed('Execution was ...')
    log: distributed.scheduler - ERROR - Task fit-3 marked as failed because 4 workers died
Stays quiet:
    log: Submitted batch job 12345 | step 1 loss 2.0 | step 2 loss 1.9 | step 3 loss 1.8
    log: slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***
    log: srun: error: Timed out waiting for job step to complete
    log: distributed.nanny - INFO - Closing Nanny at 'tcp://10.0.0.3:33'. Reason: scheduler-close
Try next: correct the request (`sacctmgr show assoc user=$USER`, `sinfo -o '%P %l %G'`), submit a
    one-minute job with the same options, then the real one. For workers that die: the log and
    the memory of one worker's own job (`sacct -j JOB -o State,MaxRSS,ReqMem`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mltd.runs.event import Event, EventKind
from mltd.runs.failure import remoteness
from mltd.runs.state import RunState

from ..core.calibration import finding_confidence
from ..core.failure import failure_evidence
from ..core.finding import Basis, Finding, Severity
from ..core.registry import analyzer
from ..core.view import PlacedEvent, RunView
from .dask_workers import Workers, evidence, is_shutdown, sentence, workers
from .memo import first_of, open_events
from .prefect_runs import STOPPED, flow_end
from .refused_jobs import refused_job
from .verdicts import MESSAGE, verdict

_REJECTED = re.compile(
    r"(?i)not enough slots available|submission failed|"
    r"\b(?:failed|could not) (?:to )?submit|could not be submitted|"
    r"job not submitted|unable to run job|job rejected|slurm_load_jobs error|^qsub: |"
    r"neversatisfied|badconstraints|partitiontimelimit|requeued[ _]held|FailedSubmissionError|"
    r"error submitting job|Slurm: .{0,80}(?:invalid (?:account|partition|qos|generic|feature|"
    r"user|job|node|time|dependency|argument|number|gres|constraint)|unable to (?:allocate|create "
    r"step|confirm|contact|open|submit|resolve)|not available|violates|QOS|Assoc(?:Max|Grp)|"
    r"MaxSubmit|requested .{0,60}(?:invalid|busy|exceed)|authentication|credential|"
    r"can ?not be satisfied|more processors|socket timed out|exceeds|not permitted|access)"
)
_LAUNCH = re.compile(
    r"(?i)Slurm: .{0,80}(?:launch failed|task launch|temporarily (?:disabled|unable))|"
    r"back-off|backoff\b|BackoffLimit|errimagepull|error from server \(|cluster failed to start|"
    r"hydra/launcher|timed out trying to connect to (?:tcp|tls)://|only \d+/\d+ workers arrived|"
    r"command exited with non-zero exit code.{0,300}(?:sbatch|qsub|bsub)|"
    r"was unable to (?:launch the specified application|reliably start)|"
    r"unable to start a daemon on the local node"
)
_PENDING = re.compile(
    r"(?i)FailedScheduling|cannot be scheduled right now|can fulfill resource request|"
    r"nodes are available: |insufficient nvidia"
)
_LED = re.compile(
    r"(?i)executor reports task instance|zombie job|submitted job triggered|killedworker|"
    r"crash detected!|finished in state (?:failed|crashed|timedout)|as crashed|"
    r"marking task as failed|killing sweep|trials did not complete|did not send heartbeats|"
    r"task failed with exception|for flow run .{1,120} exited with status code|"
    r"flow run process (?:exited|could not)|retries are exhausted|"
    r"^\w+\.pl: (?:\d+ / \d+|job|probably) failed"
)
_TYPES = re.compile(
    r"^(?:prefect|airflow|submitit|dask_jobqueue|distributed|ray\.tune|kubernetes|kfp|sagemaker|"
    r"hydra\.(?:errors\.HydraException|plugins)|hydra_plugins|flytekit|metaflow|luigi|dagster)\b|"
    r"(?:TuneError|UncompletedJobError|FailedJobError|FailedSubmissionError|AirflowException|"
    r"KilledWorker|ScannerError\.Launcher)$"
)
_CLOSED = re.compile(r"(?:CommClosedError|StreamClosedError|CancelledError|StopAsyncIteration)$")
"""What the parts of a Dask cluster say to each other when it is closed, too."""
_ENVIRONMENT = re.compile(r"(?i)^(?!.*launch failed).*(?:execve|no such file|module|permission)")


@analyzer
@dataclass(frozen=True, slots=True)
class OrchestrationError:
    """Report the first thing that the orchestration could not do."""

    id: ClassVar[str] = "orchestration_error"
    roles: ClassVar[tuple[str, ...]] = ()
    events: ClassVar[tuple[str, ...]] = ("error", "exception", "warning", "scheduler")

    def examine(self, view: RunView) -> Iterator[Finding]:
        """Rejections weigh more than reports about a job that failed by itself."""
        if (refused := refused_job(view, self.id)) is not None:
            yield refused
            return
        kinds = (EventKind.ERROR, EventKind.EXCEPTION, EventKind.WARNING, EventKind.SCHEDULER)
        found = [(p, kind) for p in view.events_of(*kinds) if (kind := _kind(p.event))]
        lost = workers(view)
        found = [one for one in found if not _is_farewell(view, one[0])]
        if found:
            order = ("rejected", "launch", "led", "pending")
            placed, kind = min(found, key=lambda one: (order.index(one[1]), _place(*one)))
            if kind != "led" or lost is None or placed not in lost.events:
                yield self._report(view, placed, kind, [p for p, _ in found])
                return
        if lost is not None and not is_shutdown(lost):
            yield self._lost_workers(view, lost)

    def _report(
        self, view: RunView, placed: PlacedEvent, kind: str, found: list[PlacedEvent]
    ) -> Finding:
        event = placed.event
        what = {
            "rejected": "the job was not accepted",
            "launch": "the job could not be started",
            "pending": "the job waits for resources that it cannot get",
            "led": "the orchestration reports a failure",
        }[kind]
        ended = flow_end(event)
        title, root = f"{what}: {event.title}", ""
        if ended is not None:
            title, root = ended.sentence, ended.root
            count = _failed_tasks(found)
            if ended.is_flow and count:
                title += f" (after {count} task run{'s' if count > 1 else ''} that failed)"
        severity = _severity(view, placed, kind, found)
        if root == STOPPED and severity is Severity.WARNING and view.state is RunState.FINISHED:
            severity = Severity.INFO
        return Finding(
            id=self.id,
            title=title[:300],
            severity=severity,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=tuple(
                dict.fromkeys(
                    [failure_evidence(placed)]
                    + [p.evidence() for p in found[:3] if p.event is not event]
                )
            ),
            first_step=event.step,
            details={"kind": kind, "root": root},
        )

    def _lost_workers(self, view: RunView, lost: Workers) -> Finding:
        """How many Dask workers were lost, since when, why, and what was given up for it."""
        telling = [p for p in lost.events if p.event.step is not None]
        first = min((p.event.step or 0.0 for p in telling), default=None)
        is_open = view.state is not RunState.FINISHED
        is_alarm = is_open and (lost.is_grave or view.state is RunState.FAILED)
        return Finding(
            id=self.id,
            title=sentence(lost, first)[:300],
            severity=Severity.WARNING if is_alarm else Severity.INFO,
            confidence=finding_confidence(Basis.OBSERVATION, 0.9),
            basis=Basis.OBSERVATION,
            evidence=evidence(lost),
            first_step=first,
            details={
                "kind": "lost",
                "root": lost.root,
                "system": "dask",
                "workers": float(lost.lost),
                "is_killed": float("SIGKILL" in lost.signals),
            },
        )


def _is_farewell(view: RunView, placed: PlacedEvent) -> bool:
    """True for connections that were cut after the run had finished: the cluster was closed."""
    return _CLOSED.search(placed.event.exception) is not None and any(
        other.source is placed.source and other.event.line < placed.event.line
        for other in view.events_of(EventKind.FINISHED)
    )


def _failed_tasks(found: list[PlacedEvent]) -> int:
    """How many task runs are said to have ended badly; each says so once."""
    ends = [p.event for p in found if (e := flow_end(p.event)) is not None and not e.is_flow]
    return sum(event.count for event in ends if "Finished in state" in event.text)


def _place(placed: PlacedEvent, kind: str) -> tuple[bool, int]:
    """Flows are reported rather than the tasks in them; else the first."""
    ended = flow_end(placed.event) if kind == "led" else None
    return ended is not None and not ended.is_flow, placed.event.line


def _kind(event: Event) -> str:
    said = event.title
    if event.kind is EventKind.SCHEDULER:
        return "rejected" if _REJECTED.search(said) else ""
    if event.kind is EventKind.WARNING:
        return "pending" if _PENDING.search(said) else ""
    if event.kind is EventKind.EXCEPTION:
        said = f"{event.exception}: {event.message[:1000]}"
    if _ENVIRONMENT.search(said) and not _REJECTED.search(said):
        return ""
    if _REJECTED.search(said):
        return "rejected"
    if _LAUNCH.search(said):
        return "launch"
    if _LED.search(said) or (event.exception and _TYPES.search(event.exception)):
        return "led"
    return ""


def _severity(view: RunView, placed: PlacedEvent, kind: str, found: list[PlacedEvent]) -> Severity:
    has_metrics = any(True for _ in view.all_curves())
    if kind == "pending":
        return Severity.INFO if has_metrics else Severity.WARNING
    if not any(placed.event is other.event for other in open_events(view)):
        return Severity.INFO
    ended = verdict(view)
    if ended is not None and ended.authority >= MESSAGE:
        return Severity.INFO
    if kind == "led":
        first = first_of(view)
        known = {id(p.event) for p in found}
        is_effect = first is not None and id(first.event) not in known
        if (is_effect and first is not None and remoteness(first.event) == 0) or placed.event.chain:
            return Severity.INFO
        return Severity.WARNING
    return Severity.WARNING if has_metrics else Severity.CRITICAL
