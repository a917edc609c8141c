"""The form of an experiment, filled in from a suggested fix and what the run logs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from enum import Enum

from .actions.base import clipped
from .model.criterion import DEFAULT_GUARD, DEFAULT_IMPROVEMENT, Criterion, Demand
from .model.experiment import Experiment, Variable
from .model.hypothesis import Hypothesis, SuggestedFix

MOST_GUARDS = 4


class Aim(Enum):
    """What gets better if a cause is removed, by the roles that would show it, the best first."""

    QUALITY = ("val/loss", "train/loss", "val/perplexity", "val/accuracy", "val/score",
               "train/accuracy", "reward", "test/loss")  # fmt: skip
    HELD_OUT = ("val/loss", "val/accuracy", "val/score", "test/loss", "test/accuracy", "train/loss")
    SPEED = ("throughput", "step_time", "data_time", "train/loss")
    MEMORY = ("memory", "train/loss", "val/loss")
    SURVIVAL = ("train/loss", "val/loss")
    """It no longer dies; nothing that it logs need become better."""


_DATA, _MODEL = Variable.DATA, Variable.MODEL
_OPTIMISER, _OTHER = Variable.OPTIMISER, Variable.OTHER
CAUSES: dict[str, tuple[Variable, Aim]] = {
    "bad_batch": (_DATA, Aim.QUALITY),
    "bad_config": (_OTHER, Aim.SURVIVAL),
    "bad_job_request": (_OTHER, Aim.SURVIVAL),
    "bad_path": (_OTHER, Aim.SURVIVAL),
    "batch_of_one": (_DATA, Aim.SURVIVAL),
    "batch_too_large": (_OTHER, Aim.SURVIVAL),
    "cancelled_by_person": (_OTHER, Aim.SURVIVAL),
    "class_imbalance": (_DATA, Aim.HELD_OUT),
    "code_bug": (_OTHER, Aim.SURVIVAL),
    "communication_failure": (_OTHER, Aim.SURVIVAL),
    "corrupt_labels": (_DATA, Aim.QUALITY),
    "curriculum_transition": (_DATA, Aim.QUALITY),
    "data_leakage": (_DATA, Aim.HELD_OUT),
    "data_pipeline_change": (_DATA, Aim.QUALITY),
    "dataloader_bottleneck": (_DATA, Aim.SPEED),
    "dead_relu": (_MODEL, Aim.QUALITY),
    "deadlock": (_OTHER, Aim.SURVIVAL),
    "device_shared": (_OTHER, Aim.SURVIVAL),
    "disk_quota": (_OTHER, Aim.SURVIVAL),
    "distribution_shift": (_DATA, Aim.HELD_OUT),
    "embedding_heavy": (_MODEL, Aim.MEMORY),
    "empty_input": (_DATA, Aim.SURVIVAL),
    "fragmentation": (_OTHER, Aim.SURVIVAL),
    "frozen_parameters": (_MODEL, Aim.QUALITY),
    "hardware_fault": (_OTHER, Aim.SURVIVAL),
    "host_memory_limit": (_OTHER, Aim.SURVIVAL),
    "incompatible_checkpoint": (_MODEL, Aim.SURVIVAL),
    "incompatible_environment": (_OTHER, Aim.SURVIVAL),
    "label_out_of_range": (_DATA, Aim.SURVIVAL),
    "lr_schedule": (_OPTIMISER, Aim.QUALITY),
    "lr_too_high": (_OPTIMISER, Aim.QUALITY),
    "lr_too_low": (_OPTIMISER, Aim.QUALITY),
    "memory_leak": (_OTHER, Aim.MEMORY),
    "missing_grad_clipping": (_OPTIMISER, Aim.QUALITY),
    "missing_zero_grad": (_OPTIMISER, Aim.QUALITY),
    "network_unreachable": (_OTHER, Aim.SURVIVAL),
    "node_failure": (_OTHER, Aim.SURVIVAL),
    "numerical_instability": (_MODEL, Aim.QUALITY),
    "objective_collapse": (_MODEL, Aim.QUALITY),
    "overcapacity": (_MODEL, Aim.HELD_OUT),
    "poor_init": (_MODEL, Aim.QUALITY),
    "precision_overflow": (_MODEL, Aim.QUALITY),
    "precision_underflow": (_MODEL, Aim.QUALITY),
    "preemption": (_OTHER, Aim.SURVIVAL),
    "replayed_data": (_DATA, Aim.QUALITY),
    "saturating_activations": (_MODEL, Aim.QUALITY),
    "seed_variance": (_OTHER, Aim.QUALITY),
    "sequential_training": (_DATA, Aim.HELD_OUT),
    "stale_optimizer_state": (_OPTIMISER, Aim.QUALITY),
    "time_limit": (_OTHER, Aim.SURVIVAL),
    "tracker_offline": (_OTHER, Aim.SURVIVAL),
    "undercapacity": (_MODEL, Aim.QUALITY),
    "unnormalized_inputs": (_DATA, Aim.QUALITY),
    "unseen_error": (_OTHER, Aim.SURVIVAL),
    "wrong_loss": (_MODEL, Aim.QUALITY),
    "zero_variance_head": (_MODEL, Aim.QUALITY),
}
"""Every root cause of the catalogue: what to vary to test it, and what would show it."""
_MAKES_NAN = frozenset({"numerical_instability", "precision_overflow"})
_NAN_FINDINGS = frozenset({"nan_loss", "nan_gradients", "nan_weights", "loss_scale_collapse"})
ENDINGS = frozenset({
    "checkpoint_mismatch", "checkpoint_missing", "config_error", "cuda_oom",
    "dataloader_worker_died", "ddp_unused_parameters", "device_assert", "device_mismatch",
    "disk_full", "dtype_mismatch", "empty_data", "environment_error", "exception", "host_oom",
    "index_out_of_range", "job_failed", "missing_file", "nccl_timeout", "network_error",
    "orchestration_error", "permission_denied", "rank_failure", "shape_mismatch",
    "slurm_cancelled", "slurm_node_fail", "slurm_preempted", "slurm_timeout",
})  # fmt: skip
"""Findings that tell what a run died of."""
_GUARDED = ("val/loss", "val/accuracy", "val/score", "test/loss", "test/accuracy", "throughput")


_SETTING = re.compile(r"(?P<name>[^\s>][^>]*?) (?P<old>\S+) -> (?P<new>\S*[^\s,;])(?: \([^()]*\))?")
"""`lr 0.1 -> 0.03`, with or without a remark behind it."""
_KINDS = (
    (r"(?i)early.?stop|stop(?:s|ping)? early|the checkpoint nearest|the last good checkpoint",
     _OTHER),
    (r"(?i)\baugment|^more data\b", _DATA),
    (r"(?i)^(?:\S*[._])?(?:learning_rate|lr|weight_decay|momentum|warm_?up|clip|max_grad_norm)\w*"
     r" \S+ -> [^,]*$", _OPTIMISER),
)  # fmt: skip
"""What a fix changes whatever it is a cure for, by its words."""
_SLOWER = re.compile(
    r"(?i)accumulat|checkpointing|recompute activations|offload|\bshard|"
    r"(?:halve|smaller|lower|reduce)\b.{0,20}\bbatch|batch.?size"
)
"""Fixes that pay for memory with speed."""


def variable_of(cause: str, fix: SuggestedFix | None = None) -> Variable:
    """What an experiment changes: by the words of its fix, else by the cause that it is about."""
    words = fix.change if fix is not None else ""
    told = next((kind for pattern, kind in _KINDS if re.search(pattern, words)), None)
    return told or CAUSES.get(cause, (_OTHER, Aim.QUALITY))[0]


def plan_for(
    hypothesis: Hypothesis,
    fix: SuggestedFix | None,
    id: str,  # noqa: A002 - what it is
    at: datetime,
    metrics: Sequence[str] = (),
) -> Experiment:
    """An experiment that tries a fix; `metrics` are the roles (or names) that the run logs."""
    cause = (fix.addresses if fix is not None else "") or hypothesis.cause
    success = _success(hypothesis, cause, metrics)
    targets = {criterion.metric for criterion in success}
    is_slower = fix is not None and _SLOWER.search(f"{fix.change} {fix.example}") is not None
    unguarded = {*targets, "throughput"} if is_slower else targets
    guards = [name for name in _GUARDED if name in metrics and name not in unguarded]
    return Experiment(
        id=id,
        hypothesis=hypothesis.id,
        change=_change(hypothesis, fix),
        variable=variable_of(cause, fix),
        command=fix.example if fix is not None else "",
        success=success,
        guards=tuple(
            Criterion(metric=name, demand=Demand.HOLDS, amount=DEFAULT_GUARD)
            for name in guards[:MOST_GUARDS]
        ),
        baseline=hypothesis.run,
        rollback=_rollback(fix),
        expected_impact=fix.expected_impact if fix is not None else "",
        verify=fix.verify if fix is not None else "",
        if_it_fails=fix.if_it_fails if fix is not None else "",
        created=at,
    )


def _change(hypothesis: Hypothesis, fix: SuggestedFix | None) -> str:
    if fix is not None and fix.change.strip():
        return fix.change
    return f"one change that shows whether it is so: {clipped(hypothesis.statement, 80)}"


def _rollback(fix: SuggestedFix | None) -> str:
    if fix is None or not fix.change.strip():
        return ""
    if not fix.reversible:
        return f"cannot be taken back: keep the checkpoint and the code from before ({fix.change})"
    setting = _SETTING.fullmatch(" ".join(fix.change.split()))
    if setting is not None:
        return f"{setting['name']} {setting['new']} -> {setting['old']}"
    return f"take back the change ({fix.change})"


def _success(hypothesis: Hypothesis, cause: str, metrics: Sequence[str]) -> tuple[Criterion, ...]:
    """What the run after the change must show; nothing where nothing is logged to show it by."""
    _, aim = CAUSES.get(cause, (_OTHER, Aim.QUALITY))
    has_nan = cause in _MAKES_NAN or bool(_NAN_FINDINGS & set(hypothesis.explains))
    if aim is Aim.MEMORY and ENDINGS & set(hypothesis.explains):
        aim = Aim.SURVIVAL
    # What became NaN was the training loss; an evaluation before that shows no difference.
    order = ("train/loss", *aim.value) if has_nan else aim.value
    target = next((role for role in order if role in metrics), "")
    if not target:
        return ()
    if aim is Aim.SURVIVAL or (aim is Aim.MEMORY and target != "memory"):
        return (Criterion(metric=target, demand=Demand.FINITE),)
    wanted = [Criterion(metric=target, demand=Demand.IMPROVES, amount=DEFAULT_IMPROVEMENT)]
    if has_nan:
        wanted += [
            Criterion(metric=name, demand=Demand.FINITE)
            for name in (target, "grad_norm")
            if name in metrics
        ]
    return tuple(wanted)
