"""incompatible_environment: packages, drivers or the machine do not fit the program.

What it is: missing or mismatched packages, compiled parts for other versions, old drivers, no
    GPU, containers with too little shared memory, shells without the environment.
Told apart by: the failure comes at import, at the first GPU call or in the loader, before or
    independent of any value of the model; the same code runs elsewhere.
Try next: pin the set of versions that works; check it on a compute node before the job is
    queued.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..errors.hypothesis import MessageCause


@cause
@dataclass(frozen=True)
class IncompatibleEnvironment(MessageCause):
    """Weighs what speaks for the environment."""

    id: ClassVar[str] = "incompatible_environment"
    explains: ClassVar[tuple[str, ...]] = (
        "environment_error",
        "dataloader_worker_died",
        "device_assert",
        "checkpoint_mismatch",
        "config_error",
        "permission_denied",
        "network_error",
        "exception",
        "job_failed",
        "rank_failure",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        return "packages, drivers or the machine do not fit the program"

    def more_clues(self, case: Case) -> Iterator[Clue]:
        """A crash below Python, before or without an exception; a command that was not found."""
        failed = case.get("job_failed")
        if failed is not None and failed.is_alarm:
            is_missing = failed.number("exit_code") in (126.0, 127.0)
            yield case.because(failed, 0.8 if is_missing else 0.2)
        for finding in case.all("rank_failure"):
            is_silent = finding.is_alarm and not finding.number("has_own_error")
            is_bare = is_silent and finding.details.get("kind") == "launcher"
            weight = {"SIGILL": 0.45, "SIGSEGV": 0.2, "SIGABRT": 0.15}.get(
                str(finding.details.get("signal")), 0.0
            )
            if is_bare and weight:
                yield case.because(finding, weight)
        found = case.get("exception")
        if found is not None and found.number("crash"):
            is_alone = all(
                f.id in ("exception", "rank_failure") and f.details.get("kind") != "communication"
                for f in case.findings
            )
            yield case.because(found, 0.45 if is_alone else 0.15)

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Look at the environment as the job has it."""
        yield Fix(
            addresses=self.id,
            change="compare the environment as the job sees it with one that works",
            example="srun python -m torch.utils.collect_env > env.txt; pip freeze >> env.txt",
            expected_impact="the package or driver that differs is in a short list",
            verify="the first training step runs in the corrected environment",
            if_it_fails="run the same command in a container of a known version",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """Versions."""
        yield (
            "the output of `python -m torch.utils.collect_env` from a compute node: tells a "
            "mismatch of versions or driver from a fault in the code"
        )
