"""Fixes for memory and input that several causes share, with the run's own values."""

from __future__ import annotations

from ..core.case import Case
from ..core.cause import Fix
from ..core.fixes import shown
from ..memory.impact import BATCH, STATES, impact


def smaller_batch(case: Case, addresses: str) -> Fix:
    """Halve the batch and accumulate, so that the training stays the same."""
    batch, accumulation = case.setting("batch_size"), case.setting("accumulation")
    size = batch.number if batch is not None else None
    times = accumulation.number if accumulation is not None else None
    if batch is not None and size and size >= 2:
        name = batch.path.rpartition(".")[2]
        change = f"{name} {shown(size)} -> {shown(size // 2)}"
        example = f"{name}: {shown(size // 2)}"
    else:
        change = "halve the batch per device"
        example = "batch_size = batch_size // 2"
    if accumulation is not None and times:
        name = accumulation.path.rpartition(".")[2]
        change += f" and {name} {shown(times)} -> {shown(times * 2)}"
        example += f", {name}: {shown(times * 2)}"
    else:
        change += ", with two accumulation steps per update"
        example += ", gradient_accumulation_steps: 2"
    return Fix(
        addresses=addresses,
        change=change,
        example=example,
        expected_impact="peak memory for activations falls by about half from the first step on; "
        f"the loss curve stays the same, a step takes 0-10 % longer{impact(case, *BATCH)}",
        verify="peak memory stays below 90 % of the device over one epoch with an evaluation",
        if_it_fails="halve once more; if a batch of 1 does not fit, the weights and the optimizer "
        "state are too large: shard or offload them",
        is_quick=True,
    )


def checkpoint_activations(case: Case, addresses: str) -> Fix:
    """Recompute activations instead of keeping them."""
    return Fix(
        addresses=addresses,
        change="recompute activations in the backward pass (gradient checkpointing)",
        example="model.gradient_checkpointing_enable()  # or torch.utils.checkpoint.checkpoint",
        expected_impact="memory for activations falls by 50-70 % from the first step on; a step "
        f"takes about 30 % longer{impact(case, 'checkpointing')}",
        verify="peak memory of the first 50 steps, before and after",
        if_it_fails="activations are not what fills the device: look at optimizer state and "
        "sequence length",
        is_quick=True,
    )


def lighter_state(case: Case, addresses: str) -> Fix:
    """Make weights and optimizer state smaller."""
    return Fix(
        addresses=addresses,
        change="keep less optimizer state per device: shard it, or use an 8-bit optimizer",
        example="FullyShardedDataParallel(model)  # or deepspeed zero stage 2",
        expected_impact="Adam's 8 bytes per parameter are divided by the number of devices (or by "
        f"four with 8 bits) from the first optimizer step on{impact(case, *STATES)}",
        verify="memory after the first optimizer step",
        if_it_fails="fall back to a smaller model or more devices",
        is_quick=True,
    )


def fewer_workers(case: Case, addresses: str) -> Fix:
    """Halve the data-loader workers, each of which is a copy of the process."""
    workers = case.setting("workers")
    count = workers.number if workers is not None else None
    change, example = "halve the number of data-loader workers", "num_workers = num_workers // 2"
    if workers is not None and count and count >= 1:
        name = workers.path.rpartition(".")[2]
        change = f"{name} {shown(count)} -> {shown(count // 2)}"
        example = f"{name}: {shown(count // 2)}"
    return Fix(
        addresses=addresses,
        change=change,
        example=example,
        expected_impact="host memory falls by about half of what the workers hold (each has its "
        "own prefetched batches and copies of Python objects), within the first epoch",
        verify="MaxRSS of the job stays below 80 % of its limit over one epoch",
        if_it_fails="the main process holds the data: memory-map it instead of loading it",
        is_quick=True,
    )


def map_data(addresses: str) -> Fix:
    """Leave the data on disk."""
    return Fix(
        addresses=addresses,
        change="memory-map the data instead of loading it, and keep samples in arrays rather than "
        "in Python lists",
        example='np.load("data.npy", mmap_mode="r")  # or datasets.load_from_disk(path)',
        expected_impact="host memory falls by the size of the data set times the number of "
        "processes that held it, from the start on",
        verify="resident memory after the first 100 steps, with and without",
        if_it_fails="profile with tracemalloc or memray what is held",
        is_quick=True,
    )
