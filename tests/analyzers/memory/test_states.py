"""Weights, gradients and optimizer state against published figures."""

from __future__ import annotations

import pytest

from mltd.analyzers.memory import Origin, WeightFacts

from .accounts import GIB, account, part, unknown

SMALL = "number of parameters: 124.44M\n"
SEVEN = "Number of trainable parameters = 7,500,000,000\n"
"""The model of the ZeRO paper's figure 1."""
ZERO = {"optimizer": "adam", "fp16": {"enabled": True}, "world_size": 64}
LORA = "trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.0622\n"


def test_adamw_in_fp32_takes_sixteen_bytes_per_parameter() -> None:
    found = account(SMALL, {"optimizer": "adamw", "precision": "fp32"})
    assert found.states is not None
    assert found.states.middle == pytest.approx(124.44e6 * 16)
    assert part(found, "optimizer").middle == pytest.approx(124.44e6 * 8)
    assert part(found, "parameters").origin is Origin.DERIVED
    refs = {source.ref for source in part(found, "optimizer").sources}
    assert refs == {"train.log:1", "config:precision", "config:optimizer"}


@pytest.mark.parametrize(("stage", "gigabytes"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_each_stage_of_zero_takes_what_its_paper_says(stage: int, gigabytes: float) -> None:
    # Rajbhandari et al. 2020, figure 1: 7.5B parameters, 64 devices, K = 12.
    found = account(SEVEN, {**ZERO, "zero_optimization": {"stage": stage}})
    assert found.states is not None
    assert found.states.middle / 1e9 == pytest.approx(gigabytes, abs=0.06)


def test_megatron_keeps_gradients_in_fp32_and_takes_eighteen_bytes() -> None:
    log = " > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 7000000000\n"
    found = account(log, {"optimizer": "adam", "bf16": True, "tensor_model_parallel_size": 4})
    assert found.states is not None
    assert found.states.middle == pytest.approx(7e9 * 18)


@pytest.mark.parametrize(
    ("config", "low", "high"),
    [
        ({"optim": "adamw_torch"}, 8, 8),
        ({"optim": "adamw_bnb_8bit"}, 2, 2),
        ({"optim": "paged_adamw_8bit"}, 2, 2),
        ({"optimizer": "Adam", "amsgrad": True}, 12, 12),
        ({"optimizer": "SGD", "momentum": 0.9}, 4, 4),
        ({"optimizer": "SGD", "momentum": 0.0}, 0, 0),
        ({"optimizer": "sgd"}, 0, 4),
        ({"optimizer": "lion"}, 4, 4),
        ({"optimizer": "adafactor"}, 0, 0.1),
        ({"optimizer": {"type": "AdamW", "lr": 1e-4}}, 8, 8),
        ({"optimizer": {"_target_": "torch.optim.AdamW"}}, 8, 8),
    ],
)
def test_an_optimizer_keeps_its_bytes_per_parameter(
    config: dict[str, object], low: float, high: float
) -> None:
    amount = part(account(SMALL, {"precision": "32-true", **config}), "optimizer")
    assert amount.low == pytest.approx(124.44e6 * low)
    assert amount.high == pytest.approx(124.44e6 * high)


def test_weights_that_are_kept_in_bf16_take_eight_bytes_with_adam() -> None:
    found = account(SMALL, {"optimizer": "adamw", "precision": "bf16-true"})
    assert found.states is not None
    assert found.states.middle == pytest.approx(124.44e6 * 8)


def test_autocast_leaves_weights_and_states_in_fp32() -> None:
    found = account(SMALL, {"optimizer": "adamw", "precision": "16-mixed"})
    assert found.states is not None
    assert found.states.middle == pytest.approx(124.44e6 * 16)
    assert found.setup.precision.activation == 2


def test_only_trained_parameters_have_gradients_and_states() -> None:
    config: dict[str, object] = {"optim": "adamw_torch", "bf16": True, "load_in_4bit": True}
    found = account(LORA, config)
    frozen = 6_742_609_920 - 4_194_304
    assert part(found, "parameters").middle == pytest.approx(frozen / 2 + 4_194_304 * 4)
    assert part(found, "gradients").middle == pytest.approx(4_194_304 * 4)
    assert part(found, "optimizer").middle == pytest.approx(4_194_304 * 8)


def test_what_nothing_states_is_unknown_and_says_what_is_missing() -> None:
    assert unknown(account(), "parameters") == ("number of parameters",)
    assert unknown(account(SMALL), "optimizer") == ("optimizer",)
    assert unknown(account(SMALL, {"optimizer": "ours"}), "optimizer") == ("optimizer",)
    sharded = account(SMALL, {"optimizer": "adam", "zero_optimization": {"stage": 3}, "fp16": True})
    assert unknown(sharded, "parameters") == ("number of devices",)
    assert sharded.states is None


def test_a_default_precision_is_an_estimate() -> None:
    amount = part(account(SMALL, {"optimizer": "adamw"}), "parameters")
    assert amount.origin is Origin.ESTIMATED
    assert "no precision is stated" in amount.how


def test_fully_sharded_parameters_are_divided_by_the_devices() -> None:
    config: dict[str, object] = {
        "optimizer": "adamw",
        "strategy": "fsdp",
        "precision": "bf16-mixed",
    }
    found = account(SEVEN, {**config, "devices": 4, "num_nodes": 2})
    assert found.states is not None
    assert found.states.middle == pytest.approx(7.5e9 * 16 / 8)


def test_states_in_host_memory_take_nothing_on_the_device() -> None:
    zero = {"stage": 2, "offload_optimizer": {"device": "cpu"}}
    found = account(SEVEN, {**ZERO, "zero_optimization": zero})
    assert part(found, "optimizer").middle == part(found, "master").middle == 0
    assert "host memory" in part(found, "optimizer").how


def test_a_checkpoint_outranks_the_log_but_does_not_know_what_is_frozen() -> None:
    weights = WeightFacts("last.pt", 6_700_000_000, dtypes=(("bfloat16", 6_700_000_000),))
    found = account(LORA, {"optim": "adamw_torch", "precision": "bf16-true"}, weights)
    assert found.count is not None
    assert found.count.total == 6_700_000_000
    assert found.count.trainable == 4_194_304
    assert found.count.origin is Origin.MEASURED
    assert found.count.sources[0].ref == "last.pt"


def test_saved_optimizer_state_is_measured() -> None:
    weights = WeightFacts("last.pt", 1_000_000, optimizer_kind="adam", optimizer_bytes=8_000_004)
    amount = part(account("", {"precision": "32"}, weights), "optimizer")
    assert (amount.middle, amount.origin) == (8_000_004, Origin.MEASURED)


def test_the_kind_of_a_saved_optimizer_stands_in_for_a_setting() -> None:
    weights = WeightFacts("last.pt", 1_000_000, optimizer_kind="adam")
    assert part(account("", {"precision": "32"}, weights), "optimizer").middle == 8e6


def test_sizes_in_the_config_give_an_estimate_of_the_count() -> None:
    config: dict[str, object] = {"n_layer": 12, "n_head": 12, "n_embd": 768, "vocab_size": 50257}
    found = account("", config)
    assert found.count is not None
    assert found.count.total == pytest.approx(124.4e6, rel=0.01)
    assert found.count.origin is Origin.ESTIMATED
    llama = {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
        "intermediate_size": 11008, "vocab_size": 32000, "hidden_act": "silu",
        "tie_word_embeddings": False,
    }  # fmt: skip
    found = account("", llama)
    assert found.count is not None
    assert found.count.total == pytest.approx(6.738e9, rel=0.005)


def test_seven_billion_parameters_exceed_a_device_of_80_gigabytes() -> None:
    log = SEVEN + "GPU 0: NVIDIA A100-SXM4-80GB\n"
    found = account(log, {"optimizer": "adamw", "bf16": True})
    assert found.states_alone_exceed is True
    assert account(SMALL + "GPU 0: Tesla T4\n", {"optimizer": "adamw"}).states_alone_exceed is False
    assert account(SMALL, {"optimizer": "adamw"}).states_alone_exceed is None
    assert found.states is not None
    assert found.states.low > 80 * GIB
