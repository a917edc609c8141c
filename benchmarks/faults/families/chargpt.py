"""Two-layer character model of the source text of Python's standard library."""

from __future__ import annotations

import functools
import math
import sysconfig
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ..recipe import Recipe
from ..workload import Batch, Workload, scale_weights

SOURCES = ("textwrap.py", "heapq.py", "json/decoder.py", "shlex.py", "bisect.py", "statistics.py")


def recipe(seed: int) -> Recipe:
    """A training that goes well."""
    return Recipe(
        family="chargpt",
        seed=seed,
        steps=320,
        batch=6,
        lr=0.004,
        optimizer="adamw",
        weight_decay=0.01,
        clip=1.0,
        schedule="cosine",
        warmup=20,
        eval_every=32,
        model={"d_model": 48, "n_layer": 2, "n_head": 2, "block_size": 32},
        data={"dataset": "stdlib-chars", "seq_len": 32},
        step_seconds=0.31,
    )


@functools.cache
def corpus() -> tuple[Tensor, int]:
    """The text as token ids, and how many different characters it has."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    text = "".join((folder / name).read_text("utf-8") for name in SOURCES)
    text = "".join(char if char.isascii() else "?" for char in text)
    alphabet = {char: place for place, char in enumerate(sorted(set(text)))}
    return torch.tensor([alphabet[char] for char in text]), len(alphabet)


class Block(nn.Module):
    """Attention and a feed-forward net, each behind a norm."""

    def __init__(self, wide: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.p = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(wide), nn.LayerNorm(wide)
        self.qkv, self.out = nn.Linear(wide, 3 * wide), nn.Linear(wide, wide)
        self.mlp = nn.Sequential(nn.Linear(wide, 4 * wide), nn.GELU(), nn.Linear(4 * wide, wide))

    def forward(self, x: Tensor) -> Tensor:
        """Look back, then think."""
        many, long, wide = x.shape
        parts = self.qkv(self.norm1(x)).view(many, long, 3, self.heads, wide // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(many, long, wide))
        thought: Tensor = self.mlp(self.norm2(x))
        return x + nn.functional.dropout(thought, self.p, self.training)


class CharGPT(nn.Module):
    """Embeddings, blocks and a head."""

    def __init__(self, vocabulary: int, recipe: Recipe) -> None:
        super().__init__()
        wide = recipe.model["d_model"]
        self.tok = nn.Embedding(vocabulary, wide)
        self.pos = nn.Embedding(recipe.model["block_size"], wide)
        self.blocks = nn.ModuleList(
            Block(wide, recipe.model["n_head"], recipe.model.get("dropout", 0.0))
            for _ in range(recipe.model["n_layer"])
        )
        self.norm, self.head = nn.LayerNorm(wide), nn.Linear(wide, vocabulary, bias=False)
        for one in (self.tok, self.pos, self.head):
            nn.init.normal_(one.weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the next character at each place."""
        x = self.tok(tokens) + self.pos(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.norm(x))
        return logits


class CharWorkload(Workload):
    """Windows of the text."""

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Mean cross-entropy of the next character."""
        logits = self.model(batch.x)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), batch.y.flatten())
        guess = logits.argmax(-1)
        variety = len(torch.unique(guess)) / logits.shape[-1]
        right = float((guess == batch.y).float().mean())
        return loss, {"acc": right, "distinct": variety}


def build(recipe: Recipe) -> CharWorkload:
    """The model and windows of the text; the last tenth is for validation."""
    torch.manual_seed(recipe.seed)
    tokens, vocabulary = corpus()
    model = CharGPT(vocabulary, recipe)
    scale_weights(model, recipe.model.get("init_gain", 1.0))
    workload = CharWorkload(recipe, model)
    workload.chance = math.log(vocabulary)
    long = recipe.data["seq_len"]
    rng = np.random.default_rng([recipe.seed, 3])
    border = int(len(tokens) * 0.9)
    sizes = (recipe.data.get("train_size", 4800), 64)
    for name, (low, high), size in (
        ("train", (0, border), sizes[0]),
        ("val", (border, len(tokens)), sizes[1]),
    ):
        starts = torch.tensor(rng.integers(low, high - long - 1, size))
        windows = tokens[starts[:, None] + torch.arange(long + 1)]
        setattr(workload, f"{name}_x", windows[:, :-1].contiguous())
        setattr(workload, f"{name}_y", windows[:, 1:].contiguous())
    return workload
