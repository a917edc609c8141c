"""Deep Q learning with replay and a target net; eight walkers, one update per step."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..clock import Clock
from ..hook import Hook
from ..job import Job, Row
from .actor_critic import perceptron
from .worlds import Actions, Episodes, Flags, Numbers, World, make_world

WALKERS, KEPT, BATCH, DISCOUNT = 8, 4000, 64, 0.97
WAIT = 25
"""Steps before the first update."""
COPY_EVERY = 100


class Replay:
    """The last few thousand transitions."""

    def __init__(self, width: int) -> None:
        self.before = np.zeros((KEPT, width), np.float32)
        self.after = np.zeros((KEPT, width), np.float32)
        self.actions = np.zeros(KEPT, int)
        self.rewards = np.zeros(KEPT, np.float32)
        self.ends = np.zeros(KEPT, np.float32)
        self.seen = 0

    def add(
        self, before: Numbers, actions: Actions, rewards: Numbers, after: Numbers, ends: Flags
    ) -> None:
        """Keep one step of all walkers in place of the oldest."""
        places = np.arange(self.seen, self.seen + WALKERS) % KEPT
        self.before[places], self.after[places] = before, after
        self.actions[places], self.rewards[places], self.ends[places] = actions, rewards, ends
        self.seen += WALKERS

    def sample(self, rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """A random batch: before, action, reward, after, end."""
        chosen = rng.integers(0, min(self.seen, KEPT), BATCH)
        before, after, actions, rewards, ends = (
            torch.from_numpy(column[chosen])
            for column in (self.before, self.after, self.actions, self.rewards, self.ends)
        )
        return before, actions, rewards, after, ends


class QLearner:
    """A value net, its lagging copy and the world."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.rng = np.random.default_rng(job.seed)
        torch.manual_seed(job.seed)
        self.world: World = make_world(job.options, WALKERS, self.rng)
        self.net = perceptron(self.world.width, self.world.actions)
        self.copy = perceptron(self.world.width, self.world.actions)
        self.copy.load_state_dict(self.net.state_dict())
        self.optimizer = torch.optim.Adam(self.net.parameters(), job.lr)
        self.replay = Replay(self.world.width)
        self.episodes = Episodes(WALKERS)

    def exploration(self, step: int) -> float:
        """Share of random actions: falls over the first part of the run."""
        options = self.job.options
        falling: float = options.get("exploring", 0.4) * self.job.steps
        progress = min(1.0, step / falling)
        final: float = options.get("final_exploration", 0.05)
        return 1.0 + progress * (final - 1.0)

    def walk(self, step: int) -> None:
        """One step of all walkers."""
        seen = self.world.seen()
        with torch.no_grad():
            best = self.net(torch.from_numpy(seen)).argmax(1).numpy()
        is_random = self.rng.random(WALKERS) < self.exploration(step)
        actions = np.where(is_random, self.rng.integers(0, self.world.actions, WALKERS), best)
        rewards, is_over = self.world.act(actions)
        self.episodes.add(rewards, is_over)
        learnt = -rewards if self.job.options.get("flips_reward") else rewards
        self.replay.add(seen, actions, learnt, self.world.seen(), is_over)

    def learn(self) -> float:
        """One update; returns its loss."""
        before, actions, rewards, after, ends = self.replay.sample(self.rng)
        with torch.no_grad():
            wanted = rewards + DISCOUNT * self.copy(after).max(1)[0] * (1 - ends)
        given = self.net(before).gather(1, actions[:, None])[:, 0]
        loss = F.smooth_l1_loss(given, wanted)
        self.optimizer.zero_grad()
        torch.autograd.backward([loss])
        if self.job.clip:
            nn.utils.clip_grad_norm_(self.net.parameters(), self.job.clip)
        self.optimizer.step()
        return loss.item()


def q_learning(job: Job) -> list[Row]:
    """Everything that such a job logs."""
    learner, clock, rows, loss = QLearner(job), Clock(job, Hook()), [], 0.0
    for step in range(1, job.last_step + 1):
        learner.walk(step)
        if step > WAIT:
            loss = learner.learn()
        if step % COPY_EVERY == 0:
            learner.copy.load_state_dict(learner.net.state_dict())
        clock.tick(step)
        if step % job.every == 0:
            values = learner.episodes.means() | {
                "exploration_rate": learner.exploration(step),
                "episodes": learner.episodes.count,
                "learning_rate": job.lr,
                "loss": loss,
                "n_updates": max(0, step - WAIT),
            }
            rows.append(Row("policy", step * WALKERS, clock.now, values))
    return rows
