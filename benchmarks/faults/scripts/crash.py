"""Whole training scripts with one mistake each, run by a real interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field

REPORTS = {
    "plain": """
def report(step, **values):
    shown = " | ".join(f"{k} {v:.4f}" for k, v in values.items())
    print(f"step {step:5d} | {shown}", flush=True)
""",
    "jsonl": """
metrics = open("metrics.jsonl", "w")
def report(step, **values):
    metrics.write(json.dumps({"step": step, **values}) + "\\n")
    metrics.flush()
""",
    "slurm": """
def report(step, **values):
    shown = " ".join(f"{k}: {v:.5f}" for k, v in values.items())
    clock = time.strftime("%H:%M:%S")
    print(f"[rank0]: {clock} iter {step}/{cfg['max_steps']} {shown}", flush=True)
""",
}

BASE = """import json
import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
{imports}
torch.set_num_threads(1)
cfg = json.load(open("config.json"))
torch.manual_seed(cfg["seed"])
{report}

class Net(nn.Module):
    def __init__(self, vocab, width, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        wide = cfg["hidden"]
        self.body = nn.Sequential(nn.Linear(width, wide), nn.ReLU(), nn.Linear(wide, width))
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens).mean(1)))


def make_data(count):
    tokens = torch.randint(0, cfg["vocab_size"], (count, 12))
    labels = (tokens.float().mean(1) * cfg["num_classes"] / cfg["vocab_size"]).long()
    return tokens, labels.clamp(0, cfg["num_classes"] - 1)


def train_step(model, optimizer, tokens, labels):
    optimizer.zero_grad()
    logits = model(tokens)
    loss = nn.functional.cross_entropy(logits, labels)
{inside}
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    model = Net(cfg["vocab_size"], cfg["width"], cfg["num_classes"])
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["learning_rate"])
    tokens, labels = make_data(cfg["train_size"])
{before}
    loader = {loader}
    print("starting training", flush=True)
    step = 0
    while step < cfg["max_steps"]:
        for tokens, labels in loader:
{batch}
            loss = train_step(model, optimizer, tokens, labels)
            if step % cfg["log_every"] == 0:
                report(step, loss=loss, lr=cfg["learning_rate"])
            step += 1
            if step >= cfg["max_steps"]:
                break
{after}
    print("training finished")


if __name__ == "__main__":
    main()
"""

LOADER = 'DataLoader(TensorDataset(tokens, labels), cfg["batch_size"], shuffle=True)'


@dataclass(frozen=True)
class Crash:
    """A script's mistake and which answers about it are right."""

    id: str
    findings: tuple[str, ...]
    causes: tuple[str, ...]
    imports: str = ""
    inside: str = ""
    before: str = ""
    batch: str = ""
    after: str = ""
    loader: str = LOADER
    config: dict[str, object] = field(default_factory=dict)
    has_onset: bool = False
    """It strikes at `fail_at`, and a series shows it."""
    is_fault: bool = True
    also: tuple[str, ...] = ("exception",)
    """Findings that are true as well but not enough."""
    done: tuple[str, ...] = ()
    """The causes that are true, if not the first alone."""

    @property
    def named(self) -> tuple[str, ...]:
        """The causes that are true; the other acceptable ones are what the log allows to think."""
        return self.done or self.causes[:1]

    def source(self, style: str, fail_at: int) -> str:
        """The script."""
        parts = {
            "imports": self.imports,
            "report": REPORTS[style],
            "inside": _indent(self.inside, 4),
            "before": _indent(self.before, 4),
            "batch": _indent(self.batch, 12),
            "after": _indent(self.after, 4),
            "loader": self.loader,
        }
        text = BASE
        for name, part in parts.items():
            text = text.replace("{" + name + "}", part)
        lines = text.replace("FAIL_AT", str(fail_at)).splitlines()
        return "\n".join(line for line in lines if line.strip() or not line) + "\n"


def _indent(text: str, columns: int) -> str:
    return "\n".join(" " * columns + line for line in text.strip("\n").splitlines())
