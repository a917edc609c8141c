"""Wrong learning rates, from the start or from a step on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..faults import RateFactor, RateGrowth
from ..shows import loss_climbs
from .jobs import job
from .planned import Kind, Planned, at_hook, at_resume

DIVERGES = ("loss_divergence", "nan_loss", "exploding_gradients")
IS_FLAT = ("not_learning", "plateau", "slow_convergence", "underfitting")

TOO_HIGH = Kind(
    "lr_too_high_diverges",
    (*DIVERGES, "loss_spike"),
    ("lr_too_high",),
    also=("not_learning", "oscillating_loss", "lr_anomaly", "nan_gradients", "nan_weights"),
)
TOO_HIGH_FLAT = Kind(
    "lr_too_high_plateau",
    (*IS_FLAT, "oscillating_loss", "loss_divergence", "loss_spike"),
    ("lr_too_high",),
    also=("lr_anomaly",),
)
TOO_LOW = Kind("lr_too_low", IS_FLAT, ("lr_too_low",), also=("lr_anomaly",))
JUMP = Kind(
    "lr_jump_midrun",
    ("lr_anomaly", "loss_spike", "oscillating_loss", *DIVERGES),
    ("lr_schedule", "lr_too_high"),
    done=("lr_schedule", "lr_too_high"),
    onset=at_hook,
)
GROWTH = Kind(
    "slow_divergence",
    ("loss_divergence",),
    ("lr_schedule", "lr_too_high"),
    done=("lr_schedule", "lr_too_high"),
    also=("exploding_gradients", "oscillating_loss", "lr_anomaly"),
    shows=loss_climbs,
)
SCHEDULE_RESTARTED = Kind(
    "resume_schedule_restarted",
    ("resume_discontinuity", "lr_anomaly"),
    ("lr_schedule", "stale_optimizer_state"),
    if_loss_jumps=("loss_spike", "loss_divergence"),
    onset=at_resume,
    rate_is_effect=True,
)
BOTH_RESTARTED = replace(SCHEDULE_RESTARTED, done=("lr_schedule", "stale_optimizer_state"))
RATE, NORM = ("lr",), ("lr", "grad_norm")


def plan() -> Iterator[Planned]:
    """All runs with a wrong rate."""
    yield from too_high()
    yield from too_low()
    yield from changed()


def too_high() -> Iterator[Planned]:
    """Diverging, or stuck."""
    sgd = {"optimizer": "sgd", "clip": None}
    one = job("lm", lr=4.0, warmup=200, every=5, eval_every=100, **sgd)
    yield Planned(TOO_HIGH, "nanogpt", one, has_config=True, twin={"lr": 0.05})
    one = job("ddpm", lr=0.9, warmup=300, **sgd)
    yield Planned(TOO_HIGH, "tsv", one, NORM, twin={"lr": 0.02})
    one = job("lm", lr=6.0, warmup=250, is_pre_norm=False, **sgd)
    yield Planned(TOO_HIGH, "hf", one, NORM, twin={"lr": 0.05})
    one = job("mf", lr=40.0, warmup=400, every=20, **sgd)
    yield Planned(TOO_HIGH, "csv", one, RATE, has_config=True, twin={"lr": 0.5})
    one = job("tagger", lr=25.0, warmup=200, **sgd)
    yield Planned(TOO_HIGH, "torchtune", one, has_config=True, twin={"lr": 0.5})
    one = job("lm", lr=0.15, warmup=0, eval_every=100)
    yield Planned(TOO_HIGH_FLAT, "megatron", one, NORM, has_config=True, twin={"lr": 3e-3})
    one = job("lm", lr=0.03, warmup=0, clip=None, is_pre_norm=False, layers=3)
    yield Planned(TOO_HIGH_FLAT, "torchtitan", one, NORM, has_config=True, twin={"lr": 1e-3})
    one = job("seq2seq", lr=0.15, every=20)
    signals = ("lr", "grad_norm", "acc")
    yield Planned(TOO_HIGH_FLAT, "fairseq", one, signals, has_config=True, twin={"lr": 4e-3})
    one = job("moe", lr=0.4, every=1, eval_every=40)
    yield Planned(TOO_HIGH_FLAT, "epochs", one, ("lr", "acc"), twin={"lr": 5e-3})
    one = job("mf", lr=1.0, clip=None, eval_every=100)
    yield Planned(TOO_HIGH_FLAT, "jsonl", one, RATE, twin={"lr": 2e-2})


def too_low() -> Iterator[Planned]:
    """Hardly moving."""
    one = job("lm", lr=4e-6, eval_every=100)
    yield Planned(TOO_LOW, "nanogpt", one, RATE, has_config=True, twin={"lr": 3e-3})
    signals = ("lr", "grad_norm", "acc")
    one = job("seq2seq", lr=1e-5, every=20, eval_every=200)
    yield Planned(TOO_LOW, "hf", one, signals, twin={"lr": 4e-3})
    one = job("tagger", lr=1e-5, every=20, eval_every=200)
    yield Planned(TOO_LOW, "loguru", one, signals, has_config=True, twin={"lr": 5e-3})
    one = job("lm", lr=1e-6)
    yield Planned(TOO_LOW, "deepspeed", one, has_config=True, twin={"lr": 3e-3})
    one = job("moe", lr=4e-6, every=1, eval_every=40)
    yield Planned(TOO_LOW, "epochs", one, ("lr", "acc"), has_config=True, twin={"lr": 5e-3})


def changed() -> Iterator[Planned]:
    """Wrong from a step on."""
    one = job("ddpm", fault=RateFactor(600, 60))
    yield Planned(JUMP, "tsv", one, NORM)
    one = job("lm", every=5, fault=RateFactor(250, 40))
    yield Planned(JUMP, "torchtitan", one, NORM)
    one = job("moe", every=5, eval_every=50, fault=RateFactor(250, 60))
    yield Planned(JUMP, "jsonl", one, ("lr", "acc"))
    one = job("ddpm", steps=1200, fault=RateGrowth(200, 1.006))
    yield Planned(GROWTH, "tsv", one, NORM)
    one = job("lm", steps=600, warmup=0, eval_every=100, fault=RateGrowth(100, 1.012))
    yield Planned(GROWTH, "nanogpt", one, NORM)
    one = job("seq2seq", steps=800, fault=RateGrowth(200, 1.01))
    yield Planned(GROWTH, "hf", one, NORM)
    well, both = {"resume": "ok"}, {"resume": "both", "every": 5}
    one = job("lm", lr=2e-2, schedule="cosine", steps=600, resume_at=480, eval_every=60, **both)
    yield Planned(BOTH_RESTARTED, "nanogpt", one, NORM, twin=well)
    one = job("sft", lr=1e-2, schedule="linear", steps=400, resume_at=330, data="library", **both)
    yield Planned(BOTH_RESTARTED, "hf", one, NORM, twin=well)
    settings = {"schedule": "cosine", "steps": 500, "warmup": 20, "every": 5}
    one = job("lm", lr=3e-2, resume_at=400, resume="sched", **settings)
    yield Planned(SCHEDULE_RESTARTED, "megatron", one, ("grad_norm",), twin=well)
    both["every"] = 10
    one = job("seq2seq", lr=3e-2, schedule="linear", steps=800, resume_at=650, **both)
    yield Planned(BOTH_RESTARTED, "fairseq", one, ("grad_norm", "acc"), twin=well)
    one = job("tagger", lr=6e-2, schedule="step", steps=900, resume_at=720, eval_every=90, **both)
    yield Planned(BOTH_RESTARTED, "loguru", one, NORM, twin=well)
