"""Embedding of noisy prototypes by triplets."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .task import Batch, Task

CLASSES, WIDTH, SPREAD = 20, 24, 1.1


class Triplets(Task):
    """A perceptron; its embeddings have length one unless `is_free` is set."""

    usual_batch = 32
    model: nn.Sequential

    def build(self) -> None:
        """Prototypes and the net."""
        hidden = 48
        self.tokens = self.batch_size
        self.prototypes = self.normals(CLASSES, WIDTH)
        self.model = nn.Sequential(
            nn.Linear(WIDTH, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 8),
        )
        self.deviation = 0.0

    def draw(self, classes: Tensor, generator: torch.Generator) -> Tensor:
        """A noisy member of each class."""
        noise = torch.randn(len(classes), WIDTH, generator=generator)
        return self.prototypes[classes] + SPREAD * noise

    def batch(self) -> Batch:
        """Anchors, others of their class, and strangers."""
        own = self.integers(CLASSES, self.batch_size)
        other = (own + 1 + self.integers(CLASSES - 1, self.batch_size)) % CLASSES
        return tuple(self.draw(classes, self.generator) for classes in (own, own, other))

    def garbage(self, batch: Batch) -> Batch:
        """Far too large, with friends and strangers exchanged."""
        anchors, friends, strangers = batch
        return anchors * 40, strangers * 40, friends * 40

    def embed(self, points: Tensor) -> Tensor:
        """Where the net puts points."""
        placed: Tensor = self.model(points)
        return placed if self.options.get("is_free") else F.normalize(placed, dim=-1)

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Hinge of distances; `is_hardest` takes the nearest stranger of the whole batch."""
        anchors, friends, strangers = (self.embed(points) for points in batch)
        self.deviation = anchors.std(0).mean().item()
        near = (anchors - friends).pow(2).sum(1)
        far = (anchors - strangers).pow(2).sum(1)
        if self.options.get("is_hardest"):
            far = torch.cdist(anchors, strangers).pow(2).amin(1)
        gap = near - far + self.options.get("margin", 0.4)
        return F.relu(gap).mean(), {"active": (gap > 0).float().mean().item()}

    def extras(self) -> dict[str, float]:
        """How far apart embeddings lie."""
        return {"emb_std": self.deviation}

    def evaluate(self) -> dict[str, float]:
        """Whether the nearest reference is of the right class."""
        generator = torch.Generator().manual_seed(10)
        known = torch.arange(CLASSES).repeat(4)
        asked = torch.randint(0, CLASSES, (160,), generator=generator)
        references = self.embed(self.draw(known, generator))
        queries = self.embed(self.draw(asked, generator))
        nearest = torch.cdist(queries, references).argmin(1)
        return {"recall@1": (known[nearest] == asked).float().mean().item()}
