"""A small decoder-only transformer, norms before or after its sub-layers."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from .text import VOCABULARY

CONTEXT = 32
HEADS = 4


class Block(nn.Module):
    """Attention and feed-forward."""

    def __init__(self, width: int, is_pre_norm: bool, dropout: float) -> None:
        super().__init__()
        self.is_pre_norm = is_pre_norm
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(dropout)

    def attend(self, x: Tensor) -> Tensor:
        """Causal attention."""
        batch, length, width = x.shape
        queries, keys, values = (
            part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)
        )
        seen = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        mixed: Tensor = self.drop(self.proj(seen.transpose(1, 2).reshape(batch, length, width)))
        return mixed

    def feed(self, x: Tensor) -> Tensor:
        """The feed-forward part."""
        fed: Tensor = self.drop(self.out(F.gelu(self.fc(x))))
        return fed

    def forward(self, x: Tensor) -> Tensor:
        """Both parts, each beside its residual path."""
        if self.is_pre_norm:
            x = x + self.attend(self.ln1(x))
            return x + self.feed(self.ln2(x))
        x = self.ln1(x + self.attend(x))
        normed: Tensor = self.ln2(x + self.feed(x))
        return normed


class Decoder(nn.Module):
    """Embeddings, blocks and a head over characters."""

    def __init__(
        self, width: int = 32, layers: int = 2, is_pre_norm: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCABULARY, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, is_pre_norm, dropout) for _ in range(layers))
        self.ln_f, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.5 * width**-0.5)

    def forward(self, numbers: Tensor) -> Tensor:
        """Logits of the next character at every place."""
        x = self.tok(numbers) + self.pos.weight[: numbers.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.ln_f(x))
        return logits


class LowRank(nn.Module):
    """A frozen linear layer with a trained low-rank addition."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(0.05 * base.weight.new_empty(rank, base.in_features).normal_())
        self.b = nn.Parameter(base.weight.new_zeros(base.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """The sum of both."""
        total: Tensor = self.base(x) + 4 * (x @ self.a.T) @ self.b.T
        return total


def adapt(model: Decoder, rank: int) -> None:
    """Freeze a model and give all linear layers of its blocks a low-rank addition."""
    model.requires_grad_(False)
    for block in model.blocks:
        for name in ("qkv", "proj", "fc", "out"):
            setattr(block, name, LowRank(getattr(block, name), rank))
