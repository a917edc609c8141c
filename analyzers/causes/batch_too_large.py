"""batch_too_large: weights, optimizer state and activations of one batch do not fit.

What it is: the device is full of tensors that are all needed; nothing is wasted and nothing
    leaks, so the batch, the sequence or the model is too large for it.
Told apart by: the sizes in the message: tensors take most of the device and idle memory is below
    the request. Idle memory above it is fragmentation; memory that rose for many steps is a leak;
    memory of other processes is a shared device; a request of many times the total is a wrong
    shape. One of a few times the total is often what grows with the square of a length.
Try next: halve the batch and accumulate, recompute activations, shard the optimizer state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause
from ..memory.impact import states_phrase
from ..resources.measures import curves_of
from ..resources.remedies import checkpoint_activations, lighter_state, smaller_batch
from ..resources.shortage import FAR, shown_bytes

_AGAINST = {"absurd": -0.2, "shared": -0.75, "fragmented": -0.6, "refused": -0.4}


@cause
@dataclass(frozen=True, slots=True)
class BatchTooLarge:
    """Weighs the arithmetic of the message against its rivals."""

    id: ClassVar[str] = "batch_too_large"
    explains: ClassVar[tuple[str, ...]] = ("cuda_oom", "host_oom")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """The message, the settings, and growth as the strongest rival."""
        device, host = case.get("cuda_oom"), case.get("host_oom")
        if device is not None:
            pattern = str(device.details.get("pattern", ""))
            evidence = device.evidence[0]
            if pattern == "capacity":
                yield case.clue(0.86, evidence, states=True)
            elif pattern in _AGAINST:
                yield case.clue(0.5, evidence)
                is_far = device.number("request") > FAR * device.number("total")
                is_impossible = pattern == "absurd" and is_far
                yield case.clue(-0.7 if is_impossible else _AGAINST[pattern], evidence)
            else:
                # The bare message leaves the rarer rivals possible.
                yield case.clue(0.78, evidence)
        elif host is not None and host.details.get("how") == "states" and host.number("request"):
            yield case.clue(0.3, host.evidence[0])
        else:
            return
        batch = case.setting("batch_size")
        if batch is not None and (batch.number or 0) > 1:
            yield case.clue(0.35, batch.evidence)
        growth = case.get("memory_growth")
        if growth is not None:
            yield case.clue(-0.6, growth.evidence[0])

    def issue(self, case: Case) -> str:
        """One sentence with the sizes."""
        found = case.get("cuda_oom", "host_oom")
        batch = case.setting("batch_size")
        with_batch = f" with {batch.path} {batch.value}" if batch is not None else ""
        if found is None or found.number("total") <= 0:
            return f"a training step needs more memory than there is{with_batch}"
        return (
            f"a training step{with_batch} needs more than the device's "
            f"{shown_bytes(found.number('total'))}{states_phrase(case)}"
        )

    def fixes(self, case: Case) -> Iterator[Fix]:
        """By what was running: the optimizer's state is no matter of the batch."""
        found = case.get("cuda_oom", "host_oom")
        phase = str(found.details.get("phase", "")) if found is not None else ""
        if phase == "evaluation":
            yield _evaluate_without_gradients(case)
        is_state = phase in ("optimizer step", "loading of the model") or states_phrase(case)
        if is_state:
            yield lighter_state(case, self.id)
        yield smaller_batch(case, self.id)
        yield checkpoint_activations(case, self.id)
        if not is_state:
            yield lighter_state(case, self.id)

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from a leak and from fragmentation."""
        found = case.get("cuda_oom")
        if found is not None and not found.details.get("pattern"):
            yield (
                "the whole out-of-memory message with its sizes (total, free, allocated, "
                "reserved): tells a batch that is too large from fragmentation and from another "
                "process on the device"
            )
        if not curves_of(case.view, "memory"):
            yield (
                "allocated and reserved memory per step (torch.cuda.memory_allocated, "
                "memory_reserved): level before the failure means the batch, a rise means a leak"
            )


def _evaluate_without_gradients(case: Case) -> Fix:
    return Fix(
        addresses="batch_too_large",
        change="evaluate without gradients and with a batch no larger than in training",
        example="with torch.inference_mode(): evaluate(model, loader)",
        expected_impact="memory in evaluation falls below that of training from the first "
        "evaluation on",
        verify="peak memory of one evaluation against that of one training step",
        if_it_fails="move predictions to the CPU batch by batch instead of collecting them on the "
        "device",
        is_quick=True,
    )
