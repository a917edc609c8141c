"""Fixes that the causes of this family share, made concrete with the run's own values."""

from __future__ import annotations

from mltd.runs.roles import normalise

from ..core.case import Case
from ..core.cause import Fix
from ..core.settings_lookup import Setting
from .course import course
from .progress import at_risk, clock, last_step, pace, remaining_steps, spoken, time_limit

_SAVE = (
    "save steps", "save interval", "save every", "save freq", "checkpoint interval",
    "checkpoint every", "every n train steps", "save frequency", "checkpoint freq", "save iters",
    "ckpt freq", "ckpt interval", "save interval updates", "checkpoint steps", "save epochs",
    "save period",
)  # fmt: skip
HALF_AN_HOUR = 1800.0


def ask_for_record(case: Case) -> str:
    """The scheduler's own record tells all ends from outside apart."""
    found = [f.details.get("job") for f in case.findings if f.details.get("job")]
    return (
        f"`sacct -j {found[0] if found else 'JOB'} --format=JobID,State%30,ExitCode,Elapsed,"
        "Timelimit,Reason`: TIMEOUT means time_limit, PREEMPTED preemption, NODE_FAIL "
        "node_failure, OUT_OF_MEMORY host_memory_limit, `CANCELLED by UID` a person"
    )


def save_setting(case: Case) -> Setting | None:
    """The run's own setting for how often it saves."""
    for setting in case.view.settings:
        leaf = normalise(setting.path.rpartition(".")[2])
        if leaf in _SAVE and (setting.number or 0) > 0:
            return setting
    return None


def save_more_often(case: Case, addresses: str) -> Fix:
    """A checkpoint at least every half hour, by the run's own speed."""
    seconds, risk, setting = step_seconds(case), at_risk(case.view), save_setting(case)
    limit = time_limit(case.view)
    period = min(HALF_AN_HOUR, 0.1 * limit.seconds) if limit is not None else HALF_AN_HOUR
    often = "half an hour" if period == HALF_AN_HOUR else spoken(period)
    steps = max(1.0, period / seconds) if seconds else 0.0
    number = setting.number if setting is not None else None
    if setting is not None and number:
        wanted = min(number / 2, steps or number / 2)
        change = f"{setting.path} {number:g} -> {max(1.0, wanted):.0f}"
        example = f"{setting.path}: {max(1.0, wanted):.0f}"
    elif steps:
        change = f"save a checkpoint every {steps:.0f} steps (about {often})"
        example = f"save_steps: {steps:.0f}"
    else:
        change = f"save a checkpoint at least every {often.replace('half an', 'half')}"
        example = f"if time.monotonic() - last_save > {period:.0f}: save_checkpoint()"
    lost = f"{risk.steps:.10g} steps" if risk.steps else "everything since the last checkpoint"
    return Fix(
        addresses=addresses,
        change=change,
        example=example,
        expected_impact=f"the next end from outside costs {often} at most, not {lost}",
        verify="the newest checkpoint is never older than the interval; a run resumed from it "
        "goes on at the loss where it stopped",
        if_it_fails="if saving takes more than 5 % of the time, save asynchronously or shard it",
        is_quick=True,
    )


def longer_limit(case: Case, addresses: str) -> Fix:
    """Ask for the time that the rest needs."""
    view = case.view
    speed, rest, limit = pace(view), remaining_steps(view), time_limit(view)
    needed = rest * (step_seconds(case) or 0.0) if rest else 0.0
    if limit is not None and needed:
        wanted = max(limit.seconds, needed * 1.2)
        change = (
            f"{limit.name} {clock(limit.seconds)} -> {clock(wanted)} for the remaining "
            f"{rest:.10g} steps"
        )
    elif needed:
        wanted = needed * 1.2
        change = f"resume with --time={clock(wanted)}: {rest:.10g} steps at {speed_of(case)} a step"
    else:
        known = limit.seconds if limit is not None else speed.elapsed if speed is not None else 0.0
        wanted = 2 * known
        shown = f" ({clock(known)} -> {clock(wanted)})" if known else ""
        change = f"resume with twice the time limit{shown}"
    return Fix(
        addresses=addresses,
        change=change,
        example=f"sbatch --time={clock(wanted) if wanted else 'D-HH:MM:SS'} job.sh",
        expected_impact="the remaining steps finish within one job"
        + (f", in about {spoken(needed)}" if needed else ""),
        verify="`squeue -j JOB -o '%L'` shows more time left than remaining steps x step time",
        if_it_fails="if the partition allows no longer job, chain jobs: "
        "sbatch --dependency=singleton",
        is_quick=True,
    )


def end_workers_early(addresses: str) -> Fix:
    """Let Dask workers leave before their jobs are ended."""
    return Fix(
        addresses=addresses,
        change="let each Dask worker leave a few minutes before the time limit of its job",
        example="SLURMCluster(walltime='01:00:00', worker_extra_args=['--lifetime', '55m', "
        "'--lifetime-stagger', '4m'])",
        expected_impact="results are handed over before a job ends; no task is repeated for it",
        verify="the workers' logs end with `Closing worker gracefully`, not with TIME LIMIT",
        if_it_fails="give the tasks less work each, so that one fits into what is left of a job",
        is_quick=True,
    )


