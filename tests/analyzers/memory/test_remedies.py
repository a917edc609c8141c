"""What each remedy saves, with its arithmetic, and whether it would then fit."""

from __future__ import annotations

import pytest

from mltd.analyzers.memory import MemoryAccount, Origin, Remedy

from .accounts import GIB, GPT2, account, oom

MODEL = "number of parameters: 1000M\n"
ADAM: dict[str, object] = {"optimizer": "adamw", "precision": "32", "batch_size": 16}


def remedy(found: MemoryAccount, identity: str) -> Remedy:
    return next(one for one in found.remedies if one.id == identity)


def ids(found: MemoryAccount) -> set[str]:
    return {one.id for one in found.remedies}


def test_half_the_batch_halves_what_is_not_state() -> None:
    found = account(MODEL + oom(), ADAM)
    assert found.rest is not None
    half = remedy(found, "batch_2")
    assert half.saves.middle == pytest.approx(found.rest.middle / 2)
    assert half.saves.origin is Origin.ESTIMATED
    assert half.left == pytest.approx(80 * GIB - half.saves.middle)
    assert "= " in half.arithmetic
    assert "of 79.2 GiB" in half.arithmetic


def test_smaller_batches_are_tried_until_one_fits() -> None:
    # 47 of 79 GiB are states: half of the rest is not enough for this request.
    found = account("number of parameters: 3000M\n" + oom(request="24.00 GiB"), ADAM)
    assert remedy(found, "batch_2").fits is False
    assert remedy(found, "batch_4").fits is True
    assert "batch_8" not in ids(found)


def test_a_batch_of_one_cannot_be_halved() -> None:
    found = account(MODEL + oom(), {**ADAM, "batch_size": 1})
    assert not any(identity.startswith("batch") for identity in ids(found))
    assert "checkpointing" in ids(found)


def test_an_optimizer_of_eight_bits_saves_six_bytes_of_adams_eight() -> None:
    found = account(MODEL + oom(), ADAM)
    assert remedy(found, "eight_bit_optimizer").saves.middle == pytest.approx(6e9)
    assert remedy(found, "eight_bit_optimizer").saves.origin is Origin.DERIVED
    eight = account(MODEL + oom(), {**ADAM, "optimizer": "adamw_8bit"})
    assert "eight_bit_optimizer" not in ids(eight)


def test_sharding_divides_the_states_by_the_devices_of_the_run() -> None:
    found = account(MODEL + oom(), {**ADAM, "world_size": 4})
    assert remedy(found, "shard_3").saves.middle == pytest.approx(16e9 * 3 / 4)
    assert remedy(found, "shard_1").saves.middle == pytest.approx(8e9 * 3 / 4)
    assert remedy(found, "shard_3").condition == "if it is not in use already"
    alone = account(MODEL + oom(), {**ADAM, "world_size": 1})
    assert remedy(alone, "shard_3").condition == "on 8 devices"


def test_what_is_in_use_already_is_no_remedy() -> None:
    used = account(
        MODEL,
        {
            **GPT2,
            "optimizer": "adamw_8bit",
            "bf16": True,
            "gradient_checkpointing": True,
            "flash": True,
            "strategy": "fsdp",
            "world_size": 8,
        },
    )
    assert ids(used) <= {"batch_2", "sequence"}


def test_mixed_precision_is_offered_only_where_activations_are_fp32() -> None:
    assert "mixed_precision" in ids(account(MODEL + oom(), ADAM))
    mixed = account(MODEL + oom(), {**ADAM, "precision": "16-mixed"})
    assert "mixed_precision" not in ids(mixed)


def test_idle_memory_above_the_request_calls_for_expandable_segments() -> None:
    message = oom(request="10.74 GiB", allocated="57.91 GiB", idle="18.59 GiB")
    found = remedy(account(message), "expandable_segments")
    assert found.fits is True
    assert found.share == pytest.approx(18.59 / 79.15)
    assert "18.6 GiB idle (23% of the device) against 10.7 GiB" in found.arithmetic
    assert "expandable_segments" not in ids(account(oom()))


def test_a_step_that_was_cut_short_is_reckoned_by_its_config() -> None:
    # By the formula the forward pass would have gone on far beyond what the message counts.
    config: dict[str, object] = {
        **GPT2, "batch_size": 128, "flash": False, "optimizer": "adamw", "precision": "32",
    }  # fmt: skip
    found = account("number of parameters: 124.44M\n" + oom(), config)
    assert found.need is not None
    assert found.need.origin is Origin.ESTIMATED
    assert found.need.middle > 200 * GIB
    assert remedy(found, "batch_2").fits is False


def test_a_wrong_shape_has_no_remedy() -> None:
    assert account(MODEL + oom(request="130212.00 GiB"), ADAM).remedies == ()


def test_nothing_known_means_no_remedy() -> None:
    assert account().remedies == ()
    assert account("step 1 loss 2\n", {"lr": 0.1}).remedies == ()


def test_what_fits_already_is_not_said_to_fit_by_a_remedy() -> None:
    log = MODEL + "GPU 0: NVIDIA A100-SXM4-80GB\npeak memory allocated: 30000 MiB\n"
    found = account(log, {**GPT2, **ADAM})
    assert found.remedies
    assert all(one.fits is None for one in found.remedies)


def test_an_optimizer_that_is_not_stated_widens_the_saving_instead_of_hiding_it() -> None:
    found = account(MODEL + oom(), {"precision": "32", "batch_size": 16})
    assert found.states is None
    assert found.rest is not None
    assert found.rest.origin is Origin.ESTIMATED
    assert found.rest.low == pytest.approx(76 * GIB - 20e9)
    assert found.rest.high == pytest.approx(76 * GIB - 8e9)
    assert remedy(found, "batch_2").fits is True


def test_a_peak_from_before_the_first_step_is_not_what_is_needed() -> None:
    log = MODEL + "peak memory allocated: 2000 MiB\n"
    found = account(log, {"optimizer": "adamw", "precision": "32"})
    assert found.need is None
    assert found.rest is None


def test_what_a_peak_holds_beside_the_states_grows_with_the_batch() -> None:
    log = MODEL + "peak memory allocated: 40960 MiB\n"
    found = account(log, ADAM)
    assert found.rest is not None
    assert found.rest.middle == pytest.approx(40 * GIB - 16e9)
    assert remedy(found, "batch_2").saves.middle == pytest.approx(found.rest.middle / 2)


def test_nobody_shards_a_model_of_a_few_megabytes() -> None:
    assert account("Total params: 361,729\n", {"optimizer": "adam"}).remedies == ()
