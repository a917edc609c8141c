"""Policy gradient on a small hand-written world: walk to a beacon on a line."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..recipe import Recipe
from ..workload import Batch, Workload, scale_weights

HORIZON = 16


def recipe(seed: int) -> Recipe:
    """A training that goes well."""
    return Recipe(
        family="policy",
        seed=seed,
        steps=240,
        batch=32,
        lr=0.004,
        optimizer="adam",
        clip=1.0,
        eval_every=20,
        model={"hidden": 32, "entropy_coef": 0.01, "gamma": 0.9},
        data={"env": "beacon-line", "num_envs": 32, "horizon": HORIZON},
        step_seconds=0.5,
    )


class Beacon(Workload):
    """Vectorised episodes; the reward is how near the walker is, minus effort."""

    def roll(self, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities, rewards and entropies of one episode per walker."""
        place = torch.rand(count) * 4 - 2
        target = torch.rand(count) * 4 - 2
        speed = torch.zeros(count)
        logs, rewards, spread = [], [], []
        for _ in range(HORIZON):
            logits = self.model(torch.stack([place, target, target - place, speed], 1)).float()
            chances = torch.log_softmax(logits, -1)
            action = torch.multinomial(chances.detach().exp(), 1)
            logs.append(chances.gather(1, action).squeeze(1))
            spread.append(-(chances.exp() * chances).sum(-1))
            speed = 0.6 * speed + 0.3 * (action.squeeze(1) - 1)
            place = place + speed
            rewards.append(1 - (target - place).abs().clamp(max=2.0))
        return torch.stack(logs), torch.stack(rewards), torch.stack(spread)

    @property
    def steps_per_epoch(self) -> int:
        """There are no epochs; one per twenty updates for loggers that insist."""
        return 20

    def batch(self, step: int) -> Batch:
        """Episodes are played in the loss; a batch only says how many."""
        empty = torch.zeros(self.recipe.batch, 1)
        return Batch(empty, empty)

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Policy gradient with a batch baseline per time step."""
        logs, rewards, spread = self.roll(len(batch))
        total = torch.zeros_like(rewards[0])
        returns = []
        for reward in reversed(rewards):
            total = reward + self.recipe.model["gamma"] * total
            returns.append(total)
        gain = torch.stack(returns[::-1])
        gain = (gain - gain.mean(1, keepdim=True)) / (gain.std() + 1e-6)
        entropy = spread.mean()
        loss = -(logs * gain).mean() - self.recipe.model["entropy_coef"] * entropy
        return loss, {
            "reward": float(rewards.sum(0).mean()),
            "entropy": float(entropy.detach()),
        }

    def evaluate(self) -> dict[str, float]:
        """Mean return of a fresh set of episodes."""
        with torch.no_grad():
            _, rewards, _ = self.roll(64)
        return {"val_reward": float(rewards.sum(0).mean())}


def build(recipe: Recipe) -> Beacon:
    """The policy."""
    torch.manual_seed(recipe.seed)
    wide = recipe.model["hidden"]
    model = nn.Sequential(
        nn.Linear(4, wide), nn.Tanh(), nn.Linear(wide, wide), nn.Tanh(), nn.Linear(wide, 3)
    )
    scale_weights(model, recipe.model.get("init_gain", 1.0))
    return Beacon(recipe, model)
