"""Wrong data: batches, labels, pipelines and curricula."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Echoed, Garbage, Longer, Relabelled, Rescaled
from ..job import Options
from ..shows import validation_turns
from .jobs import job
from .planned import Kind, Planned, at_hook

ONE_BATCH = Kind(
    "garbage_batch_recovers",
    ("loss_spike",),
    ("bad_batch",),
    also=("exploding_gradients",),
    onset=at_hook,
)
POCKET = Kind(
    "bad_data_pocket",
    ("loss_spike", "loss_divergence"),
    ("bad_batch", "corrupt_labels", "data_pipeline_change", "distribution_shift"),
    done=("bad_batch", "corrupt_labels"),
    also=("exploding_gradients", "oscillating_loss"),
    onset=at_hook,
)
PIPELINE = Kind(
    "pipeline_change",
    ("loss_spike", "loss_divergence"),
    ("data_pipeline_change", "distribution_shift"),
    done=("data_pipeline_change", "distribution_shift"),
    also=("exploding_gradients", "plateau", "resume_discontinuity"),
    onset=at_hook,
)
CURRICULUM = Kind(
    "curriculum_diverges",
    ("loss_spike", "loss_divergence"),
    ("curriculum_transition", "distribution_shift", "data_pipeline_change"),
    done=("curriculum_transition", "distribution_shift", "data_pipeline_change"),
    also=("exploding_gradients", "plateau", "throughput_drop", "oscillating_loss"),
    onset=at_hook,
)
NOISE = Kind(
    "label_noise",
    ("plateau", "underfitting", "not_learning", "suspicious_metric"),
    ("corrupt_labels",),
    also=("slow_convergence",),
)
MEMORISED = Kind(
    "label_noise_memorised",
    ("overfitting",),
    ("corrupt_labels", "overcapacity"),
    also=("underfitting", "suspicious_metric"),
    shows=validation_turns,
)
ECHO = Kind(
    "targets_not_shifted",
    ("suspicious_metric",),
    ("data_leakage", "code_bug", "wrong_loss"),
    done=("data_leakage", "code_bug"),
)
LEAKAGE = Kind("leakage", ("suspicious_metric",), ("data_leakage",), verdict="unobservable")
NORM = ("lr", "grad_norm")


def plan() -> Iterator[Planned]:
    """All runs with wrong data."""
    yield from pockets()
    yield from changes()
    yield from labels()


def pockets() -> Iterator[Planned]:
    """Garbage for some steps."""
    one = job("ddpm", clip=None, every=5, mode="mean", fault=Garbage(498))
    yield Planned(ONE_BATCH, "tsv", one, NORM)
    one = job("mf", clip=None, eval_every=100, fault=Garbage(500, 3))
    yield Planned(ONE_BATCH, "jsonl", one, NORM)
    one = job("lm", clip=None, every=2, fault=Garbage(201, 14))
    yield Planned(ONE_BATCH, "deepspeed", one, ("grad_norm",))
    one = job("seq2seq", lr=1e-2, clip=None, every=5, mode="mean", fault=Garbage(400, 12))
    yield Planned(ONE_BATCH, "hf", one, NORM)
    one = job("triplet", lr=1e-2, clip=None, every=2, fault=Garbage(400, 12))
    yield Planned(ONE_BATCH, "loguru", one, NORM)
    one = job("lm", steps=500, every=5, eval_every=100, fault=Garbage(250, 70, 0.8))
    yield Planned(POCKET, "nanogpt", one, NORM)
    one = job("seq2seq", fault=Garbage(380, 90, 0.7))
    yield Planned(POCKET, "fairseq", one, ("acc", "grad_norm"))
    one = job("moe", every=5, eval_every=40, fault=Garbage(240, 60, 0.9))
    yield Planned(POCKET, "csv", one, ("acc",))
    one = job("lm", steps=500, warmup=50, fault=Garbage(301, 50))
    yield Planned(POCKET, "megatron", one, ("grad_norm",))


def changes() -> Iterator[Planned]:
    """Other data from a step on."""
    one = job("lm", every=5, eval_every=50, fault=Relabelled(250))
    yield Planned(PIPELINE, "torchtune", one, ("grad_norm",))
    one = job("moe", every=5, eval_every=40, fault=Rescaled(220, 12.0))
    yield Planned(PIPELINE, "loguru", one, ("grad_norm", "acc", "lr"))
    one = job("ddpm", eval_every=100, fault=Rescaled(500, 6.0))
    yield Planned(PIPELINE, "tsv", one, ("lr",))
    one = job("seq2seq", steps=800, lr=2e-2, length=4, shows_length=True, fault=Longer(500, 18))
    yield Planned(CURRICULUM, "loguru", one, ("acc", "lr", "grad_norm", "step_time"))
    one = job("seq2seq", steps=900, lr=1e-2, length=5, shows_length=True, fault=Longer(600, 24))
    yield Planned(CURRICULUM, "fairseq", one, ("acc", "grad_norm"))
    settings = {"lr": 1e-2, "clip": None, "length": 4, "shows_length": True}
    one = job("seq2seq", steps=700, fault=Longer(400, 20, 4.0), **settings)
    yield Planned(CURRICULUM, "jsonl", one, ("acc", "lr"))


def labels() -> Iterator[Planned]:
    """Wrong or leaking targets."""
    clean: dict[str, Options] = {"options": {}}
    one = job("moe", steps=800, every=1, eval_every=80, noise=0.5)
    yield Planned(NOISE, "epochs", one, ("acc",), twin=clean)
    one = job("tagger", steps=900, every=20, eval_every=90, noise=0.6)
    yield Planned(NOISE, "hf", one, ("acc", "grad_norm"), twin=clean)
    few = {"rows": 160, "hidden": 64}
    one = job("tagger", steps=2400, lr=1e-2, every=40, eval_every=120, noise=0.45, **few)
    yield Planned(MEMORISED, "jsonl", one, ("acc",), twin={"options": few})
    few = {"rows": 500, "hidden": 64}
    one = job("moe", steps=1200, lr=1e-2, every=20, eval_every=60, noise=0.6, **few)
    yield Planned(MEMORISED, "csv", one, ("acc", "lr"), twin={"options": few})
    one = job("lm", eval_every=100, fault=Echoed())
    yield Planned(ECHO, "nanogpt", one, ("lr",), has_config=True)
    one = job("lm", steps=600, lr=1e-2, fault=Echoed())
    yield Planned(ECHO, "hf", one, NORM)
    one = job("lm", steps=300, lr=5e-3, every=5, is_pre_norm=False, fault=Echoed())
    yield Planned(ECHO, "torchtitan", one, has_config=True)
    one = job("moe", steps=800, every=1, eval_every=80, rows=400, leaks=True)
    yield Planned(LEAKAGE, "epochs", one, ("acc",))
    one = job("tagger", steps=1200, every=30, eval_every=120, rows=300, hidden=64, leaks=True)
    yield Planned(LEAKAGE, "hf", one, ("acc", "lr"))
