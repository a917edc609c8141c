"""Series that speak of single layers, found by the names that projects give them.

`grad_norm/layer0`, `layers.0.weight.grad_norm`, `grad/fc1`, `gradients/encoder.block.3`,
`grad_2.0_norm/conv1.weight`, `gn_fc1`, `g/l00`: all say which layer's gradient
they measure. The layers are put in the order in which data flows through them, so that rules can
compare the first with the last.
"""

from __future__ import annotations

import re

from mltd.runs.roles import normalise

from ..core.curve import Curve
from ..core.recording import LayerCurve, Recording, recordings
from ..core.view import RunView


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LIGHTNING_NORM = re.compile(r"grad_(?:\d(?:\.\d)?|inf)_norm", re.IGNORECASE)
_ADDED = re.compile(r"(?: #\d+| \(\w+\)| \[[^\]]*\])+$")
"""What tells equal names apart where they collide."""
_GRADIENT = _set("grad grads gradient gradients gnorm gradnorm gradnorms")
_WEIGHT = _set("weight weights param params parameter parameters wnorm pnorm")
_PLAIN = _set(
    "norm norms l2 total global overall all train training tr mean avg average median abs rms max "
    "std clipped unclipped preclip before after pre post clip clipping raw model step debug stats "
    "log logs monitor sum magnitude optimizer optim watch layer by per mltd metric metrics scalar "
    "scalars info perf values results trainer"
)
"""Words that say how something was measured, not where."""
_FOREIGN = _set(
    "zero zeros frac fraction share ratio dead cos cosine sim similarity noise scale accum "
    "accumulation steps count time loss lr penalty scaler snr min var variance hist histogram "
    "percent pct num nan inf skipped update updates decay rank reward ema"
)
"""Words that make it something else than a size."""
_NETWORKS = _set(
    "actor critic policy value generator discriminator gen disc d g q vf pi teacher student net "
    "network agent"
)
"""Whole networks of one training: not layers of one."""
_SIZES = (
    "norm", "norms", "l2", "gnorm", "gradnorm", "gradnorms", "wnorm", "pnorm", "rms", "abs", "max",
    "std",
)  # fmt: skip
_SIDE = frozenset({"bias", "ln", "layernorm", "bn", "batchnorm", "ln1", "ln2", "bn1", "bn2"})
_EARLY = re.compile(r"^(?:w[tp]e|tok|pos|embed\w*|stem|input|in|backbone|features|conv1|encoder)$")
_LATE = re.compile(r"^(?:head|heads|classifier|output|out|logits|decoder|lm|last|final|top)$")
_EMBEDDING = re.compile(r"embed|^w[tp]e$|^tok\b|\bw[tp]e\b")
_NORM = re.compile(r"norm|^(?:ln|bn|gn)_?\w{0,2}$", re.IGNORECASE)
_DIGITS = re.compile(r"(\d+)")
_SHORT = _set("gn g")
"""How a gradient's norm is called beside the name of a layer; alone, a `g` is a generator."""
_NUMBERED = re.compile(r"(grads?|gradients?|gnorm|gradnorm|gn)(\d{1,3})")
_LAYER = re.compile(
    r"(?:[lhwb]\d+|(?:fc|lin|linear|dense|conv|layers?|lyr|block|blk|stage|stem|emb\w*|input|"
    r"output|head|first|mid|middle|last|hidden|attn|attention|mlp|ffn?|proj|q|k|v|qkv|enc|encoder|"
    r"dec|decoder|rnn|lstm|gru|cell|res|down|up|body|trunk|wte|wpe|classifier)\d*)"
)


def _words(name: str) -> list[str]:
    plain = _ADDED.sub("", name)
    words = normalise(_LIGHTNING_NORM.sub("grad_norm", plain)).split()
    return words if _GRADIENT.intersection(words) else _spelled_out(words)


def _spelled_out(words: list[str]) -> list[str]:
    """The words with `gn1` and the `g` of `g_fc1` as a gradient: a layer's, as the rest says."""
    if words and (numbered := _NUMBERED.fullmatch(words[0])):
        return ["grad", numbered[2], *words[1:]]
    for at in (0, -1):
        rest = words[1:] if at == 0 else words[:-1]
        if not rest or words[at] not in _SHORT:
            continue
        place = [word for word in rest if word not in _PLAIN | _WEIGHT | _SIDE or word == "layer"]
        named = [word for word in place if not word.isdigit()]
        if (named or (place and words[at] == "gn")) and all(map(_LAYER.fullmatch, named)):
            return ["grad", *rest]
    return words


