"""Fine-tuning and training by reward that goes wrong."""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Options
from ..shows import reward_is_lost, validation_turns
from .jobs import job
from .planned import Kind, Planned

FORGETTING = Kind(
    "old_task_forgotten",
    ("forgetting",),
    ("sequential_training", "lr_too_high", "distribution_shift"),
    done=("sequential_training", "lr_too_high", "distribution_shift"),
    also=("overfitting",),
)
OVERFIT = Kind(
    "finetune_overfit",
    ("overfitting",),
    ("overcapacity",),
    also=("forgetting", "suspicious_metric"),
    shows=validation_turns,
)
POLICY = Kind(
    "policy_collapse",
    ("mode_collapse", "not_learning", "plateau", "loss_divergence"),
    ("objective_collapse", "lr_too_high"),
    done=("objective_collapse", "lr_too_high"),
    also=("forgetting", "oscillating_loss", "vanishing_gradients"),
    shows=reward_is_lost,
)
EXPLORATION = Kind(
    "exploration_never_decays",
    ("not_learning", "plateau", "slow_convergence"),
    ("bad_config", "code_bug"),
    shows=reward_is_lost,
)
REWARD_SIGN = Kind(
    "reward_sign_flipped",
    ("not_learning", "loss_divergence", "plateau"),
    ("wrong_loss", "code_bug"),
    done=("wrong_loss", "code_bug"),
    also=("mode_collapse",),
    shows=reward_is_lost,
)
GENERATION = Kind(
    "generation_collapse",
    ("mode_collapse",),
    ("objective_collapse", "lr_too_high"),
    done=("objective_collapse", "lr_too_high"),
    also=("loss_divergence", "forgetting", "suspicious_metric"),
)
NORM = ("lr", "grad_norm")


def plan() -> Iterator[Planned]:
    """All runs that are tuned wrong."""
    yield from fine_tuning()
    yield from worlds()
    for style, lr in (("trl", 2e-3), ("loguru", 4e-3), ("hf", 3e-3)):
        leashed = {"lr": 1e-4, "options": {"leash": 0.05}}
        yield Planned(GENERATION, style, job("rlhf", lr=lr, leash=0.0), NORM, twin=leashed)


def fine_tuning() -> Iterator[Planned]:
    """Of a pretrained language model."""
    gentle = {"lr": 3e-5}
    one = job("sft", lr=3e-3, every=5, eval_every=25)
    yield Planned(FORGETTING, "nanogpt", one, ("lr",), twin=gentle)
    one = job("sft", steps=360, lr=1e-3, eval_every=30)
    yield Planned(FORGETTING, "hf", one, NORM, twin=gentle)
    one = job("sft", lr=3e-3, eval_every=20, rank=8)
    yield Planned(FORGETTING, "loguru", one, ("lr",), has_config=True, twin=gentle)
    one = job("sft", lr=2e-3, every=5, eval_every=30, schedule="cosine")
    yield Planned(FORGETTING, "jsonl", one, NORM, twin=gentle)
    one = job("sft", steps=400, lr=2e-3, eval_every=25, data="library", characters=500)
    enough = {"lr": 3e-4, "options": {"data": "library"}}
    yield Planned(OVERFIT, "nanogpt", one, ("lr",), twin=enough)
    one = job("sft", steps=500, lr=1e-3, eval_every=25, rows=25)
    yield Planned(OVERFIT, "trl", one, NORM, twin={"options": {}})


def worlds() -> Iterator[Planned]:
    """Policies that collapse, never settle or want the wrong thing."""
    calm = {"lr": 1e-3, "options": {"world": "pole"}}
    greedy = {"world": "pole", "entropy_bonus": 0.0}
    yield Planned(POLICY, "sb3", job("a2c", lr=2e-2, **greedy), (), twin=calm)
    one = job("a2c", steps=400, lr=3e-2, **greedy)
    yield Planned(POLICY, "sb3", one, ("grad_norm",), has_config=True, twin=calm)
    one = job("a2c", lr=5e-2, entropy_bonus=0.0, head_scale=8.0)
    yield Planned(POLICY, "jsonl", one, (), twin={"lr": 2e-3, "options": {}})
    one = job("a2c", steps=600, lr=1.5e-2, **greedy)
    yield Planned(POLICY, "loguru", one, (), twin=calm)
    usual: dict[str, Options] = {"options": {}}
    yield Planned(EXPLORATION, "sb3", job("dqn", final_exploration=1.0), (), twin=usual)
    one = job("dqn", world="pole", final_exploration=1.0)
    config = {"exploration_initial_eps": 1.0, "exploration_final_eps": 1.0}
    pole = {"options": {"world": "pole"}}
    yield Planned(EXPLORATION, "csv", one, (), True, config, twin=pole)
    one = job("dqn", steps=2000, final_exploration=0.9)
    yield Planned(EXPLORATION, "sb3", one, (), has_config=False, twin=usual)
    for family in ("a2c", "dqn"):
        yield Planned(REWARD_SIGN, "sb3", job(family, flips_reward=True), (), twin=usual)
