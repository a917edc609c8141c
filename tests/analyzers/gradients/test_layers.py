from __future__ import annotations

import pytest

from mltd.analyzers.catalogue.examples import example_run
from mltd.analyzers.core.view import RunView
from mltd.analyzers.gradients.layers import (
    gradient_layers,
    gradient_norm,
    is_of_a_layer,
    weight_layers,
    without_embeddings,
)
from mltd.analyzers.gradients.shares import measured


def view_of(*names: str) -> RunView:
    return RunView(example_run(" ; ".join(f"{name}: 0.5>0.4*8" for name in names)))


@pytest.mark.parametrize(
    "name",
    [
        "grad_norm/0",
        "layers.0.weight.grad_norm",
        "grad/fc1",
        "gradients/encoder.block.3",
        "layer 3 grad_norm",
        "grad_2.0_norm/conv1.weight",
        "train/grad_norm/body.2",
        "gn_fc1",
        "gn/l00",
        "gn3",
        "grad2",
        "g_fc10",
        "g/conv2.weight",
        "layer3_gn",
        "‖g‖_l0",
    ],
)
def test_a_layer_is_known_by_its_name(name: str) -> None:
    assert is_of_a_layer(name)


@pytest.mark.parametrize(
    "name",
    [
        "grad_norm",
        "train/grad_norm",
        "gnorm",
        "grad_norm #2",
        "grad_norm [rank 1]",
        "grad_2.0_norm_total",
        "grad_norm_before_clip",
        "d_grad_norm",
        "critic/grad_norm",
        "zero_grad_frac",
        "grad_scale",
        "gn",
        "g_loss",
        "g_real",
        "g_score",
        "G_w",
        "gn_ratio",
        "loss",
    ],
)
def test_what_is_not_a_layer(name: str) -> None:
    assert not is_of_a_layer(name)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["grad_norm/0", "grad_norm/10", "grad_norm/2"], ["layer 0", "layer 2", "layer 10"]),
        (["grad/fc1", "grad/fc2", "grad/head"], ["fc1", "fc2", "head"]),
        (["grad/blocks.0", "grad/blocks.1", "grad/classifier", "grad/stem"], None),
    ],
)
def test_layers_come_in_the_order_of_the_data(names: list[str], expected: list[str] | None) -> None:
    order = [layer.layer for layer in gradient_layers(view_of(*names))]
    assert order == (expected or ["stem", "blocks 0", "blocks 1", "classifier"])


def test_the_order_of_the_log_is_kept_where_names_do_not_tell() -> None:
    order = [
        layer.layer for layer in gradient_layers(view_of("grad/zulu", "grad/mike", "grad/alfa"))
    ]
    assert order == ["zulu", "mike", "alfa"]


def test_biases_are_left_out() -> None:
    names = ["grad_norm/0.bias", "grad_norm/0.weight", "grad_norm/1.bias", "grad_norm/1.weight"]
    assert [one.layer for one in gradient_layers(view_of(*names))] == ["0 weight", "1 weight"]


def test_embeddings_are_no_dense_layers() -> None:
    layers = gradient_layers(view_of("grad/tok_emb.embed", "grad/fc1", "grad/fc2"))
    assert [one.layer for one in without_embeddings(layers)] == ["fc1", "fc2"]


def test_one_layer_is_nothing_to_compare() -> None:
    assert gradient_layers(view_of("grad/fc1", "loss")) == []


def test_the_whole_norm_is_not_a_layers() -> None:
    view = view_of("layers.0.weight.grad_norm", "layers.1.weight.grad_norm")
    assert gradient_norm(view) is None
    curve = gradient_norm(view_of("layers.0.weight.grad_norm", "gnorm"))
    assert curve is not None
    assert curve.name == "gnorm"


def test_weights_are_told_from_gradients() -> None:
    view = view_of("weight_norm/fc1", "weight_norm/fc2", "grad_norm/fc1", "grad_norm/fc2")
    assert [one.curve.name for one in weight_layers(view)] == ["weight_norm/fc1", "weight_norm/fc2"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("dead_units", "eval_dead_relu_fraction"),
        ("dead_units", "dead_neurons_frac"),
        ("zero_gradients", "zero_grad_frac"),
        ("zero_gradients", "grad/zero_fraction"),
        ("zero_activations", "act_zero_frac"),
        ("saturation", "saturated_share"),
        ("update_ratio", "update_ratio"),
        ("update_ratio", "update_to_weight/fc1"),
        ("logits", "max_attn_logit"),
    ],
)
def test_measurements_are_known_by_their_names(kind: str, name: str) -> None:
    assert [share.curve.name for share in measured(view_of(name), kind)] == [name]


def test_a_share_in_percent_is_divided() -> None:
    view = RunView(example_run("dead_relu_pct: 90*8"))
    assert measured(view, "dead_units")[0].level() == pytest.approx(0.9)


def test_a_count_is_no_share() -> None:
    assert measured(RunView(example_run("dead_neurons: 40*8")), "dead_units") == []


def test_the_section_of_a_logger_is_no_layer() -> None:
    assert not is_of_a_layer("metrics/grad_norm")
    assert not is_of_a_layer("perf/grad_norm")
    assert is_of_a_layer("metrics/grad_norm/fc1")


@pytest.mark.parametrize("name", ["relu1_zero", "zero_frac_relu2", "relu_3/sparsity"])
def test_zeros_behind_a_relu_are_activations(name: str) -> None:
    assert [share.curve.name for share in measured(view_of(name), "zero_activations")] == [name]


@pytest.mark.parametrize("name", ["dead_relu1", "relu2_dead"])
def test_dead_units_of_a_numbered_relu(name: str) -> None:
    assert [share.curve.name for share in measured(view_of(name), "dead_units")] == [name]
