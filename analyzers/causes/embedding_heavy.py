"""embedding_heavy: nearly all parameters are in the embedding, so the rest cannot use it.

What it is: the vocabulary is too large for the width and depth of the model; the layers between
    embedding and output have too little capacity and fall back to the most common token.
Told apart by: a checkpoint or config with most parameters in the embedding, beside samples that
    repeat one token. A collapsed objective has its own signs (discriminator, entropy, divergence);
    decoding at temperature 0 loops over phrases rather than over one token.
Try next: a smaller vocabulary, a narrower or tied embedding, or more layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..core.case import Case
from ..core.cause import Clue, Fix
from ..core.finding import Basis
from ..core.registry import cause


@cause
@dataclass(frozen=True, slots=True)
class EmbeddingHeavy:
    """Weighs a lopsided model against what its samples look like."""

    id: ClassVar[str] = "embedding_heavy"
    explains: ClassVar[tuple[str, ...]] = ("mode_collapse", "param_imbalance")
    basis: ClassVar[Basis] = Basis.RESEARCH

    def clues(self, case: Case) -> Iterator[Clue]:
        """Both sides are needed: a lopsided model that talks sense is no case."""
        lopsided, collapse = case.get("param_imbalance"), case.get("mode_collapse")
        if lopsided is None or collapse is None or not collapse.is_alarm:
            return
        share = lopsided.number("share")
        yield Clue(0.6 if share < 0.75 else 0.75, lopsided.evidence[0])
        way = collapse.details.get("way")
        if way in ("samples", "predictions"):
            is_token = not collapse.number("is_phrase")
            certain = 0.8 if collapse.number("samples") >= 3 else 0.7
            yield Clue(certain if is_token else 0.3, collapse.evidence[0])
        else:
            yield Clue(-0.7, collapse.evidence[0])

    def issue(self, case: Case) -> str:
        """One sentence with the share."""
        found = case.get("param_imbalance")
        if found is None:
            return "most parameters are in the embedding, too few in the layers that use it"
        return (
            f"{found.number('share'):.0%} of the {found.number('total'):,.0f} parameters are in "
            "the embedding; the layers left over can only learn the most common token"
        )

    def fixes(self, case: Case) -> Iterator[Fix]:
        """Less vocabulary, less embedding, more model."""
        vocabulary, width = case.setting("vocab_size"), case.setting("hidden")
        layers = case.setting("layers")
        found = case.get("param_imbalance")
        share = found.number("share") if found is not None else 0.0
        if vocabulary is not None and (size := vocabulary.number):
            smaller = max(256, int(size / 8))
            change = f"{vocabulary.path} {size:g} -> {smaller} with a tokenizer trained for it"
            example = f"{vocabulary.path}: {smaller}"
        else:
            change = "train a tokenizer with an eighth of the vocabulary"
            example = "vocab_size: <current / 8>"
        yield self._fix(
            change,
            example,
            f"the embedding's share falls from {share:.0%} to under 50 %; distinct tokens per "
            "sample rise over 20 % within the first 2,000 steps",
            "widen the layers as well; compare samples at temperature 1",
        )
        if layers is not None and (depth := layers.number):
            change = f"{layers.path} {depth:g} -> {max(depth * 2, depth + 2):g}"
            example = f"{layers.path}: {max(depth * 2, depth + 2):g}"
            if width is not None and width.number:
                change += f", {width.path} {width.number:g} -> {2 * width.number:g}"
                example += f"\n{width.path}: {2 * width.number:g}"
        else:
            change, example = "double the depth and width of the layers", "n_layers: 4"
        yield self._fix(
            change,
            example,
            "train loss falls below that of predicting the most common token within 1,000 steps",
            "keep the size and shrink the vocabulary instead",
        )
        yield self._fix(
            "factorise the embedding: a narrow table, projected up to the model's width",
            "nn.Sequential(nn.Embedding(vocab, 32), nn.Linear(32, d_model))",
            "the embedding has 4 to 16 times fewer parameters; samples vary within 2,000 steps",
            "tie input and output embedding as well",
        )

    def _fix(self, change: str, example: str, impact: str, next_step: str) -> Fix:
        return Fix(
            addresses=self.id,
            change=change,
            example=example,
            expected_impact=impact,
            verify="print a sample and the share of its most common token every 200 steps: the "
            "share falls below 0.5",
            if_it_fails=next_step,
        )

    def requests(self, case: Case) -> Iterator[str]:
        """What separates it from decoding settings and from a bad objective."""
        yield (
            "two samples of the same checkpoint at temperature 1 and greedy: varied at "
            "temperature 1 means decoding, not training"
        )
        if not any(e.kind == "checkpoint" for f in case.findings for e in f.evidence):
            yield "a checkpoint: its tensor shapes say how many parameters the embedding really has"
