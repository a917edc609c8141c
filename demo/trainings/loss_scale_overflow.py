"""Half-precision training whose activations outgrow half precision when documents get longer.

Lines in the manner of Megatron-LM; the dynamic loss scale is PyTorch's own GradScaler.
With --fp32 the same training goes through: precision is the cause.
"""

from __future__ import annotations

import sys
import time

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 21
ITERATIONS = 900
LOG_INTERVAL = 2
BATCH = 32
SHORT, LONG = 32, 512
SWITCH_AFTER = 600
VOCABULARY = 1000
TOPICS = 40
WIDTH = 96
LEARNING_RATE = 2e-3
WARMUP = 100
MINIMUM_SCALE = 1.0
PRECISION = torch.float32 if "--fp32" in sys.argv else torch.float16


class Block(nn.Module):
    """A residual block with squared ReLU and, to save time, no normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.widen = nn.Linear(WIDTH, 2 * WIDTH)
        self.narrow = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, hidden: Tensor) -> Tensor:
        """Add the block's opinion to the stream."""
        return hidden + self.narrow(torch.relu(self.widen(hidden)).square())


class TopicModel(nn.Module):
    """Adds up the embeddings of a document's tokens and names its topic."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOPICS)

    def forward(self, documents: Tensor) -> Tensor:
        """Logits of the topics; the sum grows with the length of the document."""
        return self.head(self.norm(self.blocks(0.1 * self.embed(documents).sum(1))))


def make_batch(topics: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Documents drawn from the word frequencies of their topic."""
    labels = torch.randint(TOPICS, (BATCH,))
    return torch.multinomial(topics[labels], length, replacement=True), labels


def main() -> None:
    """Train until the loss scale can shrink no further."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    topics = torch.softmax(1.5 * torch.randn(TOPICS, VOCABULARY), dim=1)
    model = TopicModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=100)
    parameters = sum(p.numel() for p in model.parameters())
    print(f" > number of parameters: {parameters}")
    print(f" > precision: {PRECISION}, initial loss scale: {scaler.get_scale()}")
    print("training ...")

    skipped = nan_iterations = 0
    clock = time.perf_counter()
    for iteration in range(1, ITERATIONS + 1):
        lr = LEARNING_RATE * min(1.0, iteration / WARMUP)
        optimizer.param_groups[0]["lr"] = lr
        length = SHORT if iteration <= SWITCH_AFTER else LONG
        documents, labels = make_batch(topics, length)
        with torch.autocast("cpu", dtype=PRECISION, enabled=PRECISION is torch.float16):
            logits = model(documents)
        loss = functional.cross_entropy(logits.float(), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.get_total_norm(
            [p.grad for p in model.parameters() if p.grad is not None]
        ).item()
        scale = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() < scale:
            skipped += 1
        if not torch.isfinite(loss):
            nan_iterations += 1
        if iteration % LOG_INTERVAL == 0:
            milliseconds = (time.perf_counter() - clock) * 1000 / LOG_INTERVAL
            clock = time.perf_counter()
            print(
                f" iteration {iteration:8d}/{ITERATIONS:8d} |"
                f" consumed samples: {iteration * BATCH:12d} |"
                f" elapsed time per iteration (ms): {milliseconds:.1f} |"
                f" learning rate: {lr:.6E} | global batch size: {BATCH:5d} |"
                f" curriculum seqlen: {length:5d} |"
                f" topic loss: {loss.item():.6E} | loss scale: {scale:.1f} |"
                f" grad norm: {norm:.3f} |"
                f" number of skipped iterations: {skipped:3d} |"
                f" number of nan iterations: {nan_iterations:3d} |"
            )
            skipped = nan_iterations = 0
        if scaler.get_scale() < MINIMUM_SCALE:
            raise RuntimeError(
                "loss scale fell below its minimum of "
                f"{MINIMUM_SCALE}: gradients overflow at every scale"
            )


if __name__ == "__main__":
    main()
