"""Wrong objectives, models and updates."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Frozen, KeptGradients, Negated, RouterBias
from ..shows import embeddings_shrink, validation_turns
from .jobs import job
from .planned import Kind, Planned

TINY = Kind(
    "tiny_capacity",
    ("plateau", "underfitting", "slow_convergence"),
    ("undercapacity",),
    also=("not_learning",),
)
OVERFIT = Kind(
    "overfit",
    ("overfitting",),
    ("overcapacity",),
    also=("forgetting", "suspicious_metric"),
    shows=validation_turns,
)
WRONG_SIGN = Kind(
    "wrong_sign",
    ("loss_divergence", "nan_loss", "not_learning", "exploding_gradients"),
    ("wrong_loss", "code_bug"),
    done=("wrong_loss", "code_bug"),
)
ROUTING = Kind(
    "moe_routing_collapse",
    ("mode_collapse", "param_imbalance", "dead_units"),
    ("objective_collapse",),
    also=("plateau", "underfitting", "slow_convergence"),
)
EMBEDDING = Kind(
    "embedding_collapse",
    ("mode_collapse", "degenerate_variance", "not_learning", "plateau"),
    ("objective_collapse", "lr_too_high"),
    done=("objective_collapse", "lr_too_high"),
    also=("dead_units", "vanishing_gradients", "underfitting"),
    shows=embeddings_shrink,
)
NOT_UPDATING = Kind(
    "not_updating",
    ("not_learning", "frozen_layers", "plateau"),
    ("frozen_parameters", "code_bug"),
    done=("frozen_parameters", "code_bug"),
)
NO_ZERO_GRAD = Kind(
    "missing_clearing",
    (
        "loss_divergence",
        "oscillating_loss",
        "exploding_gradients",
        "loss_spike",
        "not_learning",
        "plateau",
        "nan_loss",
    ),
    ("missing_zero_grad", "lr_too_high"),
)
NORM = ("lr", "grad_norm")


def plan() -> Iterator[Planned]:
    """All runs with a wrong objective, model or update."""
    yield from capacity()
    yield from collapses()
    yield from updates()


def capacity() -> Iterator[Planned]:
    """Too small, or too large for the data.

    A small language model or tagger merely learns less, which nobody would call wrong; so does a
    factorisation of few ratings, which lags behind on held-out ones from the start.
    """
    small = {"hidden": 1, "experts": 1}
    one = job("moe", steps=800, every=1, eval_every=80, **small)
    yield Planned(TINY, "epochs", one, ("acc",), True, small, twin={"options": {}})
    one = job("seq2seq", steps=1500, every=25, eval_every=150, hidden=4)
    config = {"hidden_size": 4}
    yield Planned(TINY, "jsonl", one, ("acc", "lr"), True, config, twin={"options": {}})
    one = job("tagger", steps=1500, lr=1e-2, every=15, eval_every=75, rows=60, hidden=64)
    yield Planned(OVERFIT, "csv", one, ("acc",), twin={"options": {}})


def collapses() -> Iterator[Planned]:
    """Objectives that are satisfied in a useless way."""
    for style, bias, count in (
        ("loguru", 12.5, 6),
        ("jsonl", 20.0, 8),
        ("hf", 15.0, 4),
        ("slurm", 12.5, 8),
    ):
        router = RouterBias(bias=bias)
        one = job("moe", steps=500, lr=1e-2, balance=0.0, experts=count, fault=router)
        config = {"router_aux_loss_coef": 0.0, "num_experts": count}
        balanced = {"options": {"experts": count}}
        yield Planned(ROUTING, style, one, ("acc", "lr"), style != "hf", config, twin=balanced)
    free = {"is_free": True, "margin": 1.0}
    for style, lr in (("loguru", 3e-2), ("csv", 2e-2), ("jsonl", 5e-2)):
        one = job("triplet", lr=lr, clip=None, eval_every=60, is_hardest=True, **free)
        yield Planned(EMBEDDING, style, one, NORM, twin={"lr": 1e-3, "options": free})


def updates() -> Iterator[Planned]:
    """Maximised, not updated, or with gradients of all steps."""
    one = job("lm", steps=300, every=5, eval_every=50, fault=Negated())
    yield Planned(WRONG_SIGN, "nanogpt", one, NORM)
    one = job("seq2seq", steps=400, eval_every=50, fault=Negated())
    yield Planned(WRONG_SIGN, "csv", one, ("acc", "lr"))
    one = job("ddpm", steps=600, fault=Negated())
    yield Planned(WRONG_SIGN, "torchtune", one, ("grad_norm",))
    one = job("tagger", every=20, eval_every=100, fault=Frozen())
    yield Planned(NOT_UPDATING, "hf", one, ("acc", *NORM))
    one = job("lm", steps=300, eval_every=100, fault=Frozen())
    yield Planned(NOT_UPDATING, "nanogpt", one, NORM)
    one = job("ddpm", steps=800, optimizer="sgd", lr=0.02, clip=None, fault=KeptGradients())
    yield Planned(NO_ZERO_GRAD, "tsv", one, NORM)
    one = job("seq2seq", steps=500, optimizer="sgd", lr=0.05, clip=None, fault=KeptGradients())
    yield Planned(NO_ZERO_GRAD, "loguru", one, ("grad_norm", "acc"))
