"""A language model that ends up saying one token, with four fifths of it in the embedding.

Log lines of a made-up service as tokens: a colon stands between nearly all words, and the model
behind its large embedding is too small and too fast to learn what stands between the colons.
Prints samples while it trains and saves a checkpoint.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 11
VOCABULARY = 1024
WIDTH = 24
HIDDEN = 48
STEPS = 400
BATCH = 32
LENGTH = 24
LEARNING_RATE = 0.02

CONFIG = f"""\
model: tiny-lm
vocab_size: {VOCABULARY}
d_model: {WIDTH}
n_layers: 1
hidden_units: {HIDDEN}
optimizer: adam
lr: {LEARNING_RATE}
batch_size: {BATCH}
max_steps: {STEPS}
seed: {SEED}
"""


class Model(nn.Module):
    """Embedding, one recurrent layer, and the embedding again as the output layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layer = nn.GRU(WIDTH, HIDDEN // 2, batch_first=True)
        self.project = nn.Linear(HIDDEN // 2, WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the next token at each place."""
        x = self.project(self.layer(self.embedding(tokens))[0])
        logits: Tensor = self.mix(x) @ self.embedding.weight.T
        return logits


def make_text(words: list[str], count: int) -> Tensor:
    """Words drawn at random, with a colon for every second token and more."""
    ids = torch.randint(1, len(words), (count,))
    ids[torch.rand(count) < 0.6] = 0
    return ids


def sample(model: Model, words: list[str]) -> str:
    """Twenty-four tokens, greedily, after one that was drawn."""
    ids = torch.randint(1, len(words), (1, 1))
    with torch.no_grad():
        for _ in range(24):
            ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
    return "".join(words[i] for i in ids[0, 1:].tolist())


def main() -> None:
    """Train, print losses and samples, save the weights."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    Path("config.yaml").write_text(CONFIG)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = [":", *(f" {a}{b}" for a in syllables for b in syllables)][:VOCABULARY]
    text = make_text(words, 20_000)
    model = Model()
    total = sum(one.numel() for one in model.parameters())
    print(f"model with {total} parameters, {model.embedding.weight.numel()} in the embedding")
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for step in range(1, STEPS + 1):
        starts = torch.randint(0, len(text) - LENGTH - 1, (BATCH,))
        batch = torch.stack([text[i : i + LENGTH + 1] for i in starts])
        logits = model(batch[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 1 or step % 10 == 0:
            print(f"step {step} | loss {loss.item():.4f} | lr {LEARNING_RATE}", flush=True)
        if step == 1 or step % 80 == 0:
            print(f"sample: {sample(model, words)}", flush=True)
    torch.save({"model": model.state_dict(), "step": STEPS}, "checkpoint.pt")


if __name__ == "__main__":
    main()
