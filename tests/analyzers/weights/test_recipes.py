"""Weights as known recipes start them: none of it is an alarm, and the same faults still are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mltd.analyzers.weights import Inspection, inspect_weights
from tests.runs.checkpoints.looking import look, write_safetensors

Values = np.ndarray[Any, np.dtype[Any]]
Model = dict[str, Values]
RANDOM = np.random.default_rng(0)


def normal(*shape: int, std: float | None = None) -> Values:
    size = 1 / math.sqrt(math.prod(shape[1:])) if std is None else std
    return RANDOM.normal(0, size, shape)


def vit() -> Model:
    """timm: a token of 1e-6, scales of 1e-5, a head of zeros."""
    model = {"cls_token": normal(1, 1, 64, std=1e-6), "pos_embed": normal(1, 17, 64, std=0.02)}
    model["patch_embed.proj.weight"] = normal(64, 3, 8, 8)
    for n in range(4):
        model[f"blocks.{n}.attn.qkv.weight"] = normal(192, 64, std=0.02)
        model[f"blocks.{n}.ls1.gamma"] = np.full(64, 1e-5)
        model[f"blocks.{n}.mlp.fc1.weight"] = normal(256, 64, std=0.02)
    return {**model, "head.weight": np.zeros((10, 64)), "head.bias": np.zeros(10)}


def diffusion() -> Model:
    """The last convolution of each residual block, and of the whole, starts at zero."""
    model = {"conv_in.weight": normal(32, 3, 3, 3)}
    for n in range(4):
        block = f"down_blocks.{n}.resnets.0"
        model[f"{block}.conv1.weight"] = normal(32, 32, 3, 3)
        model[f"{block}.conv2.weight"] = np.zeros((32, 32, 3, 3))
    return {**model, "conv_out.weight": np.zeros((3, 32, 3, 3))}


def adapter() -> Model:
    """PEFT: half of each pair is zero, and that of embeddings the other half."""
    model = {}
    for n in range(4):
        name = f"base_model.model.layers.{n}.self_attn.q_proj"
        model[f"{name}.lora_A.weight"] = normal(8, 256)
        model[f"{name}.lora_B.weight"] = np.zeros((256, 8))
    model["base_model.model.embed_tokens.lora_embedding_A"] = np.zeros((8, 32000))
    model["base_model.model.embed_tokens.lora_embedding_B"] = normal(256, 8, std=1.0)
    return model


def gpt2() -> Model:
    """Hugging Face: weights of input x output; half of the inputs of a layer are cut off."""
    model = {"wte.weight": normal(300, 64, std=0.02)}
    for n in range(4):
        for name, shape in (("attn.c_attn", (64, 192)), ("attn.c_proj", (64, 64))):
            model[f"h.{n}.{name}.weight"] = normal(*shape, std=0.02)
            model[f"h.{n}.{name}.bias"] = np.zeros(shape[1])
    for name in ("attn.c_attn", "attn.c_proj"):
        model[f"h.0.{name}.weight"][:40] = 0
    return model


def inspected(model: Model, folder: Path) -> Inspection:
    made = {
        name: ("F32", list(values.shape), values.astype("<f4").tobytes())
        for name, values in model.items()
    }
    return inspect_weights(look(write_safetensors(folder / "m.safetensors", made)))


def alarms(found: Inspection) -> list[str]:
    return [finding.title for finding in found.findings if finding.is_alarm]


@pytest.mark.parametrize("make", [vit, diffusion, adapter, gpt2])
def test_a_recipe_raises_no_alarm(make: Any, tmp_path: Path) -> None:
    assert alarms(inspected(make(), tmp_path)) == []


def test_rows_of_gpt2s_layers_are_not_called_outputs(tmp_path: Path) -> None:
    assert inspected(gpt2(), tmp_path).findings == ()


def test_dead_outputs_beside_a_bias_are_still_an_alarm(tmp_path: Path) -> None:
    model = {"fc1.weight": normal(128, 64), "fc1.bias": np.zeros(128), "fc2.weight": normal(9, 128)}
    model["fc1.weight"][:100] = 0
    assert "78% of the outputs of fc1.weight" in alarms(inspected(model, tmp_path))[0]


def test_a_plain_convolution_of_zeros_is_still_an_alarm(tmp_path: Path) -> None:
    model = {f"conv{n}.weight": normal(32, 32, 3, 3) for n in (1, 2, 3)}
    model["conv2.weight"][:] = 0
    model["fc.weight"] = normal(10, 32)
    assert "conv2.weight" in alarms(inspected(model, tmp_path))[0]


def test_a_collapsed_table_is_still_an_alarm(tmp_path: Path) -> None:
    model = {"wte.weight": normal(300, 64, std=1e-6), "lm_head.weight": normal(300, 64)}
    assert "wte.weight have collapsed" in alarms(inspected(model, tmp_path))[0]
