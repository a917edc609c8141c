"""A model that is changed while it trains: the recording follows, behind a new header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from mltd.runs import probe
from tests.runs.probe.training import header, images, length, net, records, steps, train


def headers(path: Path) -> list[dict[str, Any]]:
    return [record for record in records(path) if record["kind"] == "header"]


def test_a_layer_that_is_added_is_in_a_new_header(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p"
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path, every=2):
        train(model, optimizer, 4)
        more = nn.Linear(3, 3)
        model.head = nn.Sequential(model.head, more)  # type: ignore[assignment]
        optimizer.add_param_group({"params": more.parameters()})
        train(model, optimizer, 4)
    first, second = headers(path)
    assert first["layers"] == ["conv", "norm", "fc", "head"]
    assert second["layers"] == ["conv", "norm", "fc", "head.0", "head.1"]
    assert second["modules"][-2:] == ["head.0", "head.1"]
    last = steps(path)[-1]
    assert last["step"] == 8
    assert all(value is not None for value in [*last["grad_norm"], *last["act_mean"]])
    assert len(last["grad_norm"]) == 5


def test_a_layer_that_is_released_counts_from_then_on(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p"
    model.conv.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    with probe.watch(model, optimizer, path, every=2):
        train(model, optimizer, 4)
        model.conv.requires_grad_(True)
        train(model, optimizer, 4)
    assert [one["trainable"] for one in headers(path)] == [[0, 8, 520, 27], [40, 8, 520, 27]]
    assert steps(path)[-1]["total"]["weight_norm"] == round(length(model.parameters()), 5)


def test_layers_that_come_and_go_at_every_step_do_not_fill_the_file(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p"
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path, every=1):
        for number in range(60):
            model.conv.requires_grad_(number % 2 == 0)
            train(model, optimizer, 1)
    assert len(steps(path)) == 60
    assert len(headers(path)) <= 20


def test_another_type_of_number_is_measured_as_well(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p"
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path, every=1) as handle:
        for kind in (torch.float32, torch.bfloat16, torch.float64):
            model.to(kind)
            pair = images()[0].to(kind), images()[1]
            train(model, optimizer, 2, lambda _, pair=pair: pair)  # type: ignore[misc]
        assert handle.is_active
    assert [len(record["act_mean"]) for record in steps(path)] == [5] * 6


def test_an_optimizer_that_is_replaced_is_followed(tmp_path: Path) -> None:
    model, path = net(), tmp_path / "p"
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    with probe.watch(model, optimizer, path, every=1):
        train(model, optimizer, 2)
        del optimizer
        train(model, torch.optim.SGD(model.parameters(), 0.5), 2)
    assert [record["step"] for record in steps(path)] == [1, 2, 3, 4]
    assert steps(path)[-1]["lr"] == [0.5]


def test_a_recording_without_any_step_says_so(tmp_path: Path) -> None:
    model = net()
    with probe.watch(model, None, tmp_path / "p"):
        model(images()[0])
    assert header(tmp_path / "p")["layers"]
    assert "no step" in records(tmp_path / "p")[-1]["reason"]
