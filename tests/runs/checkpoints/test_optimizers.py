"""Optimizers: their kind, their steps, what they lack, and whom they mean by their numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from mltd.runs.checkpoints import CheckpointSummary
from mltd.runs.checkpoints.inside.name_mapping import names_of

from .looking import look

torch = pytest.importorskip("torch")


def net() -> Any:
    torch.manual_seed(2)
    return torch.nn.Sequential(
        torch.nn.Embedding(7, 4),
        torch.nn.Linear(4, 5),
        torch.nn.LayerNorm(5),
        torch.nn.Linear(5, 3),
    )


def saved(path: Path, model: Any, optimizer: Any, steps: int = 2) -> CheckpointSummary:
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.tensor([1, 2])).square().sum().backward()
        optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path / "m.pt")
    return look(path / "m.pt")


@pytest.mark.parametrize(
    ("name", "settings", "kind"),
    [
        ("Adam", {}, "adam"),
        ("AdamW", {"amsgrad": True}, "adam"),
        ("SGD", {"momentum": 0.9, "lr": 0.1}, "sgd_momentum"),
        ("SGD", {"lr": 0.1}, "sgd"),
        ("RMSprop", {}, "rmsprop"),
        ("Adagrad", {}, "adagrad"),
        ("Adadelta", {}, "adadelta"),
        ("Adamax", {}, "adamax"),
    ],
)
def test_the_kind_is_told_by_what_is_remembered(
    tmp_path: Path, name: str, settings: dict[str, Any], kind: str
) -> None:
    model = net()
    optimizer = getattr(torch.optim, name)(model.parameters(), **settings)
    found = saved(tmp_path, model, optimizer).optimizers[0]
    assert found.kind == kind
    assert found.parameters == 7
    assert found.is_mapped


def test_frozen_layers_are_those_that_the_optimizer_does_not_know(tmp_path: Path) -> None:
    model = net()
    for parameter in model[0].parameters():
        parameter.requires_grad_(False)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
    summary = saved(tmp_path, model, optimizer)
    trainable = {tensor.name: tensor.is_trainable for tensor in summary.parameters}
    assert trainable.pop("0.weight") is False
    assert set(trainable.values()) == {True}
    assert summary.optimizers[0].states[0].name == "1.weight"


def test_groups_of_matrices_and_vectors_get_their_names(tmp_path: Path) -> None:
    model = net()
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0},
    ]
    found = saved(tmp_path, model, torch.optim.AdamW(groups)).optimizers[0]
    assert [state.name for state in found.states] == [
        "0.weight", "1.weight", "3.weight", "1.bias", "2.weight", "2.bias", "3.bias",
    ]  # fmt: skip
    assert [(group.parameters, group.weight_decay) for group in found.groups] == [
        (3, 0.1),
        (4, 0.0),
    ]


def test_names_saved_by_the_optimizer_itself_are_taken(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(list(model.named_parameters())[::-1], lr=0.1, momentum=0.9)
    found = saved(tmp_path, model, optimizer).optimizers[0]
    assert [state.name for state in found.states][:2] == ["3.bias", "3.weight"]


def test_parameters_without_state_and_odd_states_are_named(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    saved(tmp_path, model, optimizer)
    state = optimizer.state_dict()
    del state["state"][2]
    state["state"][1]["exp_avg_sq"].zero_()
    state["state"][5]["exp_avg"][0, 0] = math.nan
    state["state"][6]["step"] = torch.tensor(99.0)
    torch.save({"model": model.state_dict(), "optimizer": state}, tmp_path / "m.pt")
    found = look(tmp_path / "m.pt").optimizers[0]
    assert found.without_state == ("1.bias",)
    assert found.zero_second_moments == ("1.weight",)
    assert found.bad_states == ("3.weight",)
    assert found.steps == (2, 99)
    assert found.groups[0].betas == (0.9, 0.999)


def test_an_optimizer_that_never_stepped_has_groups_and_no_state(tmp_path: Path) -> None:
    model = net()
    found = saved(tmp_path, model, torch.optim.AdamW(model.parameters()), steps=0).optimizers[0]
    assert found.kind == "adam"
    assert found.steps is None
    assert len(found.without_state) == 7


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ([[(2, 3), (3,)]], ["b", "c"]),
        ([[(9,)]], None),
        ([[(3,)]], None),
        ([[None, (2, 3), None, None]], ["a", "b", "c", "d"]),
        ([[(1,), (2, 3), (3,), (3,), (3,)]], None),
    ],
)
def test_names_are_given_only_where_one_choice_fits(
    groups: list[list[tuple[int, ...] | None]], names: list[str] | None
) -> None:
    parameters = [("a", (1,)), ("b", (2, 3)), ("c", (3,)), ("d", (4,))]
    if groups == [[(3,)]]:
        parameters.append(("e", (3,)))
    assert names_of(groups, parameters) == names
