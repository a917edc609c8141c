"""A compiled model stays compiled: no graph break, no other graph, no recompilation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo
from torch import Tensor, nn
from torch._dynamo.utils import counters

from mltd.runs import probe
from tests.runs.probe.training import header, mlp, steps


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    counters.clear()
    yield
    torch._dynamo.reset()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = mlp(4, 8, 8, 3)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.body(x)
        return output


def graphs(tmp_path: Path, compile_it: Callable[[nn.Module, Any], Any], *, watches: str) -> int:
    """How many graphs a training compiles; fails on a graph break."""
    made: list[int] = []

    def backend(module: torch.fx.GraphModule, _: object) -> Any:
        made.append(sum(node.op == "call_function" for node in module.graph.nodes))
        return module.forward

    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    path = tmp_path / watches
    handle = probe.watch(model, optimizer, path, every=2) if watches == "before" else None
    compiled = compile_it(model, backend)
    if watches == "after":
        handle = probe.watch(compiled, optimizer, path, every=2)
    for _ in range(7):
        torch.autograd.backward(compiled(torch.ones(8, 4)).sum())
        optimizer.step()
        optimizer.zero_grad()
    if handle is not None:
        assert handle.is_active
        handle.close()
        assert len(steps(path)) == 4
        assert len(steps(path)[-1]["grad_norm"]) == 3
    assert not counters["graph_break"]
    return len(made)


def whole(model: nn.Module, backend: Any) -> Any:
    return torch.compile(model, backend=backend)


def in_place(model: nn.Module, backend: Any) -> Any:
    model.compile(backend=backend)
    return model


def inside(model: nn.Module, backend: Any) -> Any:
    model.body = torch.compile(model.body, backend=backend)  # type: ignore[assignment,arg-type]
    return model


@pytest.mark.parametrize("how", [whole, in_place, inside])
@pytest.mark.parametrize("watches", ["before", "after"])
def test_the_probe_adds_no_graph(tmp_path: Path, how: Any, watches: str) -> None:
    plain = graphs(tmp_path, how, watches="never")
    torch._dynamo.reset()
    counters.clear()
    assert graphs(tmp_path, how, watches=watches) == plain == 1


def test_the_header_says_why_there_are_no_activations(tmp_path: Path) -> None:
    graphs(tmp_path, whole, watches="after")
    first = header(tmp_path / "after")
    assert "compiled" in first["activations"]
    assert first["order"] == "registration"
    assert first["layers"] == ["body.0", "body.2", "body.4"]
