"""What a transformer keeps for its backward pass, estimated from its sizes; nothing for others."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.finding import Evidence
from .amount import Amount, Origin, Part
from .keys import Known
from .precision import Precision
from .shape import Shape

_CONFIG_NAMES = {
    "layers": "number of layers", "hidden": "hidden size", "heads": "attention heads",
    "sequence": "sequence length", "batch": "batch size per device",
}  # fmt: skip
_STYLES = {
    True: "with flash attention",
    False: "with attention matrices kept",
    None: "without and with attention matrices kept (not stated)",
}
_MOST = 2.0**60


@dataclass(frozen=True, slots=True)
class Activations:
    """Bytes by what they would be saved by: squares of the sequence, one layer, the output."""

    linear: float
    """Of all layers, in proportion to the length of the sequence."""
    square: float
    """Attention matrices of all layers; 0 where they are never kept."""
    kept: float
    """Inputs of all layers, which are left with full recomputation."""
    one_layer: float
    one_square: float
    """The attention matrices among `one_layer`."""
    output: float
    is_flash: bool | None
    """None if it is not stated; then attention matrices may be kept or not."""
    is_recomputed: bool

    @property
    def total(self) -> float:
        """As the training is set up."""
        if self.is_recomputed:
            return self.kept + self.one_layer + self.output
        return self.linear + self.square + self.output

    @property
    def recomputed(self) -> float:
        """With every layer recomputed."""
        return self.kept + self.one_layer + self.output


def activations_of(known: Known, shape: Shape, precision: Precision) -> Activations | None:
    """The estimate; None if a size is missing or the sum is beyond any machine.

    Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models",
    equations 1 and 2: a layer keeps s b h (34 + 5 a s / h) bytes with 16-bit activations, for
    sequence s, micro-batch b, width h, heads a. Of the 34, attention takes 11, the feed-forward
    part 19 and the two norms 4; two bytes of them are dropout masks of one byte each, the rest
    are 16 numbers of the activations' width. Of the 5 of attention, two numbers and a mask; without
    dropout one number. Flash attention keeps no matrix of s x s. With full recomputation only the
    input of each layer is left, s b h numbers, and one layer at a time in full. The output keeps
    the last norm and its projection, 2 s b h numbers, and the logits in fp32 (section 4.3).
    With t devices of tensor parallelism a layer keeps s b h (10 + 24 / t + 5 a s / (h t)). With
    pipeline parallelism the first of p stages has 1 / p of the layers but p micro-batches under
    way, which is as much (section 4.2.3).
    """
    if shape.missing:
        return None
    layers, hidden, heads, sequence, batch = (shape.get(name) or 0.0 for name in (
        "layers", "hidden", "heads", "sequence", "batch"))  # fmt: skip
    width = precision.activation
    tensor = known.number("tensor parallel", 1, 1e6)
    ways = tensor[0] if tensor is not None else 1.0
    tokens = sequence * batch
    masks = 0.0 if (drop := known.number("dropout", 0, 1)) is not None and drop[0] == 0 else 1.0
    inner = shape.inner
    # Norms (2 h), inputs of the attention and feed-forward parts (2 h) and their masks are whole
    # on every device; queries, keys, values and what the output projection reads (4 h), and the
    # feed-forward part (2 f, or 4 f with a gate), are divided.
    whole = tokens * (4 * hidden * width + 2 * masks * hidden)
    divided = tokens * width * (4 * hidden + (4 if shape.is_gated else 2) * inner) / ways
    one = whole + divided
    flash = known.switch("flash")
    is_flash = None if flash is None else flash[0]
    matrices = heads * sequence * sequence * batch / ways
    square = 0.0 if is_flash else matrices * (2 * width + 1 if masks else width)
    words = shape.get("vocabulary") or 0.0
    output = tokens * (2 * hidden * width + 4 * words / ways)
    recompute = known.switch("recompute")
    found = Activations(
        layers * one, layers * square, layers * tokens * hidden * width, one + square, square,
        output, is_flash, recompute is not None and recompute[0],
    )  # fmt: skip
    return found if 0 < found.total < _MOST and 0 < found.linear < _MOST else None


def activation_part(
    known: Known, shape: Shape, precision: Precision, found: Activations | None
) -> Part:
    """The estimate as a part of the account, or what it lacks."""
    name = "activations"
    if found is None:
        return Part(name, name, None, tuple(_CONFIG_NAMES[key] for key in shape.missing))
    sources: list[Evidence] = list(shape.sources("layers", "hidden", "heads", "sequence", "batch"))
    for meaning in ("flash", "recompute"):
        if (switch := known.switch(meaning)) is not None:
            sources.append(switch[1])
    style = _STYLES[found.is_flash]
    if found.is_recomputed:
        style += ", layers recomputed"
    sizes = " x ".join(
        f"{shape.get(key) or 0:g} {word}"
        for key, word in (("batch", "samples"), ("sequence", "tokens"), ("layers", "layers"))
    )
    how = f"{sizes}, width {shape.get('hidden') or 0:g}, {precision.activation:g} bytes, {style}"
    sources += precision.sources
    low = found.total
    if found.is_flash is None:
        low -= found.one_square if found.is_recomputed else found.square
    return Part(name, name, Amount(low, found.total, Origin.ESTIMATED, how, tuple(sources)))
