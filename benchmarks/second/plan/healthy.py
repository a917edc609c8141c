"""Healthy trainings from scratch, with the traps of real life."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Garbage
from ..job import Job
from .jobs import job
from .planned import Kind, Planned

NOTE = (
    "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/transformer.py:379: UserWarning: "
    "enable_nested_tensor is True, but self.use_nested_tensor is False because "
    "encoder_layer.norm_first was True\n  warnings.warn(\n"
)
RATE, NORM, SCORED = ("lr",), ("lr", "grad_norm"), ("lr", "acc")


def healthy(
    trap: str,
    style: str,
    one: Job,
    signals: tuple[str, ...] | None = None,
    has_config: bool | None = None,
    ending: tuple[str, str] | None = None,
) -> Planned:
    """A run about which nobody should warn; it runs still if it has not made all its steps."""
    kind = Kind(trap, verdict="healthy")
    is_finished = not one.stop_at
    return Planned(kind, style, one, signals, has_config, is_finished=is_finished, ending=ending)


def plan() -> Iterator[Planned]:
    """All healthy runs from scratch."""
    yield from transformers()
    yield from machines()
    yield from taggers()
    yield from reversals()
    yield from diffusions()
    yield from others()


def transformers() -> Iterator[Planned]:
    """Language models."""
    one = job("lm", steps=800, schedule="cosine", warmup=60, eval_every=100)
    yield healthy("cosine_warmup", "nanogpt", one)
    one = job("lm", steps=900, lr=2e-3, every=5, eval_every=150, batch=4)
    yield healthy("small_batch_noise", "nanogpt", one, NORM)
    one = job("lm", steps=500, lr=2e-3, warmup=120, schedule="rsqrt", is_pre_norm=False, layers=3)
    one.eval_every = 100
    yield healthy("late_norm_warmup", "megatron", one, has_config=True)
    half = {"precision": "fp16", "every": 5}
    one = job("lm", steps=300, init_scale=2.0**26, **half)
    yield healthy("usual_overflows", "megatron", one, ("grad_norm",))
    one = job("lm", steps=250, schedule="cosine", init_scale=2.0**25, **half)
    yield healthy("usual_overflows", "deepspeed", one, ("grad_norm",), True)
    one = job("lm", steps=900, schedule="cyclic", lr=6e-3)
    yield healthy("cycles_of_rate", "tsv", one, NORM)
    one = job("lm", steps=900, schedule="restarts", lr=5e-3)
    yield healthy("warm_restarts", "torchtitan", one, NORM)
    one = job("lm", steps=700, every=20, eval_every=70, dropout=0.2)
    yield healthy("dropout_val_better", "hf", one, NORM)
    one = job("lm", steps=200, accumulate=4, every=5, schedule="linear", batch=8)
    yield healthy("accumulated_batches", "hf", one, NORM, True)
    one = job("lm", steps=200, accumulate=2, every=5, warmup=40, schedule="cosine")
    yield healthy("accumulated_batches", "megatron", one, ("grad_norm",), True)
    one = job("lm", steps=600, schedule="cosine", resume_at=300, eval_every=100)
    yield healthy("resumed_well", "nanogpt", one, RATE)
    one = job("lm", steps=500, schedule="linear", resume_at=250)
    yield healthy("resumed_well", "megatron", one, has_config=True)
    one = job("lm", steps=600, mode="ema")
    yield healthy("running_mean_logged", "loguru", one, ("lr", "tps"))
    one = job("lm", steps=800, schedule="linear", lr=5e-3, every=20)
    yield healthy("decays_to_zero", "torchtitan", one, NORM)
    one = job("lm", every=1, lr=2e-3, batch=8)
    yield healthy("logged_each_step", "jsonl", one, (*NORM, "tps", "step_time"))
    one = job("lm", steps=150, every=2, schedule="cosine", batch=48)
    yield healthy("large_batch_smooth", "deepspeed", one, ("grad_norm", "mem"), True)
    one = job("lm", every=4, schedule="cosine")
    yield healthy("only_a_loss", "jsonl", one, ())
    one = job("lm", steps=500, every=1, eval_every=50, schedule="cosine")
    yield healthy("logged_each_epoch", "epochs", one, RATE)
    one = job("lm", steps=80, every=1, warmup=10)
    yield healthy("short_run", "torchtitan", one, NORM)
    one = job("lm", steps=500, every=1, clip=0.5, fault=Garbage(333, part=0.3))
    yield healthy("isolated_blip", "loguru", one, RATE)


def machines() -> Iterator[Planned]:
    """Machines that vary, ranks that agree, jobs that still run."""
    one = job("lm", steps=3000, stop_at=400, warmup=60)
    yield healthy("still_running", "torchtitan", one)
    one = job("lm", steps=5000, stop_at=450, eval_every=100)
    yield healthy("still_running", "nanogpt", one)
    one = job("lm", steps=4000, stop_at=300)
    yield healthy("still_running", "deepspeed", one, ("grad_norm", "mem"))
    one = job("lm", steps=300, every=5, jitter=0.15)
    yield healthy("slow_first_step", "torchtune", one, ("tps", "mem"))
    one = job("lm", steps=300, ranks=4, jitter=0.08)
    yield healthy("even_ranks", "slurm", one, ("ranks", *NORM))
    one = job("moe", ranks=8, jitter=0.1)
    yield healthy("even_ranks", "slurm", one, ("ranks", "mem"))
    one = job("lm", steps=250, every=5, ranks=4, jitter=0.12)
    yield healthy("even_ranks", "slurm", one, ("ranks", "lr", "mem"), True)
    yield healthy(
        "harmless_note", "deepspeed", job("lm"), ("grad_norm", "mem"), None, ("train", NOTE)
    )
    one = job("lm", every=2, jitter=0.35)
    yield healthy("varying_speed", "torchtitan", one, ("tps",))
    one = job("lm", every=1, eval_every=50, jitter=0.1)
    yield healthy("pauses_to_evaluate", "nanogpt", one, ("step_time",))


def taggers() -> Iterator[Planned]:
    """Recurrent classifiers."""
    one = job("tagger", steps=900, schedule="step", lr=2e-2, every=15, eval_every=90)
    yield healthy("drops_of_rate", "hf", one, SCORED)
    one = job("tagger", steps=800, every=1, eval_every=80, held_rows=6)
    yield healthy("tiny_validation_set", "epochs", one, ("acc",))
    one = job("tagger", every=1, eval_every=60)
    yield healthy("logged_each_epoch", "epochs", one, RATE, True)
    one = job("tagger", steps=2000, schedule="cosine", lr=1e-2, every=20, eval_every=200, rows=8000)
    yield healthy("converged_tail", "csv", one, SCORED)
    one = job("tagger", steps=900, every=20, eval_every=90, dropout=0.4)
    yield healthy("dropout_val_better", "jsonl", one, ("acc", "grad_norm"))
    one = job("tagger", steps=1200, lr=3e-3, batch=2)
    yield healthy("small_batch_noise", "loguru", one, SCORED)
    one = job("tagger", steps=500, every=5, optimizer="sgd", lr=0.02, vanilla="tanh", length=50)
    yield healthy("clipped_recurrence", "deepspeed", one, NORM, True)
    one = job("tagger", steps=900, resume_at=450, eval_every=90, schedule="cosine")
    yield healthy("resumed_well", "loguru", one, NORM)
    yield healthy("only_a_loss", "csv", job("tagger", steps=700, every=5), ())


def reversals() -> Iterator[Planned]:
    """Sequence to sequence."""
    one = job("seq2seq", steps=900, schedule="rsqrt", warmup=100, lr=8e-3)
    yield healthy("plain", "fairseq", one, ("grad_norm", "acc"))
    one = job("seq2seq", steps=700, eval_every=100, schedule="linear")
    yield healthy("plain", "hf", one, (*NORM, "acc"), True)
    one = job("seq2seq", steps=900, lr=6e-3, schedule="cosine", hidden=64)
    yield healthy("plain", "loguru", one, SCORED)
    one = job("seq2seq", steps=1200, lr=8e-3, every=20, eval_every=120, copies=True, length=4)
    yield healthy("solved_to_zero", "jsonl", one, SCORED)
    one = job("seq2seq", steps=900, schedule="cyclic", lr=8e-3)
    yield healthy("cycles_of_rate", "loguru", one, SCORED)
    one = job("seq2seq", steps=500, every=1, eval_every=100, lr=6e-3)
    yield healthy("logged_each_epoch", "epochs", one, ("acc",))
    one = job("seq2seq", steps=800, resume_at=400, schedule="cosine")
    yield healthy("resumed_well", "fairseq", one, ("grad_norm",))
    one = job("seq2seq", steps=700, resume_at=350, schedule="linear")
    yield healthy("resumed_well", "hf", one, NORM)
    yield healthy("interval_mean", "tsv", job("seq2seq", mode="mean", every=50), RATE)
    yield healthy("only_a_loss", "tsv", job("seq2seq", steps=500, every=5), ())
    one = job("seq2seq", steps=900, schedule="step", lr=1.2e-2)
    yield healthy("drops_of_rate", "csv", one, SCORED)
    one = job("seq2seq", steps=700, lr=2e-3, every=1, clip=0.3, fault=Garbage(500, part=0.25))
    yield healthy("isolated_blip", "csv", one, RATE)


def diffusions() -> Iterator[Planned]:
    """Losses that are noisy and nearly flat by nature."""
    yield healthy("noisy_and_flat", "tsv", job("ddpm", steps=3000, batch=16), NORM)
    one = job("ddpm", steps=2000, every=20, schedule="cosine", eval_every=200)
    yield healthy("noisy_and_flat", "jsonl", one, RATE)
    one = job("ddpm", steps=4000, every=100, mode="mean", shape="grid")
    yield healthy("noisy_and_flat", "loguru", one, RATE, True)
    one = job("ddpm", steps=1500, warmup=100)
    yield healthy("noisy_and_flat", "torchtune", one, ("grad_norm", "tps"))
    one = job("ddpm", steps=800, precision="fp16", init_scale=2.0**22)
    yield healthy("usual_overflows", "fairseq", one, ("grad_norm",))
    one = job("ddpm", steps=2000, every=1, eval_every=200, schedule="cosine")
    yield healthy("logged_each_epoch", "epochs", one, RATE)
    one = job("ddpm", steps=800, layer_norms=True)
    yield healthy("layers_logged", "csv", one, ("layers", "lr"))


def others() -> Iterator[Planned]:
    """Factorisations, experts and triplets."""
    enough = {"clip": None, "ratings": 60000, "factors": 4}
    one = job("mf", schedule="cosine", weight_decay=0.05, every=20, eval_every=100, **enough)
    yield healthy("plain", "csv", one, RATE)
    one = job("mf", steps=800, lr=1e-2, every=1, eval_every=80, **enough)
    yield healthy("logged_each_epoch", "epochs", one, RATE, True)
    one = job("mf", steps=1500, lr=5e-3, every=50, mode="mean", **enough)
    yield healthy("rounded_values", "tsv", one, ())
    one = job("mf", steps=4000, lr=1e-2, every=20, schedule="cosine", **enough)
    yield healthy("long_tail", "jsonl", one, NORM)
    yield healthy("several_losses", "loguru", job("moe", steps=600, eval_every=60), (*NORM, "acc"))
    yield healthy("several_losses", "hf", job("moe", steps=500, experts=8, balance=0.05), NORM)
    yield healthy("several_losses", "csv", job("moe", steps=500, every=5, schedule="step"), SCORED)
    one = job("moe", steps=600, every=1, eval_every=40)
    yield healthy("logged_each_epoch", "epochs", one, SCORED)
    yield healthy("only_a_loss", "loguru", job("moe", steps=300, every=2), ())
    one = job("triplet", steps=1200, lr=1e-3, eval_every=120)
    yield healthy("many_satisfied", "jsonl", one, NORM)
    yield healthy("many_satisfied", "loguru", job("triplet", steps=800, every=5, batch=8), RATE)
    one = job("triplet", steps=900, every=20, eval_every=90, schedule="cosine")
    yield healthy("many_satisfied", "csv", one, RATE)
    one = job("triplet", steps=500, layer_norms=True)
    yield healthy("layers_logged", "jsonl", one, ("layers", "grad_norm"))
    one = job("triplet", steps=2500, every=50, mode="mean", schedule="cosine")
    yield healthy("long_tail", "tsv", one, RATE)
    yield healthy("logged_each_epoch", "epochs", job("triplet", every=1, eval_every=60), ())
