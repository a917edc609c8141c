"""Bytes of a weight, a gradient, a master copy and an activation, by the training's precision."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mltd.runs.roles import normalise

from ..core.finding import Evidence
from ..core.settings_lookup import Setting
from .amount import Origin
from .keys import Known
from .weights import WeightFacts

_HALF = re.compile(r"\b(?:bf16|bfloat16|fp16|float16|half|16)\b|^16$")
_TRUE_HALF = re.compile(r"(?:bf16|16|bfloat16|float16|fp16)-true")
_MIXED = re.compile(r"(?:bf16|16)-mixed|mixed|amp|^o[12]$")
_SWITCHES = ("bf16", "fp16", "amp", "use amp", "mixed precision", "half", "fp16 enabled",
             "bf16 enabled")  # fmt: skip
_NAMED = ("precision", "mixed precision", "params dtype", "torch dtype", "dtype", "amp dtype",
          "compute dtype")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Precision:
    """Bytes per number; `label` says in words what trains in what."""

    label: str
    weight: float
    gradient: float
    master: float
    """A second copy of the weights in fp32."""
    state: float
    """One number of the optimizer's state."""
    activation: float
    origin: Origin
    sources: tuple[Evidence, ...] = ()

    @property
    def is_single(self) -> bool:
        """True if activations are kept in fp32."""
        return self.activation >= 4


def precision_of(known: Known, weights: WeightFacts | None) -> Precision:
    """What the settings say; where they do not, fp32 as by default, marked as an estimate."""
    found = _stated(known)
    if found is None:
        width = weights.width if weights is not None else None
        if weights is not None and width is not None and width < 3:
            label = "16-bit weights, as saved in the checkpoint"
            source = (weights.evidence,)
            return Precision(label, 2, 2, 0, 2, 2, Origin.ESTIMATED, source)
        label = "fp32, as by default: no precision is stated"
        sources = (weights.evidence,) if weights is not None and width == 4 else ()
        return Precision(label, 4, 4, 0, 4, 4, Origin.ESTIMATED, sources)
    kind, setting = found
    sources = (setting.evidence,)
    if kind == "single":
        return Precision("fp32", 4, 4, 0, 4, 4, Origin.DERIVED, sources)
    if kind == "true":
        return Precision("16-bit weights and states", 2, 2, 0, 2, 2, Origin.DERIVED, sources)
    if (megatron := known.get("tensor parallel")) is not None and known.zero_stage() is None:
        # Megatron accumulates gradients in fp32: 18 bytes per parameter with Adam.
        label = "mixed precision with fp32 gradients and master weights"
        return Precision(label, 2, 4, 4, 4, 2, Origin.DERIVED, (*sources, megatron.evidence))
    if (engine := _deepspeed(known)) is not None:
        # ZeRO paper (Rajbhandari et al. 2020), section 3.1: 2 + 2 + K bytes, K = 12 for Adam.
        label = "mixed precision with fp32 master weights (DeepSpeed)"
        return Precision(label, 2, 2, 4, 4, 2, Origin.DERIVED, (*sources, engine))
    origin = Origin.DERIVED if kind == "mixed" else Origin.ESTIMATED
    doubt = "" if kind == "mixed" else "; weights kept in 16 bits would take half"
    label = f"mixed precision over fp32 weights (autocast){doubt}"
    return Precision(label, 4, 4, 0, 4, 2, origin, sources)


def _deepspeed(known: Known) -> Evidence | None:
    stage = known.zero_stage()
    return stage[1] if stage is not None else known.mentions("deepspeed", "zero optimization")


def _stated(known: Known) -> tuple[str, Setting] | None:
    """How numbers are kept and the setting that says so: single, mixed, true, or some half."""
    off: tuple[str, Setting] | None = None
    for setting in known.settings:
        path, text = normalise(setting.path), setting.text
        name = path if path in _SWITCHES else normalise(setting.path.rpartition(".")[2])
        if path.endswith((" fp16 enabled", " bf16 enabled")):
            name = path[-12:]
        if name not in _SWITCHES:
            continue
        if text in ("true", "1", "fp16", "bf16", "float16", "bfloat16", "o1", "o2", "16"):
            return "mixed", setting
        off = off or ("single", setting) if text in ("false", "0", "no") else off
    for name in _NAMED:
        found = known.settings.get(name)
        if found is None or isinstance(found.value, bool | list | dict):
            continue
        text = found.text.removeprefix("torch.")
        if _TRUE_HALF.search(text):
            return "true", found
        if _MIXED.search(text):
            return "mixed", found
        if _HALF.search(text):
            # HF's torch_dtype loads the weights themselves so; other names may mean autocast.
            is_load = normalise(name) == "torch dtype"
            return ("true" if is_load else "half"), found
        if re.search(r"32|^float$|single|full", text):
            return "single", found
    return off
