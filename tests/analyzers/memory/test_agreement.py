"""A log and a checkpoint are put together only if they are of one model."""

from __future__ import annotations

import json

import pytest

from mltd.analyzers.memory import WeightFacts, lines, memory_account, rows
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run
from tests.analyzers.made import read_log

from .accounts import account, oom, part, unknown


def recorded(*sizes: int, trained: int | None = None) -> Run:
    """A run with a probe's recording for each of these models."""
    run = Run("made")
    for number, size in enumerate(sizes):
        header = {
            "mltd_probe": 1, "kind": "header", "rank": 0, "layers": ["0"], "modules": ["0"],
            "parameters": [size], "trainable": [size if trained is None else trained],
        }  # fmt: skip
        step = {"kind": "step", "step": 1, "memory": {"allocated": 4e9}}
        text = f"{json.dumps(header)}\n{json.dumps(step)}\n"
        read_stream(run, f"mltd-probe-{number}.jsonl", iter([text.encode()]))
    return run


def weights(parameters: int) -> WeightFacts:
    return WeightFacts("m.pt", parameters, dtypes=(("float32", parameters),))


def test_what_a_probe_says_is_frozen_holds_for_the_model_that_it_recorded() -> None:
    same = memory_account(recorded(1_000_000, trained=1000), weights(1_000_000))
    assert part(same, "gradients").middle == 4000
    assert not same.problem
    assert same.measured


def test_a_recording_of_another_model_is_left_out_and_that_is_said() -> None:
    found = memory_account(recorded(3_000_000, trained=1000), weights(1_000_000))
    assert part(found, "gradients").middle == 4_000_000
    assert "counts 3,000,000 parameters, the checkpoint 1,000,000" in lines(found)[0]
    assert found.measured == ()
    assert found.rest is None
    assert not any("memory" in row.name for row in rows(found))


def test_two_recorded_models_that_were_saved_together_agree_with_their_checkpoint() -> None:
    found = memory_account(recorded(600_000, 400_000, trained=500), weights(1_000_000))
    assert not found.problem
    assert part(found, "gradients").middle == 4000
    one = memory_account(recorded(600_000, 400_000, trained=500), weights(600_000))
    assert not one.problem
    assert part(one, "gradients").middle == 2000


@pytest.mark.parametrize(
    ("log", "parameters", "agrees"),
    [
        ("number of parameters: 7B\n", 6_738_415_616, True),
        ("number of parameters: 85.00M\n", 124_439_808, True),
        ("trainable params: 4,194,304 || all params: 6,742,609,920\n", 4_194_304, True),
        ("trainable params: 4,194,304\n", 124_439_808, True),
        ("number of parameters: 7B\n", 124_439_808, False),
    ],
    ids=["rounded", "without embeddings", "adapters alone", "no total", "another"],
)
def test_counts_in_a_log_are_rough(log: str, parameters: int, agrees: bool) -> None:
    run = read_log(log)
    assert bool(memory_account(run, weights(parameters)).problem) is not agrees


def test_neither_sizes_nor_a_failure_of_another_model_are_taken_over() -> None:
    config: dict[str, object] = {
        "n_layer": 12, "n_head": 12, "n_embd": 768, "block_size": 1024, "batch_size": 8,
    }  # fmt: skip
    log = "number of parameters: 124.40M\n" + oom()
    same = account(log, config, weights(124_439_808))
    assert same.oom is not None
    assert part(same, "activations").middle > 0
    other = account(log, config, weights(2_000_000))
    assert other.oom is None
    assert "batch size per device" in unknown(other, "activations")


def test_settings_beside_the_weights_say_how_large_the_model_is() -> None:
    settings = (("n_layer", "4"), ("n_head", "4"), ("n_embd", "64"), ("n_positions", "64"))
    facts = WeightFacts("checkpoint-500", 500_000, settings=settings)
    assert unknown(account(weights=facts), "activations") == ("batch size per device",)
    found = account("", {"batch_size": 8}, facts)
    amount = part(found, "activations")
    assert "8 samples x 64 tokens x 4 layers, width 64" in amount.how
    assert any("n_layer" in source.ref for source in amount.sources)
