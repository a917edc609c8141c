"""A character-level language model that learns as it should.

Plain prints: one line every 5 iterations, train and validation loss every 100.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 1337
CONFIG = {
    "seed": SEED,
    "context": 48,
    "batch_size": 24,
    "n_layer": 2,
    "n_head": 4,
    "n_embd": 64,
    "dropout": 0.0,
    "max_iters": 800,
    "warmup_iters": 60,
    "learning_rate": 2e-3,
    "min_lr": 2e-4,
    "grad_clip": 1.0,
    "eval_interval": 100,
    "eval_batches": 8,
}
SOURCES = ("argparse", "difflib", "configparser", "textwrap", "shutil", "tarfile", "statistics")


def load_text() -> str:
    """The standard library's own source: text that every machine with Python has."""
    library = Path(json.__file__).parent.parent
    return "".join((library / f"{name}.py").read_text(encoding="utf-8") for name in SOURCES)


class CharLM(nn.Module):
    """A small causal transformer."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        width, context = CONFIG["n_embd"], CONFIG["context"]
        self.token = nn.Embedding(vocabulary, width)
        self.place = nn.Embedding(context, width)
        layer = nn.TransformerEncoderLayer(
            width,
            CONFIG["n_head"],
            dim_feedforward=4 * width,
            dropout=CONFIG["dropout"],
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.blocks = nn.TransformerEncoder(
            layer, CONFIG["n_layer"], norm=nn.LayerNorm(width), enable_nested_tensor=False
        )
        self.head = nn.Linear(width, vocabulary)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(context))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the next character at every place."""
        hidden = self.token(tokens) + self.place.weight
        return self.head(self.blocks(hidden, mask=self.mask, is_causal=True))


def draw_batch(data: Tensor) -> tuple[Tensor, Tensor]:
    """Random windows and the same windows one character later."""
    context = CONFIG["context"]
    starts = torch.randint(len(data) - context - 1, (CONFIG["batch_size"],))
    windows = torch.stack([data[start : start + context + 1] for start in starts.tolist()])
    return windows[:, :-1], windows[:, 1:]


def loss_of(model: nn.Module, data: Tensor) -> Tensor:
    """Cross-entropy on one random batch."""
    tokens, targets = draw_batch(data)
    return functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())


@torch.no_grad()
def estimate(model: nn.Module, data: Tensor) -> float:
    """Mean loss over a few batches, without dropout."""
    model.eval()
    losses = [loss_of(model, data).item() for _ in range(CONFIG["eval_batches"])]
    model.train()
    return sum(losses) / len(losses)


def learning_rate(iteration: int) -> float:
    """Linear warm-up, then a cosine down to the minimum."""
    if iteration < CONFIG["warmup_iters"]:
        return CONFIG["learning_rate"] * (iteration + 1) / CONFIG["warmup_iters"]
    progress = (iteration - CONFIG["warmup_iters"]) / (CONFIG["max_iters"] - CONFIG["warmup_iters"])
    half_cosine = 0.5 * (1 + math.cos(math.pi * progress))
    return CONFIG["min_lr"] + half_cosine * (CONFIG["learning_rate"] - CONFIG["min_lr"])


def main() -> None:
    """Train and print."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    Path("config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")

    text = load_text()
    letters = sorted(set(text))
    index = {letter: number for number, letter in enumerate(letters)}
    data = torch.tensor([index[letter] for letter in text])
    blocks = data.split(2000)
    train = torch.cat([block for number, block in enumerate(blocks) if number % 10])
    val = torch.cat(blocks[::10])
    model = CharLM(len(letters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=CONFIG["learning_rate"])
    print(
        f"{len(train):,} training characters, {len(val):,} for validation, {len(letters)} letters"
    )
    print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")

    clock = time.perf_counter()
    for iteration in range(CONFIG["max_iters"] + 1):
        lr = learning_rate(iteration)
        for group in optimizer.param_groups:
            group["lr"] = lr
        if iteration % CONFIG["eval_interval"] == 0:
            losses = estimate(model, train), estimate(model, val)
            print(f"step {iteration}: train loss {losses[0]:.4f}, val loss {losses[1]:.4f}")
            torch.save(model.state_dict(), "ckpt.pt")
            print("saving checkpoint to ckpt.pt")
            clock = time.perf_counter()
        loss = loss_of(model, train)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), CONFIG["grad_clip"]).item()
        optimizer.step()
        if iteration % 5 == 0:
            milliseconds = (time.perf_counter() - clock) * 1000 / (5 if iteration % 100 else 1)
            clock = time.perf_counter()
            print(
                f"iter {iteration}: loss {loss.item():.4f}, time {milliseconds:.2f}ms, "
                f"lr {lr:.3e}, grad_norm {norm:.3f}"
            )
    print("training finished")


if __name__ == "__main__":
    main()
