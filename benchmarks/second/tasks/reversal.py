"""An encoder and a decoder that reverse or copy a sequence."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .task import Batch, Task, classify, held_out

SYMBOLS = 12


class Reversal(Task):
    """Gated recurrent units on both sides."""

    usual_batch = 32
    model: nn.ModuleDict

    def build(self) -> None:
        """The net; data are drawn as they are needed."""
        self.length: int = self.options.get("length", 6)
        self.tokens = self.batch_size * self.length
        hidden = self.options.get("hidden", 48)
        self.model = nn.ModuleDict(
            {
                "src": nn.Embedding(SYMBOLS, 16),
                "tgt": nn.Embedding(SYMBOLS + 1, 16),
                "enc": nn.GRU(16, hidden, batch_first=True),
                "dec": nn.GRU(16, hidden, batch_first=True),
                "out": nn.Linear(hidden, SYMBOLS),
            }
        )

    def draw(self, count: int, length: int, generator: torch.Generator) -> Batch:
        """Sequences, and what should come out."""
        shown = torch.randint(0, SYMBOLS, (count, length), generator=generator)
        return shown, shown.clone() if self.options.get("copies") else shown.flip(1)

    def batch(self) -> Batch:
        """Fresh sequences."""
        return self.draw(self.batch_size, self.length, self.generator)

    def garbage(self, batch: Batch) -> Batch:
        """Random targets."""
        return batch[0], self.integers(SYMBOLS, *batch[1].shape)

    def logits(self, shown: Tensor, wanted: Tensor) -> Tensor:
        """With the right symbols so far given to the decoder."""
        model = self.model
        _, state = model["enc"](model["src"](shown))
        start = torch.full((len(wanted), 1), SYMBOLS)
        states, _ = model["dec"](model["tgt"](torch.cat([start, wanted[:, :-1]], 1)), state)
        logits: Tensor = model["out"](states)
        return logits

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Of all places; the option `shows_length` logs how long sequences are."""
        loss, accuracy = classify(self.logits(batch[0], batch[1]), batch[1])
        measured = {"train_acc": accuracy}
        if self.options.get("shows_length"):
            measured["seq_len"] = float(batch[0].shape[1])
        return loss, measured

    def evaluate(self) -> dict[str, float]:
        """The same sequences each time."""
        shown, wanted = self.draw(64, self.length, torch.Generator().manual_seed(2))
        return held_out(self.logits(shown, wanted), wanted)
