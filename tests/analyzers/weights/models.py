"""Small torch models of several kinds, fresh or really trained, saved as people save them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mltd.analyzers.weights import Inspection, inspect_weights
from tests.runs.checkpoints.looking import compare, look

torch = pytest.importorskip("torch")
# Threads that wait for each other on a busy machine take longer than the sums themselves.
torch.set_num_threads(1)
nn = torch.nn
WORDS = 50


class Mlp(nn.Module):  # type: ignore[misc, name-defined]
    """Three linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)
        )

    def forward(self, x: Any) -> Any:
        return self.net(x)


class Cnn(nn.Module):  # type: ignore[misc, name-defined]
    """Convolutions with BatchNorm, residual as in ResNet."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.fc = nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.bn1(self.conv1(x.reshape(len(x), 1, 4, 4).expand(-1, 3, -1, -1))))
        return self.fc((x + self.layer1(x)).mean((2, 3)))


class Gru(nn.Module):  # type: ignore[misc, name-defined]
    """Words, a GRU, words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 32, padding_idx=0)
        self.gru = nn.GRU(32, 64, batch_first=True)
        self.out = nn.Linear(64, 4)

    def forward(self, x: Any) -> Any:
        return self.out(self.gru(self.embedding((x * 10).long() % WORDS))[0][:, -1])


class Block(nn.Module):  # type: ignore[misc, name-defined]
    """Attention and feed-forward, as in GPT-2."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width)})
        self.mlp["c_proj"] = nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.mlp["c_proj"](torch.relu(self.mlp["c_fc"](self.ln_2(x))))


class Gpt(nn.Module):  # type: ignore[misc, name-defined]
    """A small transformer whose head is its embedding."""

    def __init__(self, words: int = WORDS, width: int = 32, layers: int = 4) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(16, width)
        self.h = nn.ModuleList(Block(width) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.02)

    def forward(self, x: Any) -> Any:
        x = (x * 10).long() % WORDS
        x = self.wte(x) + self.wpe.weight[: x.shape[1]]
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))[:, -1, :4]


class LoraLinear(nn.Module):  # type: ignore[misc, name-defined]
    """A frozen layer with a small trained addition."""

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.base_layer = nn.Linear(size, out).requires_grad_(False)
        self.lora_A, self.lora_B = nn.Linear(size, 4, bias=False), nn.Linear(4, out, bias=False)
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x: Any) -> Any:
        return self.base_layer(x) + self.lora_B(self.lora_A(x))


class Lora(nn.Module):  # type: ignore[misc, name-defined]
    """Two such layers."""

    def __init__(self) -> None:
        super().__init__()
        self.q_proj, self.v_proj = LoraLinear(16, 64), LoraLinear(64, 4)

    def forward(self, x: Any) -> Any:
        return self.v_proj(torch.tanh(self.q_proj(x)))


HEALTHY: dict[str, Callable[[], Any]] = {
    "mlp": Mlp, "cnn": Cnn, "gru": Gru, "gpt": Gpt, "lora": Lora,
}  # fmt: skip


def made(name: str) -> Any:
    """A model, always the same."""
    torch.manual_seed(0)
    return HEALTHY[name]()


def train(model: Any, steps: int = 60, rate: float = 3e-3) -> Any:
    """Train it on random labels that depend on the input; its optimizer."""
    torch.manual_seed(1)
    x = torch.rand(64, 16)
    y = (x[:, :4]).argmax(1)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return optimizer


def save(path: Path, model: Any, optimizer: Any = None, step: int | None = None) -> Path:
    """Weights, and what else there is, in one file."""
    kept: dict[str, Any] = {"model": model.state_dict()}
    if optimizer is not None:
        kept["optimizer"] = optimizer.state_dict()
    if step is not None:
        kept["step"] = step
    torch.save(kept, path)
    return path


def inspected(path: Path, other: Path | None = None) -> Inspection:
    """What a look at one checkpoint shows, or at the second of two."""
    if other is None:
        return inspect_weights(look(path))
    return inspect_weights(look(other), compare(path, other))


def said(found: Inspection) -> list[str]:
    """Alarms as text, for messages of failed tests."""
    return [f"{f.severity} {f.id}: {f.title}" for f in found.findings if f.is_alarm]
