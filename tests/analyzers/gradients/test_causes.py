"""Each cause: what speaks for it, what against, and that its fixes name the run's values."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Basis

from .helpers import cause, run_of_log

MINE = (
    "missing_grad_clipping",
    "poor_init",
    "saturating_activations",
    "dead_relu",
    "numerical_instability",
    "precision_overflow",
    "precision_underflow",
    "frozen_parameters",
    "missing_zero_grad",
)
EXPLOSION = (
    "grad_norm: 0.5~0.02*100 1.5 5 20 90 400 3000*8 ; train/loss: 2>1~0.01*100 1 1.2 3 7 9*9"
)
SUDDEN = "grad_norm: 0.5~0.05*100 nan*20 ; train/loss: 2>1~0.02*101 nan*19"
FALL = "loss_scale: 65536*100 32768 16384 8192 4096 2048 512 64 8 1 0.5 ; train/loss: 2>1~0.02*110"
TINY = "grad/fc1: 1e-7*80 ; grad/fc2: 1e-4*80 ; grad/fc3: 0.2*80 ; train/loss: 1.8~0.02*80"


def sureness(identity: str, example: str) -> float:
    found = cause(identity, example)
    return found.confidence if found is not None else 0.0


@pytest.mark.parametrize(
    ("identity", "stronger", "weaker"),
    [
        ("missing_grad_clipping", f"{EXPLOSION} ; config: model=lstm, lr=0.1", EXPLOSION),
        ("missing_grad_clipping", EXPLOSION, f"{EXPLOSION} ; config: max_grad_norm=1.0"),
        ("numerical_instability", SUDDEN, f"{SUDDEN} ; config: precision=fp16"),
        (
            "numerical_instability",
            SUDDEN,
            "grad_norm: 0.5~0.05*100 2 9 40 200 nan*16 ; train/loss: 2>1~0.02*100 1 2 4 9 nan*16",
        ),
        ("precision_overflow", f"{FALL} ; config: precision=fp16", FALL),
        ("precision_overflow", FALL, f"{FALL} ; config: precision=bf16"),
        ("saturating_activations", f"{TINY} ; config: activation=tanh", TINY),
        ("saturating_activations", TINY, f"{TINY} ; config: activation=relu"),
        ("poor_init", f"{TINY} ; config: init_std=0.9", TINY),
        (
            "poor_init",
            "train/loss: 40~0.1*100 ; config: num_classes=10",
            "train/loss: 2.3~0.01*100 ; config: num_classes=10",
        ),
        (
            "dead_relu",
            "zero_grad_frac: 0.95*100 ; train/loss: 2.3~0.01*100 ; config: activation=relu",
            "zero_grad_frac: 0.95*100 ; train/loss: 2.3~0.01*100 ; config: activation=gelu",
        ),
        (
            "precision_underflow",
            "zero_grad_frac: 0.95*100 ; train/loss: 2.3~0.01*100 ; config: precision=fp16",
            "zero_grad_frac: 0.95*100 ; train/loss: 2.3~0.01*100 ; config: precision=fp32",
        ),
        (
            "frozen_parameters",
            "val/loss: 2.302513*8 ; train/loss: 2.3~0.02*200",
            "val/loss: 2.302513 2.31 2.29 2.3 2.28 ; train/loss: 2.3~0.02*200",
        ),
    ],
)
def test_evidence_moves_a_cause(identity: str, stronger: str, weaker: str) -> None:
    assert sureness(identity, stronger) > sureness(identity, weaker) + 0.02


def test_gradients_that_pile_up_grow_smoothly() -> None:
    smooth = " ".join(f"{0.5 + 0.2 * k:.3g}" for k in range(150))
    noisy = " ".join(f"{(0.5 + 0.2 * k) * (6 if k % 3 else 0.2):.3g}" for k in range(150))
    loss = "train/loss: 2.3>1.9~0.05*40 2>9~0.3*110"
    assert sureness("missing_zero_grad", f"grad_norm: {smooth} ; {loss}") > 0.3
    assert sureness("missing_zero_grad", f"grad_norm: {noisy} ; {loss}") == 0.0


def test_gradients_that_grow_once_something_is_learned_do_not_pile_up() -> None:
    loss = "train/loss: 2>1~0.02*61 nan*19"
    learned = f"grad_norm: 0.5~0.02*20 0.5>3~0.02*40 nan*20 ; {loss}"
    piled = f"grad_norm: 0.5>16~0.02*60 nan*20 ; {loss}"
    assert sureness("missing_zero_grad", learned) == 0.0
    assert sureness("missing_zero_grad", piled) > 0.0


def test_anomaly_mode_names_the_operation() -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/job/train.py", line 40, in <module>\n'
        "    loss.backward()\n"
        "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.\n"
    )
    found = cause("numerical_instability", run_of_log(log))
    assert found is not None
    assert found.basis is Basis.OBSERVATION
    assert found.confidence >= 0.8
    assert "SqrtBackward0" in found.issue


def test_the_floor_message_states_overflow() -> None:
    line = "Exception: Current loss scale already at minimum - cannot decrease scale anymore.\n"
    found = cause("precision_overflow", run_of_log(line))
    assert found is not None
    assert found.basis is Basis.OBSERVATION


def test_a_loss_that_jumped_first_speaks_against_overflow() -> None:
    calm = "loss_scale: 65536*150 32768 16384 8192 4096 2048 512 64 8 1 0.5 ; train/loss: {}"
    after = calm.format("2>1~0.02*160")
    before = calm.format("2>1~0.02*130 3 5 7 8 9 9*25")
    assert sureness("precision_overflow", after) > sureness("precision_overflow", before) + 0.1


def test_an_empty_parameter_list_is_proof() -> None:
    found = cause("frozen_parameters", "log: ValueError: optimizer got an empty parameter list")
    assert found is not None
    assert found.confidence >= 0.8


def test_a_counted_death_of_all_units_is_proof() -> None:
    found = cause("dead_relu", "dead_relu_fraction: 1*20 ; train/loss: 2.3~0.01*100")
    assert found is not None
    assert (found.basis, found.confidence >= 0.8) == (Basis.OBSERVATION, True)


EXAMPLES = {
    "missing_grad_clipping": f"{EXPLOSION} ; config: clip_grad=0, lr=0.1",
    "poor_init": f"{TINY} ; config: init_bias=-6, lr=0.1",
    "saturating_activations": f"{TINY} ; config: activation=sigmoid, lr=0.1",
    "dead_relu": "dead_relu_fraction: 1*20 ; train/loss: 2.3~0.01*100 ; config: init_bias=-6",
    "numerical_instability": SUDDEN,
    "precision_overflow": f"{FALL} ; config: precision=fp16, lr=0.1",
    "precision_underflow": (
        "zero_grad_frac: 0.95*100 ; train/loss: 2.3~0.01*100 ; config: precision=fp16"
    ),
    "frozen_parameters": "val/loss: 2.302513*8 ; train/loss: 2.3~0.02*200 ; config: freeze=1",
    "missing_zero_grad": (
        "grad_norm: 0.5>30*150 ; train/loss: 2.3>1.9~0.05*40 2>9~0.3*110 ; config: lr=0.1"
    ),
}


@pytest.mark.parametrize("identity", MINE)
def test_a_cause_comes_with_three_complete_fixes(identity: str) -> None:
    found = cause(identity, EXAMPLES[identity])
    assert found is not None
    assert len(found.fixes) >= 3
    assert all(fix.addresses == identity for fix in found.fixes)
    assert found.evidence
    forbidden = (" rm ", "kill", "chmod", "delete")
    text = " ".join(f"{fix.change} {fix.example} {fix.if_it_fails}" for fix in found.fixes)
    assert not any(word in text for word in forbidden)


@pytest.mark.parametrize(
    ("identity", "change"),
    [
        ("saturating_activations", "activation sigmoid -> relu (or gelu)"),
        ("precision_overflow", "precision fp16 -> bf16 (the range of float32)"),
        ("poor_init", "init_bias -6 -> 0"),
        ("dead_relu", "init_bias -6 -> 0"),
    ],
)
def test_the_first_fix_names_the_runs_own_values(identity: str, change: str) -> None:
    found = cause(identity, EXAMPLES[identity])
    assert found is not None
    assert found.fixes[0].change == change


def test_units_that_died_later_were_killed_by_something_else() -> None:
    rest = "train/loss: 2.3~0.01*100 ; config: activation=relu"
    born = sureness("dead_relu", f"zero_grad_frac: 0.97*100 ; {rest}")
    killed = sureness("dead_relu", f"zero_grad_frac: 0.2>0.6*20 0.97*80 ; {rest}")
    assert born > killed + 0.1
