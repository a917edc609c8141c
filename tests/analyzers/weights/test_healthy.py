"""Models with nothing wrong, fresh and really trained: no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest

from .models import HEALTHY, inspected, made, nn, said, save, train


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_model_raises_no_alarm_fresh_or_trained(name: str, tmp_path: Path) -> None:
    model = made(name)
    fresh = save(tmp_path / "fresh.pt", model, step=0)
    assert said(inspected(fresh)) == []
    optimizer = train(model)
    trained = save(tmp_path / "trained.pt", model, optimizer, 60)
    found = inspected(trained)
    assert said(found) == []
    assert found.summary.has_values
    assert said(inspected(fresh, trained)) == []
    before, after = found.summary.total, inspected(fresh).summary.total
    assert before == after > 0


def test_weights_alone_raise_no_alarm_either(tmp_path: Path) -> None:
    for name in HEALTHY:
        assert said(inspected(save(tmp_path / f"{name}.pt", made(name)))) == []


def test_layers_that_recipes_start_at_zero_are_no_alarm(tmp_path: Path) -> None:
    model = made("gpt")
    for block in model.h:
        nn.init.zeros_(block.mlp["c_proj"].weight)
        nn.init.zeros_(block.attn.out_proj.weight)
    assert said(inspected(save(tmp_path / "fresh.pt", model))) == []
    optimizer = train(model, 20)
    assert said(inspected(save(tmp_path / "trained.pt", model, optimizer, 20))) == []


def test_a_frozen_body_below_a_trained_head_is_no_alarm(tmp_path: Path) -> None:
    model = made("cnn")
    first = save(tmp_path / "first.pt", model, step=0)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.startswith("fc"))
    optimizer = train(model, 30)
    second = save(tmp_path / "second.pt", model, optimizer, 30)
    assert said(inspected(first, second)) == []


def test_masks_of_infinities_are_no_alarm(tmp_path: Path) -> None:
    import torch

    model = made("mlp")
    model.register_buffer("mask", torch.full((4, 4), float("-inf")).triu(1))
    assert said(inspected(save(tmp_path / "m.pt", model))) == []


def test_an_embedding_row_that_pads_is_no_dead_output(tmp_path: Path) -> None:
    found = inspected(save(tmp_path / "gru.pt", made("gru")))
    assert not any(finding.id == "dead_units" for finding in found.findings)
