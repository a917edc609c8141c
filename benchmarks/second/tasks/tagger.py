"""A recurrent net that names the hidden states of a noisy Markov chain."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .task import Batch, Task, classify, held_out

STATES, SYMBOLS = 8, 40
Table = NDArray[np.float64]


class Tagger(Task):
    """LSTM, or a plain recurrent net where the option `vanilla` names its activation."""

    model: nn.ModuleDict

    def build(self) -> None:
        """Draw a chain, rows of it, and the net."""
        options = self.options
        rng = np.random.default_rng(self.generator.initial_seed())
        self.length: int = options.get("length", 24)
        self.tokens = self.batch_size * self.length
        moves = rng.dirichlet(np.full(STATES, 0.35), STATES)
        shows = rng.dirichlet(np.full(SYMBOLS, 0.25), STATES)
        self.rows = self.draw(rng, moves, shows, options.get("rows", 1200))
        self.held = self.draw(rng, moves, shows, options.get("held_rows", 160))
        wrong = torch.rand(self.rows[1].shape, generator=self.generator) < options.get("noise", 0)
        self.rows[1][wrong] = self.integers(STATES, int(wrong.sum()))
        if options.get("leaks"):
            self.held = (self.rows[0][:160], self.rows[1][:160])
        self.model = make_net(
            options.get("hidden", 32), options.get("vanilla"), options.get("dropout", 0.0)
        )
        with torch.no_grad():
            for name, one in self.model["rnn"].named_parameters():
                if "weight_hh" in name:
                    one.mul_(options.get("recurrent_gain", 1.0))

    def draw(
        self, rng: np.random.Generator, moves: Table, shows: Table, count: int
    ) -> tuple[Tensor, Tensor]:
        """Sequences of symbols, and the states behind them."""
        state = rng.integers(0, STATES, count)
        move, show = moves.cumsum(1), shows.cumsum(1)
        symbols, states = [], []
        for _ in range(self.length):
            state = np.minimum((rng.random((count, 1)) > move[state]).sum(1), STATES - 1)
            seen = (rng.random((count, 1)) > show[state]).sum(1)
            symbols.append(np.minimum(seen, SYMBOLS - 1))
            states.append(state)
        return torch.tensor(np.stack(symbols, 1)), torch.tensor(np.stack(states, 1))

    def logits(self, symbols: Tensor, gain: float = 1.0) -> Tensor:
        """Of every place."""
        states, _ = self.model["rnn"](self.model["emb"](symbols) * gain)
        named: Tensor = self.model["out"](self.model["drop"](states))
        return named

    def batch(self) -> Batch:
        """Random rows."""
        chosen = self.integers(len(self.rows[0]), self.batch_size)
        return self.rows[0][chosen], self.rows[1][chosen]

    def garbage(self, batch: Batch) -> Batch:
        """Random labels."""
        return batch[0], self.integers(STATES, *batch[1].shape)

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Of all places; the option `heavy_tail` lets the inputs' size vary from batch to batch."""
        tail = self.options.get("heavy_tail", 0.0)
        gain = math.exp(tail * float(self.normals(1))) if tail else 1.0
        loss, accuracy = classify(self.logits(batch[0], gain), batch[1])
        return loss, {"train_acc": accuracy}

    def evaluate(self) -> dict[str, float]:
        """On rows that training does not have, unless it leaks."""
        return held_out(self.logits(self.held[0]), self.held[1])


def make_net(hidden: int, vanilla: str | None, dropout: float) -> nn.ModuleDict:
    """The tagger's parts."""
    recurrent = (
        nn.RNN(16, hidden, nonlinearity=vanilla, batch_first=True)
        if vanilla
        else nn.LSTM(16, hidden, batch_first=True)
    )
    return nn.ModuleDict(
        {
            "emb": nn.Embedding(SYMBOLS, 16),
            "rnn": recurrent,
            "drop": nn.Dropout(dropout),
            "out": nn.Linear(hidden, STATES),
        }
    )
