"""What weights usually look like: where zeros are meant, and how large values are at the start."""

from __future__ import annotations

import math
import re

from mltd.runs.checkpoints import CheckpointSummary, TensorFacts

from .kinds import Kind, long_axes

_ZERO_AT_FIRST = re.compile(
    r"(?:^|[._])(?:lora_(?:B|embedding_[AB])|lora_magnitude\w*|zero_?(?:conv|module|linear|init)\w*|"
    r"ada_?ln\w*|\w*modulation\w*|gate|\w*gating|ia3\w*|prompt\w*|control\w*|"
    r"c_proj|o_proj|out_proj|proj_out|down_proj|to_out|wo|w2|fc2|output\.dense|"
    r"final_layer|conv_out|out|out_layers|\d+\.conv[23])(?:[._]|$)",
    re.IGNORECASE,
)
"""Layers that many recipes start at zero: adapters, gates, last layers of residual branches."""
_ALWAYS_PLAIN = re.compile(r"(?:pos|rel(?:ative)?_pos|position|mask|padding|bias_table)", re.I)
_FLOATS = ("float16", "float32", "float64", "bfloat16")
_PACKED = (".qweight", ".weight_packed", ".absmax", ".quant_map")
"""How names end that only quantised layers have."""


def is_float(tensor: TensorFacts) -> bool:
    """True for values whose size means something; 8-bit ones have their scale elsewhere."""
    return tensor.dtype in _FLOATS


def is_matrix(tensor: TensorFacts) -> bool:
    """True for what multiplies: two axes or more that are longer than one."""
    return tensor.role == "parameter" and long_axes(tensor.shape) >= 2


def may_be_zero(tensor: TensorFacts, kind: Kind) -> bool:
    """True if recipes start such a layer at zero, so that zeros may be what was meant."""
    return (
        kind in (Kind.HEAD, Kind.NORM)
        or _ZERO_AT_FIRST.search(tensor.name) is not None
        or _ALWAYS_PLAIN.search(tensor.name) is not None
    )


def has_adapters(summary: CheckpointSummary) -> bool:
    """True for a model that trains small additions to a frozen one."""
    return any(_is_adapter(tensor) for tensor in summary.model)


def is_adapter_alone(summary: CheckpointSummary) -> bool:
    """True for additions that were saved without the model that they are made for."""
    own = [tensor for tensor in summary.parameters if is_matrix(tensor)]
    return bool(own) and all(map(_is_adapter, own))


def _is_adapter(tensor: TensorFacts) -> bool:
    return "lora_" in tensor.name or "adapter" in tensor.name


def is_packed(summary: CheckpointSummary) -> bool:
    """True if some tensors hold several quantised weights in one number, as those of GPTQ do."""
    return any(tensor.name.endswith(_PACKED) for tensor in summary.model)


def steps_taken(summary: CheckpointSummary) -> float | None:
    """Updates that the checkpoint knows of: the optimizer's count, else the trainer's."""
    counts = [steps[1] for one in summary.optimizers if (steps := one.steps) is not None]
    return max(counts) if counts else summary.position.step


def fan_in(shape: tuple[int, ...]) -> int:
    """Numbers that flow into one output: all axes but the first."""
    return max(1, math.prod(shape[1:]))


def usual_rms(tensor: TensorFacts, kind: Kind) -> tuple[float, str] | None:
    """Root mean square at a usual start, and what it is; None for what has no usual size.

    1/sqrt(fan in) lies between torch's own start for linear and convolutional layers (0.58 of it)
    and He's (1.41 of it); the fixed 0.02 of language models counts where it is larger.
    """
    if kind in (Kind.NORM, Kind.OTHER) or not is_matrix(tensor):
        # Tokens that are one vector start at anything down to 1e-6.
        return None
    if kind is Kind.EMBEDDING:
        return 1.0, "1, as torch starts embeddings"
    fan = fan_in(tensor.shape)
    size = 1 / math.sqrt(fan)
    if size >= 0.02:
        return size, f"1/sqrt({fan:,}) = {size:.2g}"
    return 0.02, "0.02, as language models start"
