"""code_bug: the program itself is wrong at the line that is named.

What it is: an exception that no input, setting or machine explains: shapes, types, devices or
    names that the code gets wrong.
Told apart by: an uncaught exception whose innermost own frame is in the user's code, and no
    sign of full memory, full disks, missing files or a wrong environment.
Try next: open the line; rerun two steps with one batch; compare with the last version that
    worked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis, Finding
from ..core.registry import cause
from ..errors.hypothesis import MessageCause
from ..resources.shortage import FAR


@cause
@dataclass(frozen=True)
class CodeBug(MessageCause):
    """Weighs what speaks for a fault in the code."""

    id: ClassVar[str] = "code_bug"
    explains: ClassVar[tuple[str, ...]] = (
        "exception",
        "shape_mismatch",
        "dtype_mismatch",
        "device_mismatch",
        "index_out_of_range",
        "device_assert",
        "empty_data",
        "config_error",
        "checkpoint_mismatch",
        "dataloader_worker_died",
        "ddp_unused_parameters",
        "rank_failure",
        "cuda_oom",
        "not_learning",
        "suspicious_metric",
        "nondeterminism",
    )
    basis: ClassVar[Basis] = Basis.RESEARCH

    def general_issue(self, case: Case) -> str:
        """The sentence if no message has its own."""
        return _sentence(case)

    def more_clues(self, case: Case) -> Iterator[Clue]:
        """An exception that nothing else explains; a process that ended without a word."""
        if (silent := _silent(case)) is not None:
            yield case.because(silent, _BY_EXIT.get(str(silent.details.get("signal")), 0.25))
        if (odd := _impossible_metric(case)) is not None:
            yield case.because(odd, 0.75)
        if (parted := _parted_replicas(case)) is not None:
            # Steps outside of the wrapper, or under no_sync, are the usual way to it.
            yield case.because(parted, 0.6)
        full = case.get("cuda_oom")
        if full is not None and full.details.get("pattern") == "absurd":
            # More than the whole device at once: a wrong shape, or a length that is squared.
            is_far = full.number("request") > FAR * full.number("total")
            yield case.clue(0.5 if is_far else 0.35, full.evidence[0])
        if (rewardless := _rewardless(case)) is not None:
            yield case.because(rewardless, 0.6)
        found = case.get("exception")
        if found is None or found.details.get("special") or found.details.get("rule"):
            return
        if found.number("on_purpose"):
            return
        if found.number("resource"):
            if not case.has(*_DEEPER):
                # Nothing measures what it tells of: then the code may be all that is wrong.
                yield case.because(found, 0.4)
            return
        if found.number("remoteness") >= 2:
            return
        if case.has(*_DEEPER) or _is_between(case):
            # The exception is how something else made itself felt.
            yield case.because(found, 0.2)
            return
        if found.number("crash"):
            yield case.because(found, 0.45)
            return
        kind = str(found.details.get("type", "")).rpartition(".")[2]
        if kind.endswith("LinAlgError"):
            yield case.because(found, 0.4)
            return
        plain = kind in _PLAIN and not _tells_what_it_lacks(kind, found)
        weight = 0.9 if plain else 0.75 if kind else 0.4
        # Without a frame of the program, a setting or a package may be what is wrong.
        is_told = plain and bool(found.number("is_first")) and bool(found.number("is_own"))
        yield case.clue(weight, found.evidence[0], states=is_told)
        if len(found.evidence) > 1 and found.number("is_own"):
            yield case.clue(0.3, found.evidence[1])

    def general_fixes(self, case: Case) -> Iterator[Fix]:
        """Open the line, reproduce it small, go back to what worked."""
        odd = _impossible_metric(case)
        if odd is not None and case.get("exception") is None:
            yield Fix(
                addresses=self.id,
                change="compute the metric by hand on one batch, next to the code that logs it",
                example="print((logits.argmax(-1) == labels).float().mean(), logged_accuracy)",
                expected_impact="both agree and lie between 0 and 1",
                verify="the metric moves with the loss of the same split",
                if_it_fails="the metric is right: then it is the loss that measures something else",
                is_quick=True,
            )
            return
        if _rewardless(case) is not None and case.get("exception") is None:
            yield Fix(
                addresses=self.id,
                change="play one episode by hand or by a script that must be paid, and print what "
                "each step returns, before and after every wrapper",
                example="obs, reward, done, *_ = env.step(good_action); print(reward)",
                expected_impact="the wrapper or the rule that swallows the reward is named in "
                "minutes; the mean reward then varies from episode to episode",
                verify="100 episodes of random actions have at least two different returns",
                if_it_fails="the reward is right but too rare to be met: shape it, or start "
                "episodes near the goal",
                is_quick=True,
            )
            return
        if _parted_replicas(case) is not None and case.get("exception") is None:
            yield Fix(
                addresses=self.id,
                change="let every rank step on the same gradients: call the wrapped model, leave "
                "no_sync() before the step, take the same number of batches on all ranks",
                example="dist.all_reduce(norm, op=dist.ReduceOp.MAX); assert norm == own_norm",
                expected_impact="the norm of the parameters is the same on all ranks again",
                verify="log it on each rank for 50 steps: equal to the last digit",
                if_it_fails="compare the gradients of one step: the first parameter that differs "
                "is the one that is left out of the exchange",
                is_quick=True,
            )
            return
        found = case.get("exception")
        where = str(found.details.get("said_where") or "") if found is not None else ""
        code = str(found.details.get("said_code") or "") if found is not None else ""
        said = str(found.details.get("said_quote") or "the exception") if found else "the exception"
        place = where or "the line that raised it"
        yield Fix(
            addresses=self.id,
            change=f"correct {place}" + (f": {code}" if code else "") + f" ({said[:120]})",
            example=f"breakpoint()  # before {place}",
            expected_impact="this exception is gone; training passes the step where it stopped",
            verify="run two steps on a small part of the data with the same config",
            if_it_fails="print type, shape, dtype and device of every value on that line",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="reproduce it small: one batch, one process, on the CPU",
            example="python train.py --max_steps 2 --num_workers 0   # CUDA_VISIBLE_DEVICES=",
            expected_impact="the traceback names the exact line within a minute",
            verify="the same exception at the same line",
            if_it_fails="if it does not appear, it depends on a sample, on several processes or "
            "on the GPU: add them back one at a time",
            is_quick=True,
        )
        yield Fix(
            addresses=self.id,
            change="compare with the last version of the code that worked",
            example="git diff GOOD_COMMIT -- ." + (f"   # {where}" if where else ""),
            expected_impact="the change that broke it is in a short list",
            verify="the old version passes the same two steps",
            if_it_fails="if the old version fails too, a package or the data has changed",
            is_quick=True,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """The code around the line."""
        found = case.get("exception")
        if (silent := _silent(case)) is not None:
            who = str(silent.details.get("who") or "the rank that failed first")
            yield (
                f"the output of {who} itself, from its last step on (torchrun --tee 3 --log-dir "
                "logs, or the Slurm file of that task): an exit code alone does not tell a bug "
                "from full memory, a lost connection or a faulty GPU"
            )
        elif found is not None and not found.details.get("said_where"):
            yield (
                "the whole traceback (stderr of the rank that failed first): without its frames "
                "a bug in the code cannot be told from bad data or a wrong environment"
            )


_PLAIN = frozenset(
    {
        "AttributeError",
        "NameError",
        "UnboundLocalError",
        "TypeError",
        "KeyError",
        "IndexError",
        "SyntaxError",
        "IndentationError",
        "ZeroDivisionError",
        "NotImplementedError",
        "RecursionError",
        "AssertionError",
        "ValueError",
        "UnicodeDecodeError",
    }
)
"""Exceptions that Python itself raises for faults in code."""


def _tells_what_it_lacks(kind: str, found: Finding) -> bool:
    """A library that says what it does not support; a method left empty says nothing."""
    said = str(found.details.get("said_quote", "")).partition(": ")[2]
    return kind == "NotImplementedError" and said not in ("", kind)


_BY_EXIT = {"SIGABRT": 0.2, "SIGSEGV": 0.2, "SIGFPE": 0.25, "SIGBUS": 0.1, "SIGILL": 0.1}
"""How often a process that only left its signal died of its own fault; else by exit code."""


def _is_between(case: Case) -> bool:
    """True if the exception tells of the connection to other processes, or of a broken GPU."""
    return any(
        finding.is_alarm and finding.details.get("kind") in ("communication", "hardware")
        for finding in case.all("rank_failure")
    )


def _silent(case: Case) -> Finding | None:
    """A process that a launcher reports as failed, and of which the log has nothing else."""
    crashed = case.get("exception")
    if crashed is not None and crashed.number("crash"):
        return None
    for finding in case.all("rank_failure"):
        is_bare = finding.details.get("kind") == "launcher" and not finding.number("has_own_error")
        is_ended = finding.details.get("signal") in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")
        if finding.is_alarm and is_bare and not is_ended:
            return finding
    return None


def _parted_replicas(case: Case) -> Finding | None:
    """Ranks that should hold the same weights and do not."""
    for finding in case.all("nondeterminism"):
        if finding.is_alarm and finding.details.get("kind") == "replicas":
            return finding
    return None


def _impossible_metric(case: Case) -> Finding | None:
    """A metric that nothing but the code that computes it can bring about."""
    broken = case.onset("nan_loss")
    for finding in case.all("suspicious_metric"):
        step = finding.first_step
        if broken is not None and step is not None and step >= broken:
            continue  # computed from outputs that had lost all measure already
        if finding.is_alarm and finding.details.get("kind") in ("range", "contradiction"):
            return finding
    return None


def _rewardless(case: Case) -> Finding | None:
    """An agent that never met another reward than the first."""
    found = case.get("not_learning")
    return found if found is not None and found.number("rewardless") else None


_DEEPER = (
    "loss_scale_collapse",
    "nan_loss",
    "nan_gradients",
    "nan_weights",
    "degenerate_variance",
    "cuda_oom",
    "host_oom",
    "disk_full",
    "nccl_timeout",
    "network_error",
    "dataloader_worker_died",
    "slurm_timeout",
    "slurm_preempted",
    "slurm_node_fail",
)
"""Findings that explain an exception better than a fault in the code does."""


def _sentence(case: Case) -> str:
    crashes = case.get(*CodeBug.explains[:-3])
    odd, parted = _impossible_metric(case), _parted_replicas(case)
    if crashes is None and parted is not None:
        return f"the ranks do not step on the same gradients: {parted.title}"
    if crashes is None and odd is not None:
        return f"a metric is computed wrongly: {odd.title}"
    if crashes is None and _rewardless(case) is not None:
        return "the environment's reward does not reach the agent, or its task never pays"
    found = case.get(*CodeBug.explains)
    if (silent := _silent(case)) is not None and found in (None, silent, case.get("exception")):
        return f"the program may have failed by itself, but says nothing of it: {silent.title}"
    crashed = case.get("exception")
    if crashed is not None and crashed.number("crash"):
        return f"compiled code crashed below Python, so no line is named: {crashed.title}"
    if found is None:
        return "the code is wrong"
    where = found.details.get("said_where")
    at = f" at {where}" if where else ""
    return f"the code{at} does what it must not: {found.details.get('said_quote') or found.title}"
