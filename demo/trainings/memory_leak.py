"""A training loop that keeps every loss with its whole graph, until memory runs out.

Plain prints with brackets; the memory limit is the kernel's, as a scheduler would set it.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 2
STEPS = 2000
BATCH = 256
WIDTH = 384
HEADROOM_BYTES = 900 * 2**20
"""What the job may use beyond what it has mapped when training starts."""


def read_statm() -> tuple[int, int]:
    """Mapped and resident bytes of this process."""
    pages = Path("/proc/self/statm").read_text().split()
    return int(pages[0]) * resource.getpagesize(), int(pages[1]) * resource.getpagesize()


def make_batch(teacher: Tensor) -> tuple[Tensor, Tensor]:
    """Inputs, and targets of a fixed random teacher."""
    inputs = torch.randn(BATCH, 32)
    return inputs, torch.tanh(inputs @ teacher)


def main() -> None:
    """Train; `history` was meant to hold numbers."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Linear(32, WIDTH), nn.Tanh(),
        nn.Linear(WIDTH, WIDTH), nn.Tanh(),
        nn.Linear(WIDTH, 4),
    )  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    teacher = torch.randn(32, 4)
    limit = read_statm()[0] + HEADROOM_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    print(f"memory limit {limit / 2**20:.0f} MiB, batch size {BATCH}, {STEPS} steps")

    history: list[Tensor] = []
    clock = time.perf_counter()
    for step in range(1, STEPS + 1):
        inputs, targets = make_batch(teacher)
        loss = functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        history.append(loss)
        if step % 5 == 0:
            mean = torch.stack([past.detach() for past in history[-100:]]).mean().item()
            rate = 5 * BATCH / (time.perf_counter() - clock)
            clock = time.perf_counter()
            print(
                f"[step {step}/{STEPS}] loss={loss.item():.5f} avg_loss={mean:.5f} "
                f"rss_mb={read_statm()[1] / 2**20:.1f} samples/s={rate:.1f}"
            )


if __name__ == "__main__":
    main()
