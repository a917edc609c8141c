"""Fine-tuning of a pretrained character model on little sums, or on more source text."""

from __future__ import annotations

import math
import os
from pathlib import Path

import torch
from torch import nn

from .decoder import CONTEXT, Decoder, adapt
from .language import Language, windows
from .task import classify
from .text import library_text, sums_text

WIDTH = 48
PRETRAINING_STEPS = 1500


class FineTuning(Language):
    """Starts from the weights in the file that the option `weights` names."""

    def build(self) -> None:
        """New text to learn; the old one is asked about as well."""
        options = self.options
        self.tokens = self.batch_size * CONTEXT
        self.model = load_pretrained(options["weights"], options.get("dropout", 0.0))
        self.old = library_text("argparse", "difflib", "inspect")[-40000:]
        if options.get("data", "sums") == "sums":
            self.learnt, self.unseen = sums_text(options.get("rows", 2000), 1), sums_text(120, 2)
        else:
            text = library_text("tempfile", "shutil", "subprocess")
            self.learnt, self.unseen = text[: options.get("characters", 60000)], text[60000:]
        if options.get("rank"):
            adapt(self.model, options["rank"])

    def evaluate(self) -> dict[str, float]:
        """On unseen new text, and on the text of the pretraining."""
        shown, following = windows(self.old, 48, torch.Generator().manual_seed(6))
        old_loss, _ = classify(self.model(shown), following)
        return {**super().evaluate(), "old_loss": old_loss.item()}


def load_pretrained(weights: str, dropout: float = 0.0) -> Decoder:
    """The model as pretraining left it."""
    model = Decoder(WIDTH, dropout=dropout)
    model.load_state_dict(torch.load(weights))
    return model


def pretrain(path: Path) -> None:
    """Train the weights that all fine-tuning starts from, unless they are there."""
    if path.exists():
        return
    task = Language({"width": WIDTH, "batch": 24}, 11)
    optimizer = torch.optim.AdamW(task.model.parameters(), 3e-3)
    for step in range(PRETRAINING_STEPS):
        progress = step / PRETRAINING_STEPS
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1, step / 50) * (0.5 + 0.5 * math.cos(math.pi * progress))
        loss, _ = task.loss(task.batch())
        optimizer.zero_grad()
        torch.autograd.backward([loss])
        nn.utils.clip_grad_norm_(task.model.parameters(), 1.0)
        optimizer.step()
    partial = path.with_suffix(f".{os.getpid()}.part")
    torch.save(task.model.state_dict(), partial)
    partial.replace(path)
