"""bad_job_request: the job asks for what the scheduler does not give: account, queue, time, GPUs.

What it is: options of the submission are wrong, exceed a limit, or depend on a job that failed.
Told apart by: the scheduler's own refusal, before anything was trained. If the scheduler itself
    cannot be reached, communication_failure is the cause.
Try next: correct the part that the message names, then test with a job of one minute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause

_UNREACHABLE = re.compile(r"(?i)unable to contact|connect|socket timed out|controller")


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a request: how messages complain about it, and how to ask again."""

    name: str
    pattern: re.Pattern[str]
    change: str
    example: str
    verify: str


_PARTS = (
    _Part(
        "account",
        re.compile(r"(?i)account|assoc|project|\bACL\b|unauthorized|permitted|access"),
        "give an account that may use this partition",
        "sbatch --account=ACCOUNT --partition=PARTITION job.sh",
        "`sacctmgr show assoc user=$USER format=account,partition,qos` lists it",
    ),
    _Part(
        "time limit",
        re.compile(r"(?i)time ?limit|walltime|wallduration|MaxWall"),
        "ask for no more time than the partition or QOS allows",
        "sbatch --time=$(sinfo -h -p PARTITION -o %l) job.sh",
        "`sinfo -o '%P %l'` shows the longest time of every partition",
    ),
    _Part(
        "dependency",
        re.compile(r"(?i)depend"),
        "submit again without the dependency that failed, or with afterany",
        "sbatch --dependency=afterany:JOB job.sh",
        "`squeue -j JOB -o '%r'` no longer reads DependencyNeverSatisfied",
    ),
    _Part(
        "image",
        re.compile(r"(?i)image|container|back-?off"),
        "correct the image's name and tag, or the program that it starts",
        "kubectl describe pod POD; kubectl logs POD --previous",
        "the pod reaches the state Running and stays there",
    ),
    _Part(
        "output path",
        re.compile(r"(?i)output file|work directory"),
        "write the output to a folder that exists on the compute nodes and is writable there",
        "mkdir -p logs; sbatch --chdir=$PWD --output=logs/%j.out job.sh",
        "the log file exists as soon as the job runs",
    ),
    _Part(
        "quota",
        re.compile(r"(?i)qos|quota|exceed|maximum|MaxSubmit|violates"),
        "ask for less at a time, or wait until other jobs of yours are through",
        "sbatch --nodes=1 --gres=gpu:1 job.sh",
        "`sacctmgr show qos format=name,maxtrespu,maxsubmitpu` shows the limits",
    ),
    _Part(
        "partition",
        re.compile(r"(?i)partition|queue"),
        "name a partition (queue) that exists and is open to you",
        "sbatch --partition=PARTITION job.sh",
        "`sinfo -s` lists it as up",
    ),
    _Part(
        "request for resources",
        re.compile(
            r"(?i)gres|generic resource|node configuration|gpu|memory|cpu|constraint|feature|"
            r"processors|resource|nodes are available|workers arrived"
        ),
        "ask for GPUs, CPUs and memory that one node type of the partition has",
        "sbatch --gres=gpu:1 --cpus-per-task=8 --mem=32G job.sh",
        "`sinfo -o '%P %G %c %m'` shows a node type with at least that much",
    ),
)


@cause
@dataclass(frozen=True, slots=True)
class BadJobRequest:
    """Weighs what the scheduler said about the request."""

    id: ClassVar[str] = "bad_job_request"
    explains: ClassVar[tuple[str, ...]] = ("orchestration_error",)
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """A refusal that names its reason states it."""
        for finding in case.all("orchestration_error"):
            kind = finding.details.get("kind")
            if kind in ("led", "lost") or _UNREACHABLE.search(finding.title):
                continue
            is_stated = kind == "rejected" and bool(_wrong_parts(finding.title))
            yield case.clue(0.92 if is_stated else 0.6, finding.evidence[0], states=is_stated)

    def issue(self, case: Case) -> str:
        """One sentence with the part that is wrong."""
        finding = case.get("orchestration_error")
        parts = _wrong_parts(finding.title) if finding is not None else []
        return f"the job's {parts[0].name if parts else 'request'} was not accepted"

    def fixes(self, case: Case) -> Iterator[Fix]:
        """The part that was complained about, then a small job with the same options."""
        finding = case.get("orchestration_error")
        for part in _wrong_parts(finding.title) if finding is not None else []:
            yield Fix(
                addresses=self.id,
                change=part.change,
                example=part.example,
                expected_impact=f"the {part.name} is accepted and the job gets a number at once",
                verify=part.verify,
                if_it_fails="ask the cluster's operators, with the message as it stands",
                is_quick=True,
            )
        yield Fix(
            addresses=self.id,
            change="test the same options with a job of one minute before the real one",
            example="sbatch --test-only job.sh; srun --time=00:01:00 hostname",
            expected_impact="a wrong option shows within a minute, not after the wait in the queue",
            verify="it prints a start time, or the name of a node",
            if_it_fails="take options away one by one until it is accepted",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="take the options from a job of yours that ran on this cluster",
            example="sacct -u $USER -S now-30days -s COMPLETED "
            "-o JobID,Account,Partition,QOS,ReqTRES%60,Timelimit",
            expected_impact="a request that was accepted before is accepted again at once",
            verify="the job is listed as pending or running, with a usual reason",
            if_it_fails="if nothing of yours ran before, ask for the account's rights",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What the scheduler knows about the request."""
        yield (
            "the submission's options and `scontrol show job JOB` (Reason=...): tells a wrong "
            "request from a full cluster and from a scheduler that cannot be reached"
        )


def _wrong_parts(said: str) -> list[_Part]:
    return [part for part in _PARTS if part.pattern.search(said)]
