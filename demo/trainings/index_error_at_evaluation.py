"""A tagger whose validation set holds a token that the vocabulary does not have.

Metrics as JSON lines; the traceback goes where Python sends it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 3
SETTINGS = {
    "seed": SEED,
    "vocab_size": 512,
    "embedding_dim": 128,
    "hidden_dim": 128,
    "num_tags": 8,
    "batch_size": 32,
    "sequence_length": 24,
    "lr": 0.002,
    "max_steps": 600,
    "eval_every": 400,
}


class Tagger(nn.Module):
    """Embedding, recurrent layer, one tag per token."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(SETTINGS["vocab_size"], SETTINGS["embedding_dim"])
        self.encode = nn.GRU(SETTINGS["embedding_dim"], SETTINGS["hidden_dim"], batch_first=True)
        self.classify = nn.Linear(SETTINGS["hidden_dim"], SETTINGS["num_tags"])

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits per token."""
        hidden, _ = self.encode(self.embed(tokens))
        return self.classify(hidden)


def make_sentences(count: int, known_words: int) -> tuple[Tensor, Tensor]:
    """Tokens, and tags that depend on a token and the one before it."""
    tokens = torch.randint(known_words, (count, SETTINGS["sequence_length"]))
    tags = (tokens + tokens.roll(1, dims=1)) % SETTINGS["num_tags"]
    return tokens, tags


def evaluate(model: Tagger, tokens: Tensor, tags: Tensor) -> float:
    """Validation loss."""
    model.eval()
    with torch.no_grad():
        logits = model(tokens)
    model.train()
    return functional.cross_entropy(logits.flatten(0, 1), tags.flatten()).item()


def main() -> None:
    """Train; the first evaluation meets the words that nobody counted."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    Path("config.json").write_text(json.dumps(SETTINGS, indent=2) + "\n")
    tokens, tags = make_sentences(4096, known_words=512)
    # The tokenizer grew by 16 words after the training set had been encoded.
    val_tokens, val_tags = make_sentences(256, known_words=528)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])
    with Path("metrics.jsonl").open("w", buffering=1) as metrics:
        for step in range(1, SETTINGS["max_steps"] + 1):
            rows = torch.randint(len(tokens), (SETTINGS["batch_size"],))
            logits = model(tokens[rows])
            loss = functional.cross_entropy(logits.flatten(0, 1), tags[rows].flatten())
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0).item()
            optimizer.step()
            record = {
                "step": step,
                "train_loss": round(loss.item(), 6),
                "grad_norm": round(norm, 6),
                "lr": SETTINGS["lr"],
                "time": round(time.time(), 3),
            }
            metrics.write(json.dumps(record) + "\n")
            if step % SETTINGS["eval_every"] == 0:
                val_loss = evaluate(model, val_tokens, val_tags)
                metrics.write(json.dumps({"step": step, "val_loss": round(val_loss, 6)}) + "\n")


if __name__ == "__main__":
    main()
