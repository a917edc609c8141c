"""Advantage actor-critic; one iteration is sixteen walkers by eight steps."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..clock import Clock
from ..hook import Hook
from ..job import Job, Row
from .worlds import Episodes, Numbers, World, make_world

WALKERS, LENGTH, DISCOUNT = 16, 8, 0.98
STEPS = WALKERS * LENGTH
"""World steps in an iteration."""


def perceptron(width: int, outputs: int, hidden: int = 64) -> nn.Sequential:
    """Two hidden layers."""
    return nn.Sequential(
        nn.Linear(width, hidden),
        nn.Tanh(),
        nn.Linear(hidden, hidden),
        nn.Tanh(),
        nn.Linear(hidden, outputs),
    )


class ActorCritic:
    """Policy and value nets in a world."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.rng = np.random.default_rng(job.seed)
        torch.manual_seed(job.seed)
        self.world: World = make_world(job.options, WALKERS, self.rng)
        self.policy = perceptron(self.world.width, self.world.actions)
        self.critic = perceptron(self.world.width, 1)
        with torch.no_grad():
            head = self.policy[-1]
            assert isinstance(head, nn.Linear)
            head.weight.mul_(job.options.get("head_scale", 1.0))
        self.parameters = [*self.policy.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, job.lr)
        self.episodes = Episodes(WALKERS)

    def walk(self) -> tuple[Tensor, Tensor, Tensor]:
        """Observations, actions and discounted returns of one iteration."""
        sign = -1.0 if self.job.options.get("flips_reward") else 1.0
        seen, taken, rewards, ends = [], [], [], []
        for _ in range(LENGTH):
            seen.append(self.world.seen())
            with torch.no_grad():
                odds = self.policy(torch.from_numpy(seen[-1])).softmax(-1).numpy()
            if not np.isfinite(odds).all():
                odds = np.full_like(odds, 1 / self.world.actions)
            drawn = (self.rng.random((WALKERS, 1)) > odds.cumsum(1)).sum(1)
            taken.append(drawn.clip(0, self.world.actions - 1))
            reward, is_over = self.world.act(taken[-1])
            self.episodes.add(reward, is_over)
            rewards.append(reward * sign)
            ends.append(is_over)
        with torch.no_grad():
            value = self.critic(torch.from_numpy(self.world.seen()))[:, 0].numpy()
        returns: list[Numbers] = []
        for reward, is_over in zip(reversed(rewards), reversed(ends), strict=True):
            value = reward + DISCOUNT * value * (1 - is_over)
            returns.insert(0, value)
        stacked = (np.concatenate(part) for part in (seen, taken, returns))
        observations, actions, gains = (torch.from_numpy(part) for part in stacked)
        return observations, actions, gains.float()

    def iterate(self, lr: float) -> dict[str, float]:
        """Walk, learn, and say how it went."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        seen, actions, gains = self.walk()
        odds: Tensor = self.policy(seen).log_softmax(-1)
        values: Tensor = self.critic(seen)[:, 0]
        better = (gains - values).detach()
        better = (better - better.mean()) / (better.std() + 1e-6)
        entropy = -(odds.exp() * odds).sum(-1).mean()
        policy_loss = -(odds.gather(1, actions[:, None])[:, 0] * better).mean()
        value_loss = F.mse_loss(values, gains)
        bonus = self.job.options.get("entropy_bonus", 0.01)
        self.optimizer.zero_grad()
        torch.autograd.backward([policy_loss + 0.5 * value_loss - bonus * entropy])
        norm = nn.utils.clip_grad_norm_(self.parameters, self.job.clip or 1e9)
        self.optimizer.step()
        unexplained = (gains - values.detach()).var() / (gains.var() + 1e-9)
        return {
            "entropy_loss": -entropy.item(),
            "explained_variance": 1 - unexplained.item(),
            "learning_rate": lr,
            "policy_loss": policy_loss.item(),
            "value_loss": value_loss.item(),
            "grad_norm": norm.item(),
        }


def actor_critic(job: Job) -> list[Row]:
    """Everything that such a job logs."""
    learner, clock, rows = ActorCritic(job), Clock(job, Hook()), []
    for iteration in range(1, job.last_step + 1):
        left = 1 - iteration / job.steps if job.schedule == "linear" else 1.0
        values = learner.iterate(job.lr * left)
        clock.tick(iteration)
        if iteration % job.every == 0:
            counts = {"iterations": iteration, "n_updates": iteration}
            values = {**learner.episodes.means(), **counts, **values}
            rows.append(Row("policy", iteration * STEPS, clock.now, values))
    return rows
