"""A small graph network, hand-written, on data that is not what the configuration says.

Usage: graph_network.py empty | features | vocabulary | mismatch

`empty` has a graph without nodes, `features` nodes with fewer features than configured,
`vocabulary` node types beyond the embedding's rows; each ends with torch's own message.
`mismatch` trains well, but its configuration files disagree with each other and with its name.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 8
TYPES = 12
FEATURES = 16
WIDTH = 32
CLASSES = 4
GRAPHS = 60
EPOCHS = 12
BROKEN = 40
LEARNING_RATE = 0.01

SETTINGS = {
    "model": "vgae_small",
    "in_channels": FEATURES,
    "num_node_types": TYPES,
    "hidden": WIDTH,
    "num_classes": CLASSES,
    "optimizer": "adam",
    "lr": LEARNING_RATE,
    "epochs": EPOCHS,
    "seed": SEED,
}


class GraphNetwork(nn.Module):
    """Type embedding and features, one round of messages, the largest value of all nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.types = nn.Embedding(TYPES, WIDTH)
        self.enter = nn.Linear(FEATURES, WIDTH)
        self.message = nn.Linear(WIDTH, WIDTH)
        self.classify = nn.Linear(WIDTH, CLASSES)

    def forward(self, types: Tensor, features: Tensor, edges: Tensor) -> Tensor:
        """Logits of the graph's class."""
        nodes = torch.relu(self.types(types) + self.enter(features))
        received = torch.zeros_like(nodes).index_add(0, edges[1], self.message(nodes)[edges[0]])
        pooled = torch.relu(nodes + received).max(dim=0).values
        logits: Tensor = self.classify(pooled)
        return logits


def make_graph(fault: str, number: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Node types, features, edges and the label; the broken one is as the fault says."""
    label = int(torch.randint(CLASSES, (1,)))
    is_broken = number == BROKEN
    size = 0 if fault == "empty" and is_broken else int(torch.randint(4, 10, (1,)))
    width = FEATURES - 4 if fault == "features" and is_broken else FEATURES
    types = torch.randint(TYPES, (size,))
    if fault == "vocabulary" and is_broken:
        types[0] = TYPES + 3
    features = torch.randn(size, width) + 0.7 * label
    edges = torch.randint(max(size, 1), (2, 2 * size))
    return types, features, edges, torch.tensor(label)


def write_settings(fault: str) -> None:
    """As the project would; with `mismatch` one of the files is stale."""
    Path("config.json").write_text(json.dumps(SETTINGS, indent=2) + "\n")
    stale = {**SETTINGS, "lr": 0.001, "hidden": 64} if fault == "mismatch" else SETTINGS
    lines = [f"{key}: {value}" for key, value in stale.items()]
    Path("hparams.yaml").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Train graph by graph and print one line per epoch."""
    fault = sys.argv[1]
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    write_settings(fault)
    graphs = [make_graph(fault, number) for number in range(GRAPHS)]
    model = GraphNetwork()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    step = 0
    for epoch in range(EPOCHS):
        for types, features, edges, label in graphs:
            step += 1
            loss = functional.cross_entropy(model(types, features, edges), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
