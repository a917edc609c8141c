"""One of two processes that train together: `python -m tests.runs.probe.rank_process RANK FOLDER`.

Each way of training is run without a probe and with one; what came out, and norms computed by hand,
go into `facts.RANK.json`.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.nn import functional

from mltd.runs import probe
from tests.runs.probe.training import Net, backward, images, length

WORLD = 2
LAYERS = ("conv", "norm", "fc", "head")


class Model(nn.Module):
    """Random numbers in the forward pass, and a layer that is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.drop, self.unused = Net(), nn.Dropout(0.3), nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.body(self.drop(x))
        return logits


@dataclass
class Way:
    """How a model is spread over the ranks, and how it is trained."""

    wrap: Callable[[nn.Module], Any]
    all_ranks: bool = False
    batches: int = 1
    clips: bool = False
    is_sharded: bool = False


def replicated(**options: Any) -> Callable[[nn.Module], Any]:
    return lambda model: nn.parallel.DistributedDataParallel(model, **options)


def flattened(model: nn.Module) -> Any:
    return FullyShardedDataParallel(model, device_id=torch.device("cpu"), use_orig_params=True)


def sharded(model: nn.Module) -> Any:
    return fully_shard(model, mesh=init_device_mesh("cpu", (WORLD,)))


WAYS = {
    "unused": Way(replicated(find_unused_parameters=True)),
    "accumulated": Way(
        replicated(find_unused_parameters=True), all_ranks=True, batches=3, clips=True
    ),
    "static": Way(replicated(static_graph=True, gradient_as_bucket_view=True)),
    "flattened": Way(flattened, all_ranks=True, is_sharded=True),
    "sharded": Way(sharded, is_sharded=True),
}


def train(way: Way, rank: int, path: Path | None) -> tuple[list[Any], list[Any]]:
    """What came out to the last bit, and the norms of each layer at each step by hand."""
    torch.manual_seed(1)
    model = Model()
    wrapped = way.wrap(model)
    optimizer = torch.optim.Adam(wrapped.parameters(), 0.01)
    handle = None
    if path is not None:
        handle = probe.watch(wrapped, optimizer, path, every=2, all_ranks=way.all_ranks)
        assert handle.is_active is (rank == 0 or way.all_ranks)
    torch.manual_seed(rank)
    losses, by_hand = [], []
    for step in range(4):
        optimizer.zero_grad()
        for batch in range(way.batches):
            x, y = images(100 * rank + 10 * step + batch)
            with nullcontext() if batch == way.batches - 1 else wrapped.no_sync():
                loss = functional.cross_entropy(wrapped(x), y)
                backward(loss)
        if way.clips:
            nn.utils.clip_grad_norm_(wrapped.parameters(), 0.1)
        layers = {} if way.is_sharded else {n: getattr(model.body, n) for n in LAYERS}
        old = {n: [p.detach().clone() for p in m.parameters()] for n, m in layers.items()}
        gradients = {n: length(p.grad for p in m.parameters()) for n, m in layers.items()}
        optimizer.step()
        moves = {
            n: length(p.detach() - q for p, q in zip(m.parameters(), old[n], strict=True))
            for n, m in layers.items()
        }
        by_hand.append({n: [gradients[n], length(old[n]), moves[n]] for n in layers})
        losses.append(loss.item())
    if handle is not None:
        assert handle.is_active is (rank == 0 or way.all_ranks)
        handle.close()
    state = [losses, torch.get_rng_state().tolist()]
    state += [_local(p).tolist() for p in wrapped.parameters()]
    state += [_local(p.grad).tolist() for p in wrapped.parameters() if p.grad is not None]
    return state, by_hand


def _local(tensor: Any) -> Tensor:
    found: Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return found.detach()


def main() -> None:
    rank, folder = int(sys.argv[1]), Path(sys.argv[2])
    store = dist.FileStore(str(folder / "store"), WORLD)  # type: ignore[attr-defined]
    limit = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=WORLD, timeout=limit)
    facts: dict[str, Any] = {}
    for name, way in WAYS.items():
        plain, _ = train(way, rank, None)
        watched, by_hand = train(way, rank, folder / f"{name}.jsonl")
        facts[name] = {"is_same": plain == watched, "by_hand": by_hand}
    (folder / f"facts.{rank}.json").write_text(json.dumps(facts))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
