"""Over how many devices weights, gradients and optimizer state are divided."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.finding import Evidence, EvidenceKind
from ..core.view import RunView
from .amount import Origin
from .keys import Known

_MOST = 1e6


@dataclass(frozen=True, slots=True)
class World:
    """Devices that train together with data parallelism; `model` devices share one model."""

    data: int | None
    model: int
    origin: Origin
    sources: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Sharding:
    """Which states are divided among the devices; stage as ZeRO counts, 0 for none."""

    stage: int
    label: str
    sources: tuple[Evidence, ...]
    is_state_offloaded: bool = False
    are_weights_offloaded: bool = False

    def ways(self, part: str, devices: int | None) -> int | None:
        """By how many a part is divided; None if that is not known."""
        least = {"optimizer": 1, "gradients": 2, "parameters": 3}[part]
        return 1 if self.stage < least else devices


def world_of(view: RunView, known: Known) -> World:
    """The number of devices: from settings, else from the ranks that the log names."""
    tensor = known.number("tensor parallel", 1, _MOST)
    pipeline = known.number("pipeline parallel", 1, _MOST)
    model = int((tensor or (1,))[0]) * int((pipeline or (1,))[0])
    sources = [found[1] for found in (tensor, pipeline) if found is not None]
    count, origin = _stated(known, sources)
    if count is None and (seen := _ranks(view)) is not None:
        count, origin = seen[0], Origin.ESTIMATED
        sources.append(seen[1])
    data = max(1, count // model) if count is not None else None
    return World(data, model, origin, tuple(sources))


def _stated(known: Known, sources: list[Evidence]) -> tuple[int | None, Origin]:
    nodes, each = known.number("nodes", 1, _MOST), known.number("per node", 1, _MOST)
    whole = known.number("world", 1, _MOST)
    if whole is not None:
        # `devices` and `gpus` of Lightning count those of one node.
        is_per_node = whole[1].ref.casefold().endswith(("devices", "gpus", ".gpus"))
        sources.append(whole[1])
        if is_per_node and nodes is not None:
            sources.append(nodes[1])
            return int(whole[0] * nodes[0]), Origin.DERIVED
        return int(whole[0]), Origin.DERIVED
    if each is not None:
        sources.extend(found[1] for found in (each, nodes) if found is not None)
        return int(each[0] * (nodes[0] if nodes is not None else 1)), Origin.DERIVED
    return None, Origin.DERIVED


def _ranks(view: RunView) -> tuple[int, Evidence] | None:
    """At least as many as the highest rank that wrote something; None if there is only one."""
    best: tuple[int, Evidence] | None = None
    for placed in view.events:
        top = max(placed.event.ranks, default=0)
        if 0 < top < _MOST and (best is None or top + 1 > best[0]):
            best = top + 1, placed.evidence(f"rank {top} writes here")
    for series in view.series:
        if series.rank and 0 < series.rank < _MOST and (best is None or series.rank + 1 > best[0]):
            quote = f"rank {series.rank} writes this series"
            best = series.rank + 1, Evidence(EvidenceKind.SERIES, series.name, quote)
    return best


def sharding_of(known: Known) -> Sharding:
    """ZeRO's stage, or what an FSDP strategy amounts to."""
    state, weights = _offloads(known)
    if (stage := known.zero_stage()) is not None:
        return Sharding(stage[0], f"ZeRO stage {stage[0]}", (stage[1],), state, weights)
    setting = known.get("fsdp")
    if setting is not None and not isinstance(setting.value, bool | dict):
        text = setting.text
        is_named = "fsdp" in text or "fsdp" in setting.path.casefold()
        if "shard_grad_op" in text or "zero2" in text:
            return Sharding(2, "FSDP, gradients and states sharded", (setting.evidence,), state)
        if "full_shard" in text or (
            is_named and text not in ("", "none", "false", "[]", "0", "ddp")
        ):
            number = setting.number
            if number is None or number > 1:
                return Sharding(3, "FSDP, fully sharded", (setting.evidence,), state, weights)
    if setting is not None and setting.value is True and "fsdp" in setting.path.casefold():
        return Sharding(3, "FSDP, fully sharded", (setting.evidence,), state, weights)
    return Sharding(0, "not sharded", (), state, weights)


def _offloads(known: Known) -> tuple[bool, bool]:
    """Whether optimizer state, and weights, are kept in host memory."""
    state = weights = False
    for setting in known.settings:
        path = setting.path.casefold()
        is_away = setting.text in ("cpu", "nvme", "true")
        state |= is_away and "offload_optimizer" in path
        weights |= is_away and ("offload_param" in path or path.endswith("cpu_offload"))
    return state or weights, weights