def _place(name: str, subject: frozenset[str]) -> tuple[str, ...] | None:
    """The words that say where something is measured; None if it is about something else."""
    words = _words(name)
    if not subject.intersection(words) or _FOREIGN.intersection(words):
        return None
    dropped = subject | _PLAIN
    kept = tuple(word for word in words if word not in dropped)
    # "layer" alone says nothing, but "layer 3" is a place.
    if kept and all(word.isdigit() for word in kept):
        return ("layer", *kept)
    return kept


def is_of_a_layer(name: str) -> bool:
    """True if a gradient's name says that it is a single layer's."""
    place = _place(name, _GRADIENT)
    return bool(place) and not set(place or ()) <= _NETWORKS


def gradient_norm(view: RunView) -> Curve | None:
    """The norm of the whole gradient, if it is logged."""
    for curve in view.curves("grad_norm"):
        if not is_of_a_layer(curve.name):
            return curve
    for series in view.series:
        if series.role is None and len(series) and _place(series.name, _GRADIENT) == ():
            return view.curve_of(series)
    return None


def gradient_layers(view: RunView) -> list[LayerCurve]:
    """The gradient of each layer, first layer first; empty if fewer than two are logged."""
    return _recorded(view, "grad_norm") or _ordered(_members(view, _GRADIENT))


def weight_layers(view: RunView) -> list[LayerCurve]:
    """The size of each layer's weights, first layer first."""
    recorded = _recorded(view, "weight_norm")
    return recorded or _ordered(_members(view, _WEIGHT, needs_size=True, without=_GRADIENT))


def recording_with_most(view: RunView, kind: str) -> Recording | None:
    """Of several recorded models, the one with the most layers."""
    found = recordings(view)
    return max(found, key=lambda one: len(one.series.get(kind, ())), default=None)


def _recorded(view: RunView, kind: str) -> list[LayerCurve]:
    """What a probe measured needs no guessing, and comes in the order of the model."""
    found = recording_with_most(view, kind)
    layers = found.layers(kind) if found is not None else []
    return layers if len(layers) > 1 else []


def _members(
    view: RunView,
    subject: frozenset[str],
    *,
    needs_size: bool = False,
    without: frozenset[str] = frozenset(),
) -> list[LayerCurve]:
    by_size: dict[str, list[LayerCurve]] = {}
    for series in view.series:
        if not len(series) or series.role not in (None, "grad_norm", "param_norm"):
            continue
        words = set(_words(series.name))
        if words & without:
            continue
        place = _place(series.name, subject)
        if not place or set(place) <= _NETWORKS:
            continue
        size = next((size for size in _SIZES if size in words), "")
        if ("mean" in words and "abs" not in words) or (needs_size and not size):
            continue
        layer = LayerCurve(" ".join(place), view.curve_of(series))
        by_size.setdefault(size, []).append(layer)
    ranked = sorted(by_size, key=lambda size: _SIZES.index(size) if size in _SIZES else len(_SIZES))
    return next((by_size[size] for size in ranked if len(by_size[size]) > 1), [])


def _ordered(members: list[LayerCurve]) -> list[LayerCurve]:
    main = [m for m in members if not _SIDE.intersection(m.layer.split())]
    members = main if len(main) > 1 else members
    if len(members) < 2:
        return []
    names = [member.layer for member in members]
    if sorted(names) != names and len({_DIGITS.sub("#", name) for name in names}) > 1:
        return members  # logged in an order of their own: that of the model
    return sorted(members, key=lambda member: _flow(member.layer))


def _flow(layer: str) -> tuple[int, list[tuple[int, str]]]:
    """Sort key: where in a model a layer of this name stands."""
    words = layer.split()
    stage = 1
    if any(_LATE.match(word) for word in words):
        stage = 2
    elif any(_EARLY.match(word) for word in words):
        stage = 0
    parts = [part for part in _DIGITS.split(layer) if part.strip()]
    return stage, [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def without_embeddings(layers: list[LayerCurve]) -> list[LayerCurve]:
    """Layers whose gradients are dense; those of embeddings are mostly zero in a healthy run."""
    dense = [layer for layer in layers if not _EMBEDDING.search(layer.layer.replace(".", " "))]
    return dense if len(dense) > 1 else []


def without_norms(layers: list[LayerCurve]) -> list[LayerCurve]:
    """Recorded layers that mix their inputs: gains of normalisations are of another size."""
    if not layers or not layers[0].curve.series.layer:
        return layers
    mixing = [layer for layer in layers if not _NORM.search(layer.layer.rpartition(".")[2])]
    return mixing if len(mixing) > 1 else layers
