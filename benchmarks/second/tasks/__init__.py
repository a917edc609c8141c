"""The supervised families: data, model, loss and evaluation of each."""

from __future__ import annotations

from .diffusion import Diffusion
from .experts import Experts
from .factors import Factors
from .finetuning import FineTuning
from .language import Language
from .reversal import Reversal
from .tagger import Tagger
from .task import Task
from .triplets import Triplets

TASKS: dict[str, type[Task]] = {
    "lm": Language,
    "sft": FineTuning,
    "tagger": Tagger,
    "ddpm": Diffusion,
    "mf": Factors,
    "seq2seq": Reversal,
    "moe": Experts,
    "triplet": Triplets,
}

__all__ = ["TASKS", "Task"]
