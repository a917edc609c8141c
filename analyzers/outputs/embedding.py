"""How much of a model is its embedding: from saved weights, a recording, or the config's sizes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from mltd.runs.checkpoints import TensorInfo, Weights, weights_of
from mltd.runs.statements import StatementKind

from ..core.finding import Basis, Evidence, EvidenceKind
from ..core.view import RunView

_EMBEDDING = re.compile(
    r"(?:^|[._])(?:\w*embed\w*|\w*_?emb|wte|wpe|tok(?:en)?s?|lookup(?:_table)?|vocab)"
    r"(?:[._]|$)",
    re.IGNORECASE,
)
_PROJECTION = re.compile(r"(?:head|out|proj|decoder|fc|norm|attn|mlp|conv|patch)", re.IGNORECASE)
_BLOCK = 12
"""Parameters of a transformer block, in squares of its width."""


@dataclass(frozen=True, slots=True)
class EmbeddingShare:
    """The embedding's part of all parameters, and what says so."""

    share: float
    embedding: int
    total: int
    name: str
    basis: Basis
    evidence: tuple[Evidence, ...]


def embedding_share(view: RunView) -> EmbeddingShare | None:
    """From the newest checkpoint or a recording; else estimated from the config's sizes."""
    weights = weights_of(view.run)
    found = _from_weights(view, weights) if weights is not None else None
    return found or _from_recording(view) or _from_settings(view)


def is_embedding(tensor: TensorInfo, vocabulary: float | None) -> bool:
    """True for a table of vectors, by its name or by having a row for each word."""
    if len(tensor.shape) != 2:
        return False
    owner = tensor.name.removesuffix(".weight")
    if _PROJECTION.search(owner.rpartition(".")[2]):
        return False
    if _EMBEDDING.search(owner):
        return True
    return vocabulary is not None and vocabulary > 16 and tensor.shape[0] == int(vocabulary)


def _from_weights(view: RunView, weights: Weights) -> EmbeddingShare | None:
    vocabulary = view.settings.number("vocab_size")
    tables = [tensor for tensor in weights.tensors if is_embedding(tensor, vocabulary)]
    if not tables or not weights.total:
        return None
    largest = max(tables, key=lambda tensor: tensor.elements)
    inside = sum(tensor.elements for tensor in tables)
    shape = " x ".join(str(size) for size in largest.shape)
    quote = f"{largest.name}: {shape}; {inside:,} of {weights.total:,} parameters"
    evidence = Evidence(EvidenceKind.CHECKPOINT, os.path.basename(weights.path), quote)
    return EmbeddingShare(
        inside / weights.total, inside, weights.total, largest.name, Basis.OBSERVATION, (evidence,)
    )


def _from_recording(view: RunView) -> EmbeddingShare | None:
    """The header of a recording names the tables; of several models the largest counts."""
    found: list[EmbeddingShare] = []
    for number, source in enumerate(view.run.files):
        said = [s for s in view.run.statements if s.file == number and s.value]
        said = [s for s in said if s.kind is StatementKind.PARAMETERS]
        newest = max((s.line for s in said), default=0)
        stated = {s.subject: s for s in said if s.line == newest}
        if source.format != "probe" or not {"total", "embedding"} <= stated.keys():
            continue
        inside, total = (int(stated[name].value or 0) for name in ("embedding", "total"))
        name = stated["embedding"].text
        quote = f"{name}; {inside:,} of {total:,} parameters"
        place = f"{os.path.basename(source.path)}:{newest}"
        evidence = Evidence(EvidenceKind.LOG, place, quote)
        found.append(
            EmbeddingShare(inside / total, inside, total, name, Basis.OBSERVATION, (evidence,))
        )
    return max(found, key=lambda one: one.total, default=None)


def _from_settings(view: RunView) -> EmbeddingShare | None:
    found = [view.settings.get(meaning) for meaning in ("vocab_size", "hidden", "layers")]
    settings = [s for s in found if s is not None and s.number is not None]
    if len(settings) < 3:
        return None
    vocabulary, width, layers = (s.number or 0.0 for s in settings)
    if not (16 < vocabulary < 1e8 and 1 <= width < 1e6 and 0 < layers < 1e4):
        return None
    inside = vocabulary * width
    total = inside + _BLOCK * layers * width * width
    return EmbeddingShare(
        inside / total,
        int(inside),
        int(total),
        settings[0].path,
        Basis.INFERENCE,
        tuple(setting.evidence for setting in settings),
    )
