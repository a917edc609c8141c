"""Two little worlds in which several walkers act at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]
Flags = NDArray[np.bool_]
Actions = NDArray[np.int64]


class World(ABC):
    """What walkers see, and what their actions bring."""

    actions: int
    width: int

    def __init__(self, walkers: int, rng: np.random.Generator) -> None:
        self.walkers, self.rng = walkers, rng
        self.age = np.zeros(walkers, int)

    @abstractmethod
    def seen(self) -> Numbers:
        """The walkers' observations."""

    @abstractmethod
    def act(self, actions: Actions) -> tuple[Numbers, Flags]:
        """Rewards, and whose episode is over; those begin anew."""


class Grid(World):
    """Six by six places with a goal (reward 1) and pits (-1)."""

    actions, width = 4, 36
    side, goal, pits, limit = 6, 35, (8, 20), 40
    starts = (0, 1, 5, 6, 11, 17, 22, 29, 33)

    def __init__(self, walkers: int, rng: np.random.Generator) -> None:
        super().__init__(walkers, rng)
        self.places = rng.choice(self.starts, walkers)

    def seen(self) -> Numbers:
        """One unit for each place."""
        units: Numbers = np.eye(self.width, dtype=np.float32)[self.places]
        return units

    def act(self, actions: Actions) -> tuple[Numbers, Flags]:
        """Walk one place; a step costs a little."""
        across, up = self.places % self.side, self.places // self.side
        across = np.clip(across + (actions == 0) - (actions == 1), 0, self.side - 1)
        up = np.clip(up + (actions == 2) - (actions == 3), 0, self.side - 1)
        self.places = up * self.side + across
        self.age += 1
        fell, won = np.isin(self.places, self.pits), self.places == self.goal
        is_over = fell | won | (self.age >= self.limit)
        rewards = (1.0 * won - 1.0 * fell - 0.01).astype(np.float32)
        self.places[is_over] = self.rng.choice(self.starts, int(is_over.sum()))
        self.age[is_over] = 0
        return rewards, is_over


class Pole(World):
    """A cart that balances a pole, by the usual equations."""

    actions, width = 2, 4
    limit = 200

    def __init__(self, walkers: int, rng: np.random.Generator) -> None:
        super().__init__(walkers, rng)
        self.state = self.fresh(walkers)

    def fresh(self, count: int) -> NDArray[np.float64]:
        """Nearly upright, nearly at rest."""
        return self.rng.uniform(-0.05, 0.05, (count, 4))

    def seen(self) -> Numbers:
        """Position, speed, angle and its speed, to scale."""
        return (self.state * [0.5, 0.5, 5, 0.5]).astype(np.float32)

    def act(self, actions: Actions) -> tuple[Numbers, Flags]:
        """Push left or right for a fiftieth of a second; each one survived is worth 1."""
        place, speed, angle, turn = self.state.T
        force = np.where(actions == 1, 10.0, -10.0)
        cosine, sine = np.cos(angle), np.sin(angle)
        push = (force + 0.05 * turn * turn * sine) / 1.1
        bend = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
        self.state = np.stack(
            [
                place + 0.02 * speed,
                speed + 0.02 * (push - 0.05 * bend * cosine / 1.1),
                angle + 0.02 * turn,
                turn + 0.02 * bend,
            ],
            1,
        )
        self.age += 1
        is_over = np.abs(self.state[:, 0]) > 2.4
        is_over |= (np.abs(self.state[:, 2]) > 0.209) | (self.age >= self.limit)
        self.state[is_over] = self.fresh(int(is_over.sum()))
        self.age[is_over] = 0
        return np.ones(self.walkers, np.float32), is_over


def make_world(options: dict[str, Any], walkers: int, rng: np.random.Generator) -> World:
    """The world that the options name."""
    return Pole(walkers, rng) if options.get("world") == "pole" else Grid(walkers, rng)


class Episodes:
    """Returns and lengths of the last hundred episodes."""

    def __init__(self, walkers: int) -> None:
        self.rewards, self.lengths = np.zeros(walkers), np.zeros(walkers, int)
        self.ended: deque[tuple[float, int]] = deque(maxlen=100)
        self.count = 0

    def add(self, rewards: Numbers, is_over: Flags) -> None:
        """Take one step of all walkers into account."""
        self.rewards += rewards
        self.lengths += 1
        for walker in np.flatnonzero(is_over):
            self.ended.append((self.rewards[walker], self.lengths[walker]))
            self.rewards[walker] = self.lengths[walker] = 0
            self.count += 1

    def means(self) -> dict[str, float]:
        """What loggers of such trainings say; NaN before the first end."""
        table = np.array(self.ended or [(np.nan, np.nan)], dtype=float)
        reward, length = table.mean(0).tolist()
        return {"ep_len_mean": length, "ep_rew_mean": reward}
