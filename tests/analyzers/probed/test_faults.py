"""Each fault inside a model is found in a real training, with its layer and its step."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mltd.analyzers.core.finding import Severity

from .conftest import Judge, Judged

INTERVAL = 5


def step_records(judged: Judged) -> list[dict[str, Any]]:
    lines = (judged.folder / "mltd-probe.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return [record for record in records if record["kind"] == "step"]


def test_vanishing_gradients_name_the_first_layer(judge: Judge) -> None:
    judged = judge("vanishing")
    found = judged.finding("vanishing_gradients")
    assert found.title.startswith("grad_norm/0 is ")
    assert "over 9 layers" in found.title
    assert found.details["layer"] == "0"
    assert (found.severity, found.first_step) == (Severity.CRITICAL, 1)
    assert judged.best == "saturating_activations"


def test_without_a_loss_layers_that_do_not_move_are_alarming(judge: Judge) -> None:
    found = judge("vanishing", alone=True).finding("vanishing_gradients")
    assert found.severity is Severity.WARNING


def test_a_single_layer_that_blocks_the_gradient_is_named(judge: Judge) -> None:
    judged = judge("saturated")
    found = judged.finding("saturated_units")
    assert "layer 3 " in found.title
    assert (found.details["layer"], found.first_step) == ("3", 1)
    assert found.severity is Severity.WARNING
    assert judged.best == "saturating_activations"


def test_weights_that_begin_too_large_show_in_outputs_that_grow_by_layer(judge: Judge) -> None:
    judged = judge("exploding_start")
    found = judged.finding("exploding_gradients")
    assert "in layer 0 to" in found.title
    assert " in 10," in found.title
    assert (found.severity, found.first_step) == (Severity.WARNING, 1)
    first = step_records(judged)[0]["grad_norm"]
    assert f"largest in layer {2 * first.index(max(first))}" in found.title
    assert judged.best == "poor_init"


def test_weights_that_begin_too_large_are_to_blame_though_steps_are_too_small_to_undo_it(
    judge: Judge,
) -> None:
    judged = judge("exploding_and_stuck")
    assert "per layer, from " in judged.finding("exploding_gradients").title
    assert judged.best == "poor_init"


def test_an_explosion_names_the_layer_and_the_step(judge: Judge) -> None:
    judged = judge("exploding_rate")
    found = judged.finding("exploding_gradients")
    assert found.first_step is not None
    assert 60 <= found.first_step <= 62
    finite = [
        r["grad_norm"] for r in step_records(judged)
        if r["step"] >= found.first_step and all(isinstance(v, float) for v in r["grad_norm"])
    ]  # fmt: skip
    high = max(finite, key=max)
    assert f"largest in layer {2 * high.index(max(high))}" in found.title
    assert found.severity is Severity.CRITICAL
    assert judged.best == "lr_too_high"


def test_half_saturated_is_information_while_the_loss_falls(judge: Judge) -> None:
    judged = judge("half_saturated")
    found = judged.finding("saturated_units")
    assert (found.severity, found.first_step) == (Severity.INFO, 1)
    assert found.details["layer"] == "3"
    assert 0.5 <= found.number("share") < 0.9
    assert "of the outputs of layer 3 are saturated since step 1; loss falls" in found.title
    assert judged.diagnosis.status == "healthy"


def test_half_saturated_is_alarming_if_the_loss_stays(judge: Judge) -> None:
    judged = judge("half_saturated_and_stuck")
    found = judged.finding("saturated_units")
    assert (found.severity, found.details["layer"]) == (Severity.WARNING, "3")
    assert found.number("share") < 0.9
    assert judged.best == "saturating_activations"


def test_dead_units_name_the_layer(judge: Judge) -> None:
    judged = judge("dead")
    found = judged.finding("dead_units")
    assert found.title.startswith("100% of the units of layer 3 are dead")
    assert (found.severity, found.first_step) == (Severity.CRITICAL, 1)
    assert judged.best == "dead_relu"
    assert "layer 3" in judged.diagnosis.root_causes[0].issue
    # The layers before it get no gradient; that is not another fault.
    assert judged.finding("frozen_layers").severity is Severity.INFO


def test_units_that_die_later_are_dead_since_then(judge: Judge) -> None:
    found = judge("dies_later").finding("dead_units")
    assert "layer 5 " in found.title
    assert found.first_step is not None
    assert 60 <= found.first_step < 60 + INTERVAL
    assert found.is_alarm


def test_a_layer_that_is_not_in_the_optimizer_is_named(judge: Judge) -> None:
    judged = judge("left_out")
    found = judged.finding("frozen_layers")
    assert found.title.startswith("layer 2 is not in the optimizer")
    assert found.severity is Severity.WARNING
    assert found.confidence <= 0.95
    assert judged.best == "frozen_parameters"


def test_layers_behind_which_the_gradient_is_cut_are_named_with_both_explanations(
    judge: Judge,
) -> None:
    judged = judge("severed")
    found = judged.finding("frozen_layers")
    assert "(stem, trunk)" in found.title
    assert "detach() behind trunk" in found.title
    assert "under no_grad()" in found.title
    assert (found.severity, found.first_step) == (Severity.WARNING, 1)
    assert judged.best == "frozen_parameters"
    assert "no gradient reaches stem, trunk" in judged.diagnosis.root_causes[0].issue


def test_a_branch_that_gets_no_gradient_is_not_taken_for_a_fixed_part(judge: Judge) -> None:
    found = judge("severed_branch").finding("frozen_layers")
    assert found.title.startswith("layer branch is in the optimizer but gets no gradient: ")
    assert "under no_grad() and" not in found.title
    assert found.severity is Severity.WARNING


def test_a_layer_that_loses_its_gradient_later_lost_it_then(judge: Judge) -> None:
    found = judge("severed_later").finding("frozen_layers")
    assert "branch" in found.title
    assert found.first_step is not None
    assert 60 < found.first_step <= 60 + INTERVAL
    assert found.is_alarm


@pytest.mark.parametrize("alone", [False, True])
def test_a_rate_that_is_far_too_small_shows_in_the_updates(judge: Judge, *, alone: bool) -> None:
    judged = judge("too_slow", alone=alone)
    found = judged.finding("update_ratio")
    assert found.details["kind"] == "small"
    assert (found.severity, found.first_step) == (Severity.WARNING, 1)
    assert judged.best == "lr_too_low"


def test_weights_that_move_a_little_are_not_frozen(judge: Judge) -> None:
    judged = judge("hardly_any_rate")
    assert judged.finding("update_ratio").details["kind"] == "small"
    assert "frozen_layers" not in {one.id for one in judged.diagnosis.findings}
    assert judged.best == "lr_too_low"


def test_units_that_saturate_after_a_jump_of_the_rate_are_its_consequence(judge: Judge) -> None:
    judged = judge("saturated_by_the_rate")
    found = judged.finding("saturated_units")
    assert found.first_step is not None
    assert found.first_step > 60
    assert judged.best in ("lr_schedule", "lr_too_high")


def test_a_rate_that_is_far_too_large_names_the_layer(judge: Judge) -> None:
    judged = judge("too_fast")
    found = judged.finding("update_ratio")
    assert (found.details["kind"], found.details["layer"]) == ("large", "2")
    assert (found.severity, found.first_step) == (Severity.WARNING, 1)
    assert judged.best == "lr_too_high"


def test_a_nan_is_followed_to_the_layer_that_made_it(judge: Judge) -> None:
    judged = judge("nan_in_layer")
    found = judged.finding("nan_loss")
    assert found.title.endswith("first seen in the output of layer second at step 60")
    assert found.first_step == 60
    assert any("mltd-probe.jsonl:" in evidence.ref for evidence in found.evidence)
    assert "it began in the output of layer second" in judged.finding("nan_weights").title
    assert judged.best == "numerical_instability"
    assert "layer second" in judged.diagnosis.root_causes[0].issue
    assert "nan_gradients" not in {one.id for one in judged.diagnosis.findings}


def test_a_nan_between_two_layers_is_laid_on_neither(judge: Judge) -> None:
    judged = judge("nan_between_layers")
    assert judged.finding("nan_loss").title.endswith(
        "first seen between layer first and layer second at step 60"
    )
    assert judged.best == "numerical_instability"
    assert "between layer first and layer second" in judged.diagnosis.root_causes[0].issue


def test_without_a_log_the_gradients_tell_of_the_nan(judge: Judge) -> None:
    found = judge("nan_in_layer", alone=True).finding("nan_gradients")
    assert "it began in the output of layer second at step 60" in found.title
    assert (found.severity, found.first_step) == (Severity.CRITICAL, 60)


def test_a_nan_between_two_records_is_found_at_its_step(judge: Judge) -> None:
    found = judge("nan_between_records").finding("nan_loss")
    assert "first seen in all gradients at once (outputs were not recorded then)" in found.title
    assert found.title.endswith("at step 58")


def test_a_slope_that_is_infinite_is_followed_to_its_layer(judge: Judge) -> None:
    judged = judge("nan_in_backward")
    found = judged.finding("nan_gradients")
    assert "in the gradient of layer second at step 60" in found.title
    assert found.severity is Severity.CRITICAL
    assert judged.best == "numerical_instability"


@pytest.mark.parametrize("alone", [False, True])
def test_a_layer_seen_to_break_outweighs_gradients_that_grew(judge: Judge, *, alone: bool) -> None:
    judged = judge("nan_in_backward_of_a_reader", alone=alone)
    found = judged.finding("nan_gradients")
    assert "in the gradient of layer summary at step 60" in found.title
    assert judged.best == "numerical_instability"
    assert "layer summary computes something without a finite slope" in (
        judged.diagnosis.root_causes[0].issue
    )
    rivals = {cause.id: cause.confidence for cause in judged.diagnosis.root_causes[1:]}
    assert "missing_zero_grad" not in rivals
    assert max(rivals.values(), default=0.0) < 0.5 * judged.diagnosis.root_causes[0].confidence


def test_a_step_that_throws_the_weights_away_is_to_blame_for_the_nan_behind_it(
    judge: Judge,
) -> None:
    judged = judge("leaps_into_nan")
    assert judged.finding("nan_loss").first_step == 2
    assert judged.best == "lr_too_high"


def test_a_nan_that_clipping_spread_is_followed_to_its_place(judge: Judge) -> None:
    judged = judge("nan_spread_by_clipping")
    assert judged.finding("nan_loss").title.endswith(
        "in the gradient of layer answer or between it and layer summary at step 60"
    )
    assert judged.best == "numerical_instability"
    assert judged.diagnosis.root_causes[0].issue.startswith(
        "layer answer, or what is between it and summary, computes something without a finite"
    )


def test_a_nan_that_clipping_spread_between_records_is_not_laid_on_the_loss(judge: Judge) -> None:
    judged = judge("nan_spread_between_records")
    assert judged.finding("nan_loss").title.endswith(
        "in all gradients at once, after a finite loss (clipping spreads it to all) at step 57"
    )
    assert any("error_if_nonfinite" in said
               for cause in judged.diagnosis.root_causes for said in cause.requests)  # fmt: skip


def test_gradients_that_are_never_cleared_are_told_from_ordinary_growth(judge: Judge) -> None:
    assert judge("never_cleared").best == "missing_zero_grad"


def test_a_nan_in_the_data_is_told_from_one_that_a_layer_made(judge: Judge) -> None:
    judged = judge("nan_in_data")
    assert "in the data, before the first layer (0)" in judged.finding("nan_loss").title
    assert judged.best == "bad_batch"
    assert judged.diagnosis.root_causes[0].basis.value == "observation"


def test_a_head_that_says_the_same_for_all_is_named(judge: Judge) -> None:
    judged = judge("collapsed_head")
    found = judged.finding("degenerate_variance")
    assert found.title.startswith("layer gate says the same for every example since step 60")
    assert (found.severity, found.first_step) == (Severity.WARNING, 60)
    assert judged.best == "zero_variance_head"


def test_a_head_that_is_lost_after_the_loss_had_fallen_is_alarming(judge: Judge) -> None:
    judged = judge("collapsed_variance")
    found = judged.finding("degenerate_variance")
    assert found.title.startswith("layer log_variance says the same for every example since")
    assert (found.severity, found.first_step) == (Severity.WARNING, 60)
    assert judged.best == "zero_variance_head"


def test_outputs_that_vary_as_far_as_they_can_have_not_collapsed(judge: Judge) -> None:
    found = {one.id for one in judge("bounded_head").diagnosis.findings}
    assert "degenerate_variance" not in found
