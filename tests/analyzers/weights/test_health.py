"""Real weights with one fault each: the finding names the layer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.weights import Inspection

from .models import inspected, made, nn, save, torch, train


def alarm(found: Inspection, identity: str) -> Finding:
    (finding,) = [f for f in found.findings if f.is_alarm]
    assert finding.id == identity, finding.title
    return finding


def look(path: Path, model: Any, optimizer: Any = None, step: int | None = None) -> Inspection:
    return inspected(save(path / "m.pt", model, optimizer, step))


def test_the_first_tensor_with_a_nan_is_named_as_the_likely_origin(tmp_path: Path) -> None:
    model = made("gpt")
    with torch.no_grad():
        model.h[2].mlp["c_fc"].weight[3, 4] = float("nan")
        model.h[3].ln_1.bias[0] = float("inf")
    found = look(tmp_path, model)
    finding = alarm(found, "nan_weights")
    assert finding.severity is Severity.CRITICAL
    assert "2 of 53 tensors" in finding.title
    assert "first h.2.mlp.c_fc.weight" in finding.title
    assert [e.ref for e in finding.evidence] == ["m.pt:h.2.mlp.c_fc.weight", "m.pt:h.3.ln_1.bias"]
    assert finding.evidence[0].quote == "1 NaN of 4,096 values"
    assert found.fixes


def test_statistics_of_a_norm_that_overflowed_are_broken_weights(tmp_path: Path) -> None:
    model = made("cnn")
    model.bn1.running_var[0] = float("inf")
    assert "bn1.running_var" in alarm(look(tmp_path, model), "nan_weights").title


def test_a_layer_of_zeros_passes_nothing_on(tmp_path: Path) -> None:
    model = made("mlp")
    nn.init.zeros_(model.net[2].weight)
    finding = alarm(look(tmp_path, model), "dead_units")
    assert "1 of 3 weight matrices are all zero (net.2.weight)" in finding.title


def test_half_of_the_outputs_without_weights_is_an_alarm_less_is_not(tmp_path: Path) -> None:
    model = made("mlp")
    with torch.no_grad():
        model.net[2].weight[5] = 0
    (finding,) = look(tmp_path, model).findings
    assert (finding.id, finding.severity) == ("dead_units", Severity.INFO)
    with torch.no_grad():
        model.net[2].weight[5:45] = 0
    finding = alarm(look(tmp_path, model), "dead_units")
    assert finding.title.startswith("62% of the outputs of net.2.weight")
    assert finding.evidence[0].quote == (
        "40 of 64 output rows are zero: 5, 6, 7, 8, 9, 10, 11, 12, ..."
    )


def test_weights_after_divergence_have_exploded(tmp_path: Path) -> None:
    model = made("mlp")
    with torch.no_grad():
        model.net[2].weight.mul_(1e4)
    finding = alarm(look(tmp_path, model), "odd_weights")
    assert "net.2.weight have exploded" in finding.title
    assert "usual at the start 1/sqrt(64) = 0.12" in finding.evidence[0].quote


def test_a_block_far_above_its_siblings_has_exploded(tmp_path: Path) -> None:
    model = made("gpt")
    with torch.no_grad():
        model.h[1].mlp["c_fc"].weight.mul_(60)
    finding = alarm(look(tmp_path, model), "odd_weights")
    assert "h.1.mlp.c_fc.weight" in finding.title
    assert "in its sibling blocks" in finding.evidence[0].quote


def test_weights_that_decayed_away_have_collapsed(tmp_path: Path) -> None:
    model = made("mlp")
    with torch.no_grad():
        model.net[2].weight.mul_(1e-7)
    assert "net.2.weight have collapsed" in alarm(look(tmp_path, model), "odd_weights").title


def test_a_matrix_of_one_number_can_never_break_its_symmetry(tmp_path: Path) -> None:
    model = made("mlp")
    nn.init.constant_(model.net[2].weight, 0.05)
    finding = alarm(look(tmp_path, model), "odd_weights")
    assert finding.title.startswith("one number fills net.2.weight")


def test_a_nan_in_the_optimizer_is_a_gradient_that_was_not_finite(tmp_path: Path) -> None:
    model = made("mlp")
    optimizer = train(model, 20)
    optimizer.state[model.net[2].weight]["exp_avg"][0, 0] = float("nan")
    finding = alarm(look(tmp_path, model, optimizer, 20), "nan_gradients")
    assert finding.severity is Severity.CRITICAL
    assert "net.2.weight" in finding.title


def test_a_layer_whose_gradient_was_always_zero_is_frozen(tmp_path: Path) -> None:
    model = made("mlp")
    optimizer = train(model, 20)
    optimizer.state[model.net[2].weight]["exp_avg_sq"].zero_()
    finding = alarm(look(tmp_path, model, optimizer, 20), "frozen_layers")
    assert finding.title.endswith("got no gradient but zero in 20 steps: net.2.weight")


def test_a_layer_without_state_in_the_middle_never_got_a_gradient(tmp_path: Path) -> None:
    model = made("mlp")
    model.net[2].requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.rand(8, 16)
    for _ in range(20):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    found = look(tmp_path, model, optimizer, 20)
    assert found.summary.optimizers[0].is_mapped
    assert "(net.2.weight, net.2.bias)" in alarm(found, "frozen_layers").title


@pytest.mark.parametrize(
    ("step", "is_told"),
    [(20, False), (21, False), (40, False), (79, False), (20_000, False), (31, True), (50, True)],
)
def test_an_optimizer_that_has_made_fewer_steps_was_not_restored(
    step: int, is_told: bool, tmp_path: Path
) -> None:
    model = made("mlp")
    found = look(tmp_path, model, train(model, 20), step)
    assert [f.id for f in found.findings if f.is_alarm] == ["resume_discontinuity"] * is_told
    if step == 40:
        assert any("gradient accumulation" in remark for remark in found.remarks)
    if step == 20_000:
        assert any("or the other may have begun anew" in remark for remark in found.remarks)


def test_everything_wrong_at_once_is_told_worst_first(tmp_path: Path) -> None:
    model = made("gpt")
    optimizer = train(model, 20)
    with torch.no_grad():
        model.h[1].mlp["c_fc"].weight.mul_(1e5)
        model.h[2].ln_1.weight[0] = float("nan")
    found = look(tmp_path, model, optimizer, 31)
    ranks = [finding.severity.rank for finding in found.findings]
    assert ranks == sorted(ranks, reverse=True)
    assert {f.id for f in found.findings} == {"nan_weights", "odd_weights", "resume_discontinuity"}
    assert found.problems == ()