def step_seconds(case: Case) -> float | None:
    """Seconds per step, pauses included where they are known."""
    way, speed = course(case.view), pace(case.view)
    if way is not None and way.axis == "step" and way.seconds > 0:
        return way.seconds
    return speed.seconds_per_step if speed is not None and speed.seconds_per_step > 0 else None


def speed_of(case: Case) -> str:
    """Seconds per step in words."""
    seconds = step_seconds(case)
    return spoken(seconds) if seconds is not None else "its speed"


def extend_running(case: Case, addresses: str) -> Fix | None:
    """Have the limit of a job that still runs raised; only operators can."""
    job, way, limit = case.view.job, course(case.view), time_limit(case.view)
    if job is None or not job.is_running or way is None or limit is None:
        return None
    gone = limit.seconds - (job.time_left or 0.0)
    wanted = clock(max(limit.seconds, gone + 1.2 * way.needed))
    return Fix(
        addresses=addresses,
        change=f"ask the cluster's operators for a longer limit of job {job.id} while it runs: "
        f"{clock(limit.seconds)} -> {wanted}",
        example=f"scontrol update JobId={job.id} TimeLimit={wanted}   # operators only",
        expected_impact=f"the remaining {way.rest:.10g} {way.axis}s finish in this job, in about "
        f"{spoken(way.needed)}",
        verify=f"`squeue -j {job.id} -o '%l %L'` shows the new limit and the time left",
        if_it_fails="if it cannot be raised, let it save before the limit and resume in a new job",
        is_quick=True,
    )


def signal_before_end(addresses: str) -> Fix:
    """Let the scheduler warn the job, and let the job save."""
    return Fix(
        addresses=addresses,
        change="have the job signalled 5 minutes before its end, save then, and requeue",
        example="#SBATCH --signal=USR1@300 --requeue\n"
        "signal.signal(signal.SIGUSR1, lambda *_: trainer.request_save())",
        expected_impact="lost work falls from the whole checkpoint interval to below one step",
        verify="`scancel --signal=USR1 JOB` writes a checkpoint while the job goes on",
        if_it_fails="the signal reaches the batch shell only: use --signal=B:USR1@300 with a trap, "
        "or start the training with exec",
        is_quick=True,
    )


def resume(case: Case, addresses: str) -> Fix:
    """Go on from the last checkpoint."""
    risk, step = at_risk(case.view), last_step(case.view)
    if risk.last_saved is not None:
        change = f"resume from the checkpoint of step {risk.last_saved:.10g}"
        cost = f"{risk.steps:.10g} steps are done again"
    else:
        change = "resume from the newest checkpoint (the log reports none: look for one first)"
        cost = f"up to {step:.10g} steps are done again" if step else "little was lost"
    path = risk.saved.event.message if risk.saved is not None else ""
    return Fix(
        addresses=addresses,
        change=change,
        example=f"--resume {path}" if path else "--resume latest",
        expected_impact=f"the loss goes on at its last value within 10 steps; {cost}",
        verify="the first losses after the restart lie on the curve from before",
        if_it_fails="if the loss jumps, optimizer, scheduler or sampler state was not restored",
        is_quick=True,
    )


def exclude_node(addresses: str, node: str) -> Fix:
    """Start again elsewhere."""
    name = node or "NODE"
    where = node or "the node that failed (sacct -j JOB -o NodeList)"
    return Fix(
        addresses=addresses,
        change=f"start again without {where}",
        example=f"sbatch --exclude={name} job.sh",
        expected_impact="the run passes the step at which it died, in the first attempt",
        verify=f"`squeue -j JOB -o '%N'` does not list {name}, and training passes that step",
        if_it_fails="if it dies on other nodes, too, the node is not the cause: read the first "
        "rank's own error",
        is_quick=True,
    )


def flight_recorder(addresses: str) -> Fix:
    """Find out which rank did not come."""
    return Fix(
        addresses=addresses,
        change="record the collectives, and see which rank did not enter the one that timed out",
        example="export TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 "
        "TORCH_DISTRIBUTED_DEBUG=DETAIL NCCL_DEBUG=INFO",
        expected_impact="the next timeout names the rank and the line of code within one timeout",
        verify="the dump lists the last collective of every rank; one of them stands elsewhere",
        if_it_fails="`py-spy dump --pid PID` on every rank while it hangs shows where each waits",
        is_quick=True,
    )


def raise_timeout(addresses: str, seconds: float | None) -> Fix:
    """Allow the slow phase the time that it takes."""
    wanted = max(3600.0, 3 * seconds) if seconds else 3600.0
    before = f"{spoken(seconds)} -> " if seconds else ""
    return Fix(
        addresses=addresses,
        change=f"process-group timeout {before}{spoken(wanted)} if one rank is only slow",
        example=f"init_process_group(..., timeout=timedelta(seconds={wanted:.0f}))",
        expected_impact="the run gets through the slow phase; a true deadlock only dies later",
        verify="the next step after that phase is logged",
        if_it_fails="if it times out again, a rank never comes: find it with the flight recorder",
        is_quick=True,
    )
