"""The settings that decide how much memory a training takes, under the names that projects use."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from mltd.runs.roles import normalise

from ..core.finding import Evidence
from ..core.settings_lookup import Setting, Settings

NAMES: dict[str, tuple[str, ...]] = {
    "batch": (
        "micro batch size", "train micro batch size per gpu", "per device train batch size",
        "per device batch size", "device batch size", "samples per gpu", "batch size per gpu",
        "local batch size", "train batch size", "batch size", "batchsize", "bs",
    ),
    "sequence": (
        "seq length", "seq len", "sequence length", "sequence len", "block size", "max seq length",
        "max seq len", "context length", "n ctx", "cutoff len", "max length", "model max length",
        "n positions", "max position embeddings",
    ),
    "hidden": ("hidden size", "d model", "n embd", "embed dim", "hidden dim", "dim", "n embed"),
    "layers": ("num hidden layers", "num layers", "n layer", "n layers", "depth", "layers"),
    "heads": (
        "num attention heads", "n head", "n heads", "num heads", "nhead", "attention heads",
        "heads",
    ),
    "kv heads": ("num key value heads", "num query groups", "n kv heads", "num kv heads"),
    "inner": ("intermediate size", "ffn hidden size", "d ff", "n inner", "ffn dim", "mlp dim"),
    "vocabulary": ("padded vocab size", "vocab size", "n vocab", "vocabulary size"),
    "tied": ("tie word embeddings", "tie embeddings", "weight tying"),
    "dropout": (
        "attention dropout", "attn pdrop", "hidden dropout", "resid pdrop", "dropout",
        "hidden dropout prob",
    ),
    "flash": (
        "use flash attn", "flash attention", "use flash attention", "flash attn", "flash",
        "attn implementation", "use flash attention 2", "sdpa",
    ),
    "recompute": (
        "gradient checkpointing", "activation checkpointing", "use gradient checkpointing",
        "recompute granularity", "checkpoint activations", "use checkpoint", "grad checkpointing",
        "activation checkpoint", "use recompute",
    ),
    "world": (
        "world size", "distributed world size", "num processes", "num gpus", "n gpus", "ngpus",
        "gpus", "num devices", "devices", "gpu count",
    ),
    "nodes": ("num nodes", "nnodes", "n nodes", "nodes", "num machines"),
    "per node": ("nproc per node", "gpus per node", "n gpus per node", "num gpus per node"),
    "tensor parallel": (
        "tensor model parallel size", "tensor parallel size", "tensor parallel degree",
        "tp size", "tp",
    ),
    "pipeline parallel": (
        "pipeline model parallel size", "pipeline parallel size", "pipeline parallel degree",
        "pp size", "pp",
    ),
    "zero": ("zero stage", "zero optimization stage", "zero"),
    "fsdp": (
        "fsdp sharding strategy", "sharding strategy", "fsdp", "data parallel shard degree",
        "strategy", "distributed type", "accelerator strategy",
    ),
    "momentum": ("momentum",),
    "amsgrad": ("amsgrad",),
    "ema": ("use ema", "model ema", "ema"),
    "4 bit": ("load in 4bit", "load in 4 bit", "quantization bit"),
    "8 bit": ("load in 8bit", "load in 8 bit"),
    "count": (
        "n params", "num params", "n parameters", "num parameters", "model params",
        "total params", "number of parameters", "model size params", "param count",
    ),
    "trainable": (
        "number of trainable parameters", "trainable params", "num trainable params",
        "trainable parameters", "n trainable params",
    ),
}  # fmt: skip
"""Meaning to names, the most telling first; folded as metric names are."""

_TRUE = frozenset({"true", "yes", "on", "1", "full", "selective", "uniform", "block"})
_FALSE = frozenset({"false", "no", "off", "0", "none", "null", "", "eager"})
_STAGE = re.compile(r"\b(?:stage|zero)[ _-]?([0-3])\b")


@dataclass(frozen=True, slots=True)
class Known:
    """Looks up what bears on memory; every answer names the setting that it comes from."""

    settings: Settings

    def get(self, meaning: str) -> Setting | None:
        """The setting with a meaning, if it says anything."""
        for name in NAMES[meaning]:
            found = self.settings.get(name)
            if found is not None and found.value is not None:
                return found
        return None

    def number(self, meaning: str, least: float, most: float) -> tuple[float, Evidence] | None:
        """A setting as a number within bounds, with its evidence; None if it is neither."""
        for name in NAMES[meaning]:
            found = self.settings.get(name)
            value = found.number if found is not None else None
            if found is None or value is None or isinstance(found.value, bool):
                continue
            if math.isfinite(value) and least <= value <= most:
                return value, found.evidence
        return None

    def switch(self, meaning: str) -> tuple[bool, Evidence] | None:
        """A setting as on or off; None if it is not stated."""
        found = self.get(meaning)
        if found is None or isinstance(found.value, list | dict):
            return None
        if found.text in _FALSE:
            return False, found.evidence
        number = found.number
        is_on = found.text in _TRUE or (number is not None and number > 0)
        is_on = is_on or found.text.startswith("flash") or found.text == "sdpa"
        return (True, found.evidence) if is_on else None

    def zero_stage(self) -> tuple[int, Evidence] | None:
        """The stage of DeepSpeed's ZeRO, from its own setting or from a strategy's name."""
        for setting in self.settings:
            path = normalise(setting.path)
            number = setting.number
            in_section = path.endswith("zero optimization stage") or path.endswith("zero stage")
            if in_section and number in (0.0, 1.0, 2.0, 3.0):
                return int(number or 0), setting.evidence
            is_named = "deepspeed" in setting.text[:200] and isinstance(setting.value, str)
            if is_named and (found := _STAGE.search(setting.text[:200])) is not None:
                return int(found[1]), setting.evidence
        return None

    def mentions(self, *words: str) -> Evidence | None:
        """A setting whose name begins with one of these words, or whose text is one."""
        for setting in self.settings:
            path = normalise(setting.path)
            if any(path == word or path.startswith(f"{word} ") for word in words):
                return setting.evidence
        return None
