"""Log styles: what a training noted in, the files that a user would have out."""

from __future__ import annotations

from collections.abc import Callable

from .deepspeed import deepspeed
from .fairseq import fairseq
from .megatron import megatron
from .nanogpt import nanogpt
from .prints import epochs, loguru
from .sb3 import sb3
from .sheet import Sheet
from .slurm import slurm
from .tables import csv, jsonl, tsv
from .torch_recipes import torchtitan, torchtune
from .trainer import hf, trl

STYLES: dict[str, Callable[[Sheet], dict[str, str]]] = {
    "csv": csv,
    "deepspeed": deepspeed,
    "epochs": epochs,
    "fairseq": fairseq,
    "hf": hf,
    "jsonl": jsonl,
    "loguru": loguru,
    "megatron": megatron,
    "nanogpt": nanogpt,
    "sb3": sb3,
    "slurm": slurm,
    "torchtitan": torchtitan,
    "torchtune": torchtune,
    "trl": trl,
    "tsv": tsv,
}

__all__ = ["STYLES", "Sheet"]
