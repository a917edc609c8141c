"""Gradients that add up, vanish at first, or are nearly all zero."""

from __future__ import annotations

from mltd.analyzers.core.finding import Severity
from tests.analyzers.loss.judging import alarms, causes, found


def test_a_norm_that_only_ever_grows_is_not_reset() -> None:
    example = "grad_norm: 2>100*300 ; train/loss: 4.6>3.6~0.1*100 3.6~0.1*200"
    finding = found(example, "exploding_gradients")
    assert "hardly ever falling back" in finding.title or "got worse" in finding.title
    assert "missing_zero_grad" in causes(example)[:2]
    healthy = "grad_norm: 2>6~1*300 ; train/loss: 4.6>0.6~0.1*300"
    assert "exploding_gradients" not in alarms(healthy)


def test_layers_without_a_gradient_at_first_began_badly() -> None:
    layers = "grad/layers.0: 0 1e-4>0.003*79 0.3*120 ; grad/layers.2: 0 1e-3*79 0.2*120"
    loss = "train/loss: 2.303~0.005*90 2.3>2.05~0.01*110"
    example = f"{layers} ; grad/layers.4: 0.1*200 ; {loss}"
    assert "vanishing_gradients" in alarms(example)
    assert "poor_init" in causes(example)[:2]


def test_nearly_all_zeros_are_wrong_though_something_is_learned() -> None:
    loss = "train/loss: 4.6>3.8~0.05*200"
    assert "dead_units" in alarms(f"zero_grad_frac: 0.999*200 ; {loss}")
    assert "dead_units" not in alarms(f"zero_grad_frac: 0.8*200 ; {loss}")
    sparse = f"zero_grad_frac: 0.999*200 ; {loss} ; config: vocab_size=50000"
    assert "dead_units" not in alarms(sparse)


def test_layers_that_never_get_a_gradient_in_a_training_from_scratch() -> None:
    layers = "grad/layers.0: 0*200 ; grad/layers.2: 0*200 ; grad/layers.4: 0.3~0.05*200"
    loss = "train/loss: 2.3>1~0.05*200"
    finding = found(f"{layers} ; {loss} ; config: lr=0.1", "frozen_layers")
    assert finding.severity is Severity.WARNING
    assert causes(f"{layers} ; {loss} ; config: lr=0.1")[0] == "frozen_parameters"
    tuned = found(f"{layers} ; {loss} ; config: pretrained=resnet18", "frozen_layers")
    assert tuned.severity is Severity.INFO


def test_a_norm_that_grows_while_the_loss_does_well_is_no_explosion() -> None:
    norm = "grad_norm: 0.27 0.13 0.12 0.15 0.17 0.22 0.28 0.5 0.9 0.8 1>6~0.5*40"
    noisy = "train/loss: 0.695 0.693 0.692~0.002*8 0.66>0.24~0.05*36 0.236 0.28 0.25 0.28"
    assert "exploding_gradients" not in alarms(f"{norm} ; {noisy}")
    worse = "train/loss: 0.695 0.693 0.692~0.002*8 0.66>0.44~0.01*20 0.44>0.6~0.01*20"
    assert "exploding_gradients" in alarms(f"{norm} ; {worse}")


def test_a_solver_that_is_done_has_no_gradient() -> None:
    norm = "grad_norm: 0.265 0.068 0.031 0.011 0.002 3e-4 2e-5*20"
    done = "train/loss: 0.706 0.547 0.534 0.53 0.5294 0.5293*21"
    assert "vanishing_gradients" not in alarms(f"{norm} ; {done}")
    assert "vanishing_gradients" in alarms(f"{norm} ; train/loss: 0.706 0.697 0.694~0.001*24")
