"""A network with adaptive computation time whose halting statistic is taken over one element.

Each example is worked on until its halting head says stop; the penalty uses the variance of the
halting scores of those still running. When a single one is left, torch warns that there are no
degrees of freedom, the penalty is NaN, and with the next update all weights are.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 3
STEPS = 120
BATCH = 16
WIDTH = 24
MOST_ROUNDS = 6
LEARNING_RATE = 0.003

CONFIG = f"""\
model: act-mlp
hidden: {WIDTH}
max_rounds: {MOST_ROUNDS}
optimizer: adam
lr: {LEARNING_RATE}
batch_size: {BATCH}
max_steps: {STEPS}
seed: {SEED}
"""


class AdaptiveModel(nn.Module):
    """One cell applied again and again, and a head that decides when to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(8, WIDTH)
        self.cell = nn.GRUCell(WIDTH, WIDTH)
        self.halting_head = nn.Linear(WIDTH, 1)
        self.output = nn.Linear(WIDTH, 1)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Prediction, and how unevenly the examples want to stop."""
        x = self.enter(inputs)
        state = torch.zeros_like(x)
        running = torch.ones(len(x), dtype=torch.bool)
        unevenness = x.new_zeros(())
        for _ in range(MOST_ROUNDS):
            if not running.any():
                break
            state = torch.where(running[:, None], self.cell(x, state), state)
            halting = torch.sigmoid(self.halting_head(state)).squeeze(1)
            unevenness = unevenness + halting[running].var()
            running = running & (halting < 0.5 + 0.08 * torch.randn(len(x)))
        return self.output(state).squeeze(1), unevenness


def main() -> None:
    """Train on a small regression and print every second step."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    Path("config.yaml").write_text(CONFIG)
    model = AdaptiveModel()
    with torch.no_grad():
        model.halting_head.bias.fill_(-0.4)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    weights = torch.randn(8)
    for step in range(1, STEPS + 1):
        inputs = torch.randn(BATCH, 8)
        prediction, unevenness = model(inputs)
        loss = functional.mse_loss(prediction, inputs @ weights) + 0.1 * unevenness
        # The further the training is, the sooner the examples stop.
        loss = loss + 0.05 * functional.softplus(-model.halting_head.bias).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 0:
            print(f"step {step} loss {loss.item():.4f} lr {LEARNING_RATE}", flush=True)


if __name__ == "__main__":
    main()
