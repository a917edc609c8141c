"""The estimate of activations against the formula's own figures."""

from __future__ import annotations

import pytest

from mltd.analyzers.memory import Origin

from .accounts import GPT2, account, part, unknown

S, B, H, A, L = 1024, 8, 768, 12, 12
HEAD = S * B * (2 * H * 2 + 4 * 50257)
"""The output: last norm and projection in 16 bits, logits in fp32."""


def estimate(**more: object) -> tuple[float, float]:
    amount = part(account("", {**GPT2, "precision": "bf16-mixed", **more}), "activations")
    assert amount.origin is Origin.ESTIMATED
    return amount.low, amount.high


def test_a_layer_keeps_34_sbh_and_5_as_over_h() -> None:
    expected = L * S * B * H * (34 + 5 * A * S / H) + HEAD
    assert estimate(flash=False) == pytest.approx((expected, expected))


def test_flash_attention_keeps_no_matrices() -> None:
    expected = L * S * B * H * 34 + HEAD
    assert estimate(flash=True) == pytest.approx((expected, expected))


def test_where_flash_attention_is_not_stated_the_estimate_is_a_range() -> None:
    assert estimate() == (estimate(flash=True)[0], estimate(flash=False)[0])


def test_recomputation_keeps_the_inputs_of_layers_and_one_layer() -> None:
    expected = 2 * L * S * B * H + 34 * S * B * H + HEAD
    assert estimate(flash=True, gradient_checkpointing=True)[0] == pytest.approx(expected)


def test_fp32_doubles_all_but_the_masks() -> None:
    expected = L * S * B * H * 66 + S * B * (2 * H * 4 + 4 * 50257)
    assert estimate(flash=True, precision="32")[0] == pytest.approx(expected)


def test_without_dropout_there_are_no_masks() -> None:
    expected = L * S * B * H * 32 + HEAD
    assert estimate(flash=True, dropout=0.0)[0] == pytest.approx(expected)


def test_tensor_parallelism_divides_what_it_can() -> None:
    expected = L * S * B * H * (10 + 24 / 4) + S * B * (2 * H * 2 + 4 * 50257 / 4)
    assert estimate(flash=True, tensor_model_parallel_size=4)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("n_layer", "number of layers"),
        ("n_embd", "hidden size"),
        ("n_head", "attention heads"),
        ("block_size", "sequence length"),
        ("batch_size", "batch size per device"),
    ],
)
def test_a_missing_size_is_named_and_nothing_is_estimated(key: str, words: str) -> None:
    config = {name: value for name, value in GPT2.items() if name != key}
    assert unknown(account("", config), "activations") == (words,)


def test_a_recurrent_model_has_no_heads_and_so_no_estimate() -> None:
    config: dict[str, object] = {
        "hidden_size": 256,
        "num_layers": 2,
        "seq_len": 100,
        "batch_size": 32,
    }
    assert unknown(account("", config), "activations") == ("attention heads",)


def test_a_pipeline_keeps_as_much_as_one_device_would() -> None:
    assert estimate(flash=True, pipeline_model_parallel_size=4) == estimate(flash=True)
