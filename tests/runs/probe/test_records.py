"""What is recorded, and at which steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from mltd.runs import probe
from tests.runs.probe.training import (
    backward,
    by_layer,
    header,
    images,
    length,
    mlp,
    net,
    records,
    steps,
    train,
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("probe") / "mltd-probe.jsonl"
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path):
        train(model, optimizer, 25)
    return path


def test_the_first_line_names_layers_in_the_order_in_which_they_are_called(recorded: Path) -> None:
    first = header(recorded)
    assert next(iter(first)) == "mltd_probe"
    assert first["layers"] == ["conv", "norm", "fc", "head"]
    assert first["modules"] == ["conv", "norm", "relu", "fc", "head"]
    assert first["order"] == "forward"
    assert first["parameters"] == [40, 8, 520, 27]
    assert first["trainable"] == first["parameters"]
    assert (first["rank"], first["world_size"]) == (0, 1)
    assert first["torch"] == torch.__version__
    assert first["optimizers"] == ["Adam"]


def test_the_first_step_and_every_tenth_are_recorded(recorded: Path) -> None:
    assert [record["step"] for record in steps(recorded)] == [1, 10, 20]
    assert records(recorded)[-1] == {"kind": "end", "step": 25, "reason": "closed"}
    assert all(record["lr"] == [0.01] for record in steps(recorded))


def test_the_norms_are_those_of_the_tensors(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    x, y = images()
    backward(functional.cross_entropy(model(x), y))
    gradient = length(p.grad for p in model.fc.parameters() if p.grad is not None)
    weight = length(model.fc.parameters())
    with probe.watch(model, optimizer, path):
        optimizer.step()
    (record,) = steps(path)
    assert by_layer(path, record, "grad_norm")["fc"] == pytest.approx(gradient, rel=1e-4)
    assert by_layer(path, record, "weight_norm")["fc"] == pytest.approx(weight, rel=1e-4)
    ratio = by_layer(path, record, "update_ratio")["fc"]
    assert ratio == pytest.approx(0.5 * gradient / weight, rel=1e-4)
    whole = length(p.grad for p in model.parameters() if p.grad is not None)
    assert record["total"]["grad_norm"] == pytest.approx(whole, rel=1e-4)


def test_the_update_of_a_large_parameter_is_estimated_from_a_sample(tmp_path: Path) -> None:
    model, path = mlp(400, 500, 3), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    backward(functional.cross_entropy(model(torch.randn(8, 400)), torch.zeros(8).long()))
    moved = 0.5 * length(p.grad for p in model[0].parameters() if p.grad is not None)
    expected = moved / length(model[0].parameters())
    with probe.watch(model, optimizer, path):
        optimizer.step()
    found = by_layer(path, steps(path)[0], "update_ratio")["0"]
    assert found == pytest.approx(expected, rel=0.05)


def test_half_precision_neither_overflows_nor_vanishes(tmp_path: Path) -> None:
    model, path = mlp(64, 64, 3).to(torch.bfloat16), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    with torch.no_grad():
        model[0].weight.fill_(3e18)  # type: ignore[operator]
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 1e30)
    with probe.watch(model, optimizer, path):
        optimizer.step()
    (record,) = steps(path)
    assert by_layer(path, record, "grad_norm")["0"] == pytest.approx(1e30 * (64 * 65) ** 0.5, 0.01)
    assert "nonfinite" not in record


def test_only_optimizer_steps_count_when_gradients_are_accumulated(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path, every=2):
        for number in range(16):
            x, y = images(number)
            backward(functional.cross_entropy(model(x), y))
            if number % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()
    assert [record["step"] for record in steps(path)] == [1, 2, 4]
    assert all(len(by_layer(path, r, "act_mean")) == 5 for r in steps(path))


@pytest.mark.parametrize("passes_them", [True, False], ids=["given", "found"])
def test_two_optimizers_make_one_record(tmp_path: Path, passes_them: bool) -> None:
    model, path = mlp(4, 8, 3), tmp_path / "p.jsonl"
    one = torch.optim.SGD(model[0].parameters(), 0.1)
    two = torch.optim.Adam(model[2].parameters(), 0.01)
    with probe.watch(model, [one, two] if passes_them else None, path, every=2):
        for _ in range(4):
            backward(functional.cross_entropy(model(torch.ones(8, 4)), torch.zeros(8).long()))
            two.step()
            one.step()
    seen = steps(path)
    assert len(seen) == 3
    late = seen[-1]
    assert set(by_layer(path, late, "update_ratio")) == {"0", "2"}
    assert sorted(late["lr"]) == [0.01, 0.1]
    assert [r["step"] for r in seen] == sorted(r["step"] for r in seen)


def test_frozen_layers_layers_without_gradient_and_without_optimizer(tmp_path: Path) -> None:
    model, path = mlp(4, 4, 4, 4, 3), tmp_path / "p.jsonl"
    model[0].requires_grad_(False)
    unused = nn.Linear(4, 4)
    model[2].register_module("unused", unused)
    trained = [*model[2].parameters(), *model[4].parameters()]
    optimizer = torch.optim.SGD(trained, 0.1)
    with probe.watch(model, optimizer, path, every=1):
        for _ in range(2):
            backward(functional.cross_entropy(model(torch.ones(8, 4)), torch.zeros(8).long()))
            optimizer.step()
    first = header(path)
    assert dict(zip(first["layers"], first["trainable"], strict=True))["0"] == 0
    assert first["unoptimized"] == ["6"]
    assert "unreached" not in first
    early, late = steps(path)
    assert [first["layers"][n] for n in late["no_grad"]] == ["2.unused"]
    assert "0" in by_layer(path, early, "weight_norm")
    assert set(by_layer(path, late, "weight_norm")) == {"2", "2.unused", "4", "6"}
    assert by_layer(path, late, "update_ratio")["2.unused"] == 0.0
    assert not {"0", "6"} & set(by_layer(path, late, "update_ratio"))


def test_a_part_that_no_gradient_reaches_is_named_in_the_header(tmp_path: Path) -> None:
    backbone, head, path = nn.Linear(4, 4), nn.Linear(4, 3), tmp_path / "p.jsonl"
    model = nn.Sequential(backbone, head)
    optimizer = torch.optim.SGD(head.parameters(), 0.1)
    with probe.watch(model, optimizer, path, every=1):
        with torch.no_grad():
            features = backbone(torch.ones(8, 4))
        backward(functional.cross_entropy(head(features), torch.zeros(8).long()))
        optimizer.step()
    first = header(path)
    assert (first["unoptimized"], first["unreached"]) == (["0"], ["0"])


def test_sparse_gradients_are_measured_by_place(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(50, 4, sparse=True), nn.Flatten(), nn.Linear(8, 3))
    optimizer, path = torch.optim.SGD(model.parameters(), 0.1), tmp_path / "p.jsonl"
    with probe.watch(model, optimizer, path):
        tokens = torch.tensor([[1, 1], [2, 1]])
        backward(functional.cross_entropy(model(tokens), torch.tensor([0, 1])))
        gradient = model[0].weight.grad
        assert isinstance(gradient, Tensor)
        optimizer.step()
    found = by_layer(path, steps(path)[0], "grad_norm")["0"]
    assert found == pytest.approx(length([gradient.to_dense()]), rel=1e-4)


def test_parameters_that_cannot_be_measured_are_named_and_left_out(tmp_path: Path) -> None:
    model, path = mlp(4, 4, 3), tmp_path / "p.jsonl"
    model.append(nn.Linear(3, 3, device="meta"))
    optimizer = torch.optim.SGD(model[:3].parameters(), 0.1)
    with probe.watch(model, optimizer, path):
        backward(model[:3](torch.ones(8, 4)).sum())
        optimizer.step()
    assert header(path)["skipped"] == {"3": "on the meta device"}
    assert "3" not in by_layer(path, steps(path)[0], "weight_norm")


def test_a_step_with_a_closure_has_the_gradients_that_it_computed(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p.jsonl"
    optimizer = torch.optim.LBFGS(model.parameters(), 0.1, max_iter=2)
    x, y = images()

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        backward(loss)
        return loss

    with probe.watch(model, optimizer, path):
        optimizer.step(closure)  # type: ignore[no-untyped-call]
    (record,) = steps(path)
    assert set(by_layer(path, record, "grad_norm")) == {"conv", "norm", "fc", "head"}
    assert record["total"]["update_ratio"] > 0


def test_a_resumed_training_counts_on_and_appends(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path):
        train(model, optimizer, 12)
    again = net()
    resumed = torch.optim.Adam(again.parameters(), 0.01)
    resumed.load_state_dict(optimizer.state_dict())
    with probe.watch(again, resumed, path):
        train(again, resumed, 9)
    assert [record["step"] for record in steps(path)] == [1, 10, 13, 20]
    assert sum(record["kind"] == "header" for record in records(path)) == 2


def test_layers_can_be_chosen_by_pattern_or_function(tmp_path: Path) -> None:
    for name, chosen in (("a", "fc"), ("b", lambda layer: layer == "fc"), ("c", ["f?"])):
        model, path = net(), tmp_path / name
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with probe.watch(model, optimizer, path, layers=chosen):
            train(model, optimizer, 1)
        assert header(path)["layers"] == header(path)["modules"] == ["fc"]


def test_lazy_layers_have_their_size(tmp_path: Path) -> None:
    model, path = nn.Sequential(nn.Flatten(), nn.LazyLinear(3)), tmp_path / "p.jsonl"
    with probe.watch(model, None, path):
        model(images()[0])
        train(model, torch.optim.SGD(model.parameters(), 0.1), 1)
    assert header(path)["parameters"] == [36 * 3 + 3]
