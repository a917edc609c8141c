"""Language modelling of source text, character by character."""

from __future__ import annotations

import torch
from torch import Tensor

from .decoder import CONTEXT, Decoder
from .task import Batch, Task, classify, held_out
from .text import VOCABULARY, library_text

MODULES = ("argparse", "difflib", "inspect", "tarfile", "optparse")


class Language(Task):
    """A decoder from scratch."""

    def build(self) -> None:
        """Nine tenths of the text to learn, the rest to be asked about."""
        options = self.options
        self.tokens = self.batch_size * CONTEXT
        text = library_text(*MODULES)
        cut = int(len(text) * 0.9)
        self.learnt, self.unseen = text[:cut], text[cut:]
        self.model = Decoder(
            options.get("width", 32),
            options.get("layers", 2),
            options.get("is_pre_norm", True),
            options.get("dropout", 0.0),
        )

    def batch(self) -> Batch:
        """Windows from anywhere."""
        return windows(self.learnt, self.batch_size, self.generator)

    def garbage(self, batch: Batch) -> Batch:
        """Random targets."""
        return batch[0], self.integers(VOCABULARY, *batch[1].shape)

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Of the next character."""
        return classify(self.model(batch[0]), batch[1])[0], {}

    def evaluate(self) -> dict[str, float]:
        """The same windows each time."""
        shown, following = windows(self.unseen, 48, torch.Generator().manual_seed(5))
        return held_out(self.model(shown), following)


def windows(text: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pieces of a text, and the same one character on."""
    starts = torch.randint(0, len(text) - CONTEXT - 1, (count, 1), generator=generator)
    pieces = text[starts + torch.arange(CONTEXT + 1)]
    return pieces[:, :-1], pieces[:, 1:]
