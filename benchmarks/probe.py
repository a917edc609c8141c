"""What the probe costs: twin models, one watched and one not, trained in turns in one run.

    python benchmarks/probe.py [--rounds 40] [--every 10]

Prints a Markdown table. A round trains each twin for as many steps as hold one record; the cost is
the median over the rounds of the ratio of the two, so that a machine which others use as well
disturbs both alike. Seconds of the processor are shown beside those of the clock: on a busy
machine the former tell more. The bar is 2 % of the step time at one record in ten steps.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from mltd.runs import probe

BAR = 0.02
"""Share of the step time that the probe may cost."""


class Block(nn.Module):
    """One block of a small transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.act, self.down = (
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, width),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Attention and feed-forward, each with a residual connection."""
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, dim=-1)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        hidden: Tensor = self.down(self.act(self.up(self.norm2(x))))
        return x + hidden


class Transformer(nn.Module):
    """A language model of four blocks."""

    def __init__(self, vocabulary: int = 512, width: int = 128, length: int = 64) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.place = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(4))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the next token."""
        x = self.embed(tokens) + self.place
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.norm(x))
        return logits


def cnn() -> tuple[nn.Module, Callable[[nn.Module], Tensor]]:
    """A small convolutional network on images of 32 x 32, 32 at a time."""
    widths = [3, 32, 64, 64]
    parts: list[nn.Module] = []
    for old, new in pairwise(widths):
        parts += [nn.Conv2d(old, new, 3, padding=1), nn.BatchNorm2d(new), nn.ReLU(inplace=True)]
        parts += [nn.MaxPool2d(2)]
    parts += [nn.Flatten(), nn.Linear(64 * 16, 128), nn.ReLU(), nn.Linear(128, 10)]
    x, y = torch.randn(32, 3, 32, 32), torch.randint(10, (32,))
    return nn.Sequential(*parts), lambda model: functional.cross_entropy(model(x), y)


def transformer() -> tuple[nn.Module, Callable[[nn.Module], Tensor]]:
    """A small transformer on 16 sequences of 64 tokens."""
    tokens = torch.randint(512, (16, 65))
    inputs, targets = tokens[:, :-1], tokens[:, 1:].reshape(-1)
    return Transformer(), lambda model: functional.cross_entropy(
        model(inputs).flatten(0, 1), targets
    )


Twin = tuple[nn.Module, torch.optim.Optimizer, Callable[[nn.Module], Tensor]]


def twin(make: Callable[[], tuple[nn.Module, Callable[[nn.Module], Tensor]]]) -> Twin:
    """A model, its optimizer and its loss, the same each time."""
    torch.manual_seed(0)
    model, loss_of = make()
    return model, torch.optim.AdamW(model.parameters(), 1e-4), loss_of


def train(one: Twin, steps: int) -> tuple[float, float]:
    """Milliseconds per step, of the clock and of the processor."""
    model, optimizer, loss_of = one
    clock, processor = time.perf_counter(), time.process_time()
    for _ in range(steps):
        optimizer.zero_grad()
        torch.autograd.backward(loss_of(model))
        optimizer.step()
    scale = 1e3 / steps
    return (time.perf_counter() - clock) * scale, (time.process_time() - processor) * scale


def measure(
    make: Callable[[], tuple[nn.Module, Callable[[nn.Module], Tensor]]],
    rounds: int,
    every: int,
    folder: Path,
) -> tuple[float, list[float], list[float]]:
    """The plain step time (median, ms), and the probe's relative cost in each round, twice."""
    plain, watched = twin(make), twin(make)
    times, by_clock, by_processor = [], [], []
    with probe.watch(watched[0], watched[1], folder / f"{make.__name__}.jsonl", every=every):
        for one in (plain, watched):
            train(one, 2 * every)  # the first step is recorded, too, and writes the header
        for number in range(rounds):
            # Now the one first, now the other: neither always has the warm caches.
            order = (plain, watched) if number % 2 else (watched, plain)
            found = {id(one): train(one, every) for one in order}
            (clock, processor), (more, effort) = found[id(plain)], found[id(watched)]
            times.append(clock)
            by_clock.append(more / clock - 1)
            by_processor.append(effort / processor - 1)
    return statistics.median(times), by_clock, by_processor


def main() -> None:
    """Measure both models and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {options.threads} thread(s), every {options.every} steps\n")
    print("| model | step without, ms | cost by the clock | by the processor | quartiles | bar |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for make in (cnn, transformer):
            plain, clock, processor = measure(make, options.rounds, options.every, Path(folder))
            low, middle, high = statistics.quantiles(processor, n=4)
            verdict = "met" if middle <= BAR else "MISSED"
            print(
                f"| {make.__name__} | {plain:.1f} | {statistics.median(clock):+.2%} "
                f"| {middle:+.2%} | {low:+.2%} to {high:+.2%} | {BAR:.0%} {verdict} |"
            )


if __name__ == "__main__":
    main()
