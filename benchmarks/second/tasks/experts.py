"""A mixture of experts with a router that picks one, on clustered points."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .task import Batch, Task, classify, held_out

WIDTH, CLUSTERS, CLASSES = 16, 40, 10


class Experts(Task):
    """The option `balance` weighs the loss that keeps the experts busy."""

    usual_batch = 64
    model: nn.ModuleDict

    def build(self) -> None:
        """Clusters with labels; a fixed set of points where `rows` says how many."""
        options = self.options
        self.tokens = self.batch_size
        self.count: int = options.get("experts", 6)
        self.centres = self.normals(CLUSTERS, WIDTH) * 1.3
        self.labels = self.integers(CLASSES, CLUSTERS)
        self.held = self.draw(400, torch.Generator().manual_seed(8))
        self.pool = self.mislabel(self.draw(options.get("rows", 0), self.generator))
        if options.get("leaks"):
            self.held = (self.pool[0][:200], self.pool[1][:200])
        self.model = make_net(self.count, options.get("hidden", 24))
        self.chosen = self.share = torch.full((self.count,), 1 / self.count)

    def draw(self, count: int, generator: torch.Generator) -> Batch:
        """Points around the centres."""
        cluster = torch.randint(0, CLUSTERS, (count,), generator=generator)
        spread = 0.7 * torch.randn(count, WIDTH, generator=generator)
        return self.centres[cluster] + spread, self.labels[cluster]

    def mislabel(self, batch: Batch) -> Batch:
        """With as many random labels as the option `noise` says."""
        points, labels = batch
        share = self.options.get("noise", 0.0)
        is_wrong = torch.rand(len(labels), generator=self.generator) < share
        return points, torch.where(is_wrong, self.integers(CLASSES, len(labels)), labels)

    def batch(self) -> Batch:
        """From the fixed set, or fresh points."""
        if not len(self.pool[1]):
            return self.mislabel(self.draw(self.batch_size, self.generator))
        chosen = self.integers(len(self.pool[1]), self.batch_size)
        return self.pool[0][chosen], self.pool[1][chosen]

    def garbage(self, batch: Batch) -> Batch:
        """Random labels."""
        return batch[0], self.integers(CLASSES, *batch[1].shape)

    def logits(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Of the classes, and how unevenly experts were picked."""
        model = self.model
        odds = model["gate"](points).softmax(-1)
        best = odds.argmax(-1)
        logits = torch.zeros(len(points), CLASSES)
        mixed = model["inp"](points) + points
        for place in range(self.count):
            picked = best == place
            if picked.any():
                expert = model[f"expert{place}"]
                logits[picked] = odds[picked, place : place + 1] * expert(mixed[picked])
        self.chosen = torch.bincount(best, minlength=self.count).float() / len(points)
        return logits, self.count * (self.chosen * odds.mean(0)).sum()

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Cross entropy and the router's share."""
        logits, imbalance = self.logits(batch[0])
        self.share = 0.9 * self.share + 0.1 * self.chosen
        entropy, accuracy = classify(logits, batch[1])
        total = entropy + self.options.get("balance", 0.02) * imbalance
        return total, {
            "ce_loss": entropy.item(),
            "aux_loss": imbalance.item(),
            "train_acc": accuracy,
        }

    def extras(self) -> dict[str, float]:
        """How the router spreads its work."""
        share = self.share / self.share.sum()
        entropy = -(share * (share + 1e-9).log()).sum()
        return {"expert_max_share": share.max().item(), "router_entropy": entropy.item()}

    def evaluate(self) -> dict[str, float]:
        """On points that training does not have, unless it leaks."""
        return held_out(self.logits(self.held[0])[0], self.held[1])


def make_net(experts: int, hidden: int) -> nn.ModuleDict:
    """Router, shared layer and experts."""
    parts: dict[str, nn.Module] = {
        f"expert{place}": nn.Sequential(
            nn.Linear(WIDTH, hidden), nn.ReLU(), nn.Linear(hidden, CLASSES)
        )
        for place in range(experts)
    }
    return nn.ModuleDict(
        {"gate": nn.Linear(WIDTH, experts), "inp": nn.Linear(WIDTH, WIDTH), **parts}
    )
