"""The sizes of a transformer as its settings give them; a model without heads is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.finding import Evidence
from .keys import Known

_BOUNDS = {
    "layers": (1, 1e4), "hidden": (8, 1e6), "heads": (1, 1e4), "kv heads": (1, 1e4),
    "inner": (8, 1e7), "vocabulary": (16, 1e8), "sequence": (1, 1e8), "batch": (1, 1e7),
}  # fmt: skip
_GATED = ("llama", "mistral", "qwen", "gemma", "swiglu", "geglu", "silu", "mixtral", "deepseek")
NEEDED = ("layers", "hidden", "heads", "sequence", "batch")
"""Without one of these, activations are not estimated."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes by meaning, each with its setting."""

    sizes: Mapping[str, tuple[float, Evidence]]
    is_gated: bool = False
    is_tied: bool = True

    def get(self, meaning: str) -> float | None:
        """One size."""
        found = self.sizes.get(meaning)
        return None if found is None else found[0]

    def sources(self, *meanings: str) -> tuple[Evidence, ...]:
        """The settings that some sizes come from."""
        return tuple(self.sizes[meaning][1] for meaning in meanings if meaning in self.sizes)

    @property
    def missing(self) -> tuple[str, ...]:
        """Sizes that an estimate of activations needs and nothing states."""
        return tuple(meaning for meaning in NEEDED if meaning not in self.sizes)

    @property
    def inner(self) -> float:
        """Width inside the feed-forward part: four times the model's unless stated."""
        hidden = self.get("hidden") or 0.0
        return self.get("inner") or 4 * hidden

    def parameters(self) -> tuple[float, str] | None:
        """The usual count of a transformer's weights, and the arithmetic.

        Per layer 4 h^2 in attention (fewer with shared keys and values) and 2 h f (3 h f with a
        gate) in the feed-forward part, so 12 h^2 with f = 4 h; one vector of h per word (two if
        the output is not tied). As in Kaplan et al. 2020, table 1, with embeddings.
        """
        layers, hidden = self.get("layers"), self.get("hidden")
        words, heads = self.get("vocabulary"), self.get("heads")
        if layers is None or hidden is None or words is None or heads is None:
            return None
        keys = min(1.0, (self.get("kv heads") or heads) / heads)
        attention = (2 + 2 * keys) * hidden * hidden
        feed = (3 if self.is_gated else 2) * hidden * self.inner
        tables = words * hidden * (1 if self.is_tied else 2)
        value = layers * (attention + feed) + tables
        how = f"{layers:g} layers, width {hidden:g}, {words:,.0f} words: about {value:,.0f}"
        return value, how


def shape_of(known: Known) -> Shape:
    """Every size that the settings state within reason."""
    sizes = {
        meaning: found
        for meaning, bounds in _BOUNDS.items()
        if (found := known.number(meaning, *bounds)) is not None
    }
    words = " ".join(
        setting.text[:80]
        for meaning in ("activation", "model", "hidden_act", "model_type", "architectures")
        if (setting := known.settings.get(meaning)) is not None
    )
    tied = known.switch("tied")
    return Shape(sizes, any(word in words for word in _GATED), tied is None or tied[0])
