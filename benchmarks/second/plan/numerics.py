"""Numbers that go wrong: precision, initial weights, hardware, gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torch import nn

from ..faults import BitFlip, Growing, Saturated, ScaledInit, TinyScale
from ..job import Job, Options
from ..shows import loss_climbs
from .jobs import job
from .planned import Kind, Planned, after_hook
from .rates import IS_FLAT

BIT_FLIP = Kind(
    "bit_flip",
    (
        "loss_spike",
        "loss_divergence",
        "nan_loss",
        "exploding_gradients",
        "nan_gradients",
        "nan_weights",
    ),
    ("hardware_fault", "bad_batch", "numerical_instability"),
    onset=after_hook,
)
NO_CLIPPING = Kind(
    "missing_clipping",
    (
        "exploding_gradients",
        "loss_spike",
        "loss_divergence",
        "nan_loss",
        "oscillating_loss",
        "nan_gradients",
    ),
    ("missing_grad_clipping", "lr_too_high"),
    also=("not_learning", "plateau", "slow_convergence"),
)
OVERFLOW = Kind(
    "fp16_overflow_storm",
    ("loss_scale_collapse", "nan_loss", "nan_gradients", "loss_divergence"),
    ("precision_overflow", "numerical_instability"),
    also=("exploding_gradients", "loss_spike", "not_learning"),
)
UNDERFLOW = Kind(
    "low_precision_underflow",
    (*IS_FLAT, "vanishing_gradients"),
    ("precision_underflow", "lr_too_low"),
)
UNDERFLOW_OF_SCALE = replace(UNDERFLOW, causes=("precision_underflow",))
LARGE_INIT = Kind(
    "init_too_large",
    (
        "slow_convergence",
        "underfitting",
        "plateau",
        "loss_divergence",
        "exploding_gradients",
        "nan_loss",
        "not_learning",
        "degenerate_variance",
    ),
    ("poor_init",),
)
ZERO_INIT = Kind(
    "init_zero",
    (*IS_FLAT, "vanishing_gradients", "degenerate_variance", "dead_units", "frozen_layers"),
    ("poor_init",),
)
SATURATED = Kind(
    "saturated_activations",
    (*IS_FLAT, "vanishing_gradients", "dead_units"),
    ("saturating_activations", "poor_init"),
    done=("saturating_activations", "poor_init"),
)
GROWING = Kind(
    "weights_inflate",
    ("loss_divergence",),
    ("numerical_instability", "bad_config", "code_bug"),
    done=("numerical_instability", "bad_config", "code_bug"),
    also=("exploding_gradients", "oscillating_loss", "loss_spike"),
    shows=loss_climbs,
)
NORM = ("lr", "grad_norm")


def plan() -> Iterator[Planned]:
    """All runs whose numbers go wrong."""
    yield from gradients()
    yield from precision()
    yield from initial_weights()
    one = job("seq2seq", steps=700, fault=Growing(250, 0.006))
    yield Planned(GROWING, "fairseq", one, NORM)
    one = job("lm", steps=500, fault=Growing(150, 0.02))
    yield Planned(GROWING, "slurm", one, NORM)


def gradients() -> Iterator[Planned]:
    """Flipped bits, and gradients that nobody clips."""
    one = job("tagger", every=5, fault=BitFlip(300, "out.weight"))
    yield Planned(BIT_FLIP, "csv", one, ("grad_norm", "acc"))
    one = job("lm", every=5, fault=BitFlip(220, "blocks.1.out.bias"))
    yield Planned(BIT_FLIP, "megatron", one, ("grad_norm",))
    one = job("ddpm", fault=BitFlip(600, "6.bias"))
    yield Planned(BIT_FLIP, "loguru", one, NORM)
    one = job("moe", every=5, eval_every=50, fault=BitFlip(250, "inp.bias"))
    yield Planned(BIT_FLIP, "jsonl", one, ("acc", "grad_norm"))
    clipped = {"clip": 0.25}
    one = unclipped(0.1, 2.0, 1.6)
    yield Planned(NO_CLIPPING, "deepspeed", one, NORM, has_config=True, twin=clipped)
    yield Planned(NO_CLIPPING, "tsv", unclipped(0.3, 2.0, 1.2), NORM, twin=clipped)
    one = job("seq2seq", steps=400, optimizer="sgd", lr=3.0, clip=None, every=5, length=8)
    yield Planned(NO_CLIPPING, "slurm", one, NORM, has_config=True, twin=clipped)
    yield Planned(NO_CLIPPING, "fairseq", unclipped(0.15, 2.2, 1.4), NORM, twin=clipped)


def unclipped(lr: float, gain: float, tail: float) -> Job:
    """A plain recurrent net whose gradients explode now and then."""
    net = {"vanilla": "relu", "length": 30, "hidden": 48}
    data = {"recurrent_gain": gain, "heavy_tail": tail}
    settings = {"steps": 500, "optimizer": "sgd", "clip": None, "every": 5}
    return job("tagger", lr=lr, **settings, **net, **data)


def precision() -> Iterator[Planned]:
    """Too large or too small for sixteen bits."""
    half = {"precision": "fp16"}
    one = job("lm", steps=260, every=2, fault=Growing(20, 0.025), **half)
    yield Planned(OVERFLOW, "deepspeed", one, ("grad_norm",), has_config=True)
    one = job("lm", steps=240, every=1, fault=Growing(20, 0.03), **half)
    yield Planned(OVERFLOW, "megatron", one, ("grad_norm",))
    one = job("ddpm", steps=500, every=5, fault=Growing(200, 0.04), **half)
    yield Planned(OVERFLOW, "fairseq", one, ("grad_norm",))
    free = {"is_free": True, "margin": 5.0}
    one = job("triplet", steps=400, every=5, fault=Growing(150, 0.03), **half, **free)
    yield Planned(OVERFLOW, "loguru", one, ("grad_norm",), has_config=True)
    full = {"precision": "fp32"}
    one = job("lm", lr=3e-5, warmup=10, precision="bf16_pure")
    config: Options = {"master_weights": "bfloat16"}
    yield Planned(UNDERFLOW, "torchtitan", one, NORM, True, config, twin=full)
    one = job("lm", steps=500, lr=5e-5, schedule="cosine", precision="bf16_pure")
    config = {"bf16_full": True, "optim_dtype": "bfloat16"}
    yield Planned(UNDERFLOW, "hf", one, NORM, True, config, twin=full)
    scale = 2.0**-16
    settings = {"optimizer": "sgd0", "clip": None, "precision": "fp16_pure"}
    one = job("lm", lr=0.3, fault=TinyScale(factor=scale), **settings)
    config = {"loss_scale": scale, "fp16": True}
    signals = ("grad_norm", "zeros")
    yield Planned(UNDERFLOW_OF_SCALE, "megatron", one, signals, True, config, twin=full)


def initial_weights() -> Iterator[Planned]:
    """Too large, all zero, or behind flat activations."""
    one = job("lm", every=5, eval_every=100, fault=ScaledInit(factor=25.0))
    yield Planned(LARGE_INIT, "nanogpt", one, ("grad_norm",))
    one = job("ddpm", fault=ScaledInit(factor=12.0))
    yield Planned(LARGE_INIT, "tsv", one, NORM)
    one = job("moe", every=5, eval_every=50, fault=ScaledInit(factor=15.0))
    yield Planned(LARGE_INIT, "loguru", one, ("grad_norm", "acc"))
    one = job("mf", eval_every=100, std=4.0)
    yield Planned(LARGE_INIT, "csv", one, ("lr",), twin={"options": {}})
    signals = ("layers", "grad_norm")
    free = {"is_free": True, "layer_norms": True, "eval_every": 100}
    one = job("triplet", fault=ScaledInit(factor=0.0), **free)
    yield Planned(ZERO_INIT, "jsonl", one, signals)
    one = job("seq2seq", every=20, fault=ScaledInit(factor=0.0))
    yield Planned(ZERO_INIT, "hf", one, ("grad_norm", "acc"))
    sigmoid = Saturated(activation=nn.Sigmoid, factor=1500.0, bias=2500.0)
    one = job("ddpm", steps=800, layer_norms=True, fault=sigmoid)
    yield Planned(SATURATED, "jsonl", one, signals)
    tangent = Saturated(activation=nn.Tanh, factor=1500.0, bias=2500.0)
    yield Planned(SATURATED, "csv", job("triplet", fault=tangent, **free), signals)
    tangent = Saturated(activation=nn.Tanh, factor=3000.0, bias=4000.0)
    one = job("ddpm", steps=800, every=20, layer_norms=True, fault=tangent)
    yield Planned(SATURATED, "loguru", one, signals)
