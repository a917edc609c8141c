"""A regression network whose learning rate warms up to a value it cannot bear.

Python logging with timestamps, on stderr, as a job script redirects it.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 7
STEPS = 1500
BATCH = 256
PEAK_LR = 1.2
WARMUP_STEPS = 1000
MOMENTUM = 0.9

CONFIG = f"""\
seed: {SEED}
model:
  kind: mlp
  hidden: [256, 256, 256]
  activation: gelu
optimizer:
  name: sgd
  lr: {PEAK_LR}
  momentum: {MOMENTUM}
  grad_clip: null
schedule:
  name: linear_warmup
  warmup_steps: {WARMUP_STEPS}
data:
  batch_size: {BATCH}
  normalize: true
max_steps: {STEPS}
"""

log = logging.getLogger("train")


def make_data(count: int) -> tuple[Tensor, Tensor]:
    """Smooth non-linear targets of 16 inputs, with a little noise."""
    inputs = torch.randn(count, 16)
    targets = torch.sin(inputs[:, :8]).sum(1) + inputs[:, 8] * inputs[:, 9]
    targets = (targets - targets.mean()) / targets.std()
    return inputs, (targets + 0.05 * torch.randn(count)).unsqueeze(1)


def main() -> None:
    """Train until the end, as scripts without a NaN check do."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    Path("config.yaml").write_text(CONFIG)

    inputs, targets = make_data(4096)
    val_inputs, val_targets = make_data(1024)
    model = nn.Sequential(
        nn.Linear(16, 256), nn.GELU(),
        nn.Linear(256, 256), nn.GELU(),
        nn.Linear(256, 256), nn.GELU(),
        nn.Linear(256, 1),
    )  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=PEAK_LR, momentum=MOMENTUM)
    log.info("config written to config.yaml")
    log.info("model has %d parameters", sum(p.numel() for p in model.parameters()))

    started = time.perf_counter()
    for step in range(1, STEPS + 1):
        lr = PEAK_LR * min(1.0, step / WARMUP_STEPS)
        optimizer.param_groups[0]["lr"] = lr
        rows = torch.randint(len(inputs), (BATCH,))
        loss = functional.mse_loss(model(inputs[rows]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        squares = [p.grad.pow(2).sum() for p in model.parameters() if p.grad is not None]
        grad_norm = torch.stack(squares).sum().sqrt().item()
        optimizer.step()
        if step % 2 == 0:
            log.info(
                "step=%d loss=%.6g grad_norm=%.6g lr=%.6g samples_per_sec=%.0f",
                step, loss.item(), grad_norm, lr, step * BATCH / (time.perf_counter() - started),
            )  # fmt: skip
        if step % 50 == 0:
            with torch.no_grad():
                val_loss = functional.mse_loss(model(val_inputs), val_targets).item()
            log.info("step=%d val_loss=%.6g", step, val_loss)
    log.info("done after %d steps", STEPS)


if __name__ == "__main__":
    main()
