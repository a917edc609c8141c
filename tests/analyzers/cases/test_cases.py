"""Real small trainings that went wrong, from their files to the diagnosis (demo/cases)."""

from __future__ import annotations

import pytest

from tests.analyzers.cases.checked import DATA, causes, check, finding, fixes_for

Captured = pytest.CaptureFixture[bytes]


def test_divergence_after_a_change_of_curriculum(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "curriculum")
    assert told.code == 1
    document = told.only
    divergence = finding(document, "loss_divergence")
    assert divergence["first_step"] in (7, 8)
    gradients = finding(document, "exploding_gradients")
    assert gradients["first_step"] == 8
    assert set(causes(document)[:2]) & {"curriculum_transition", "lr_too_high"}
    assert "curriculum_transition" in causes(document)
    changes = [fix["implementation"]["change"] for fix in document["recommended_fixes"]]
    assert any(change.startswith("muon_lr 0.01 -> 0.00") for change in changes), changes


def test_a_language_model_that_says_one_token(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "collapse")
    assert told.code == 1
    document = told.only
    assert document["status"] == "diagnosis_complete"
    collapse = finding(document, "mode_collapse")
    assert collapse["severity"] == "critical"
    assert "':'" in collapse["title"]
    shape = finding(document, "param_imbalance")
    assert "79%" in shape["title"]
    assert shape["severity"] == "warning"
    assert [e["kind"] for e in shape["evidence"]] == ["checkpoint"]
    assert causes(document)[0] == "embedding_heavy"
    best = document["root_causes"][0]
    assert {e["kind"] for e in best["evidence"]} == {"checkpoint", "log"}
    fixes = fixes_for(document, "embedding_heavy")
    assert len(fixes) >= 3
    assert "vocab_size 1024 -> 256" in fixes[0]["implementation"]["change"]


def test_a_halting_head_over_one_element(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "halting")
    assert told.code == 1
    document = told.only
    variance = finding(document, "degenerate_variance")
    assert variance["severity"] == "critical"
    assert variance["first_step"] == 84, "the warning came after step 82 was logged"
    assert "halting[running].var()" in variance["title"]
    assert finding(document, "nan_loss")["first_step"] == 84
    assert causes(document)[0] == "zero_variance_head"
    assert document["status"] == "diagnosis_complete"
    assert len(fixes_for(document, "zero_variance_head")) >= 3


@pytest.mark.parametrize(
    ("name", "identity", "best"),
    [
        ("empty_graph", "empty_data", {"empty_input"}),
        ("missing_features", "shape_mismatch", {"code_bug", "bad_config"}),
        ("unknown_type", "index_out_of_range", {"label_out_of_range"}),
    ],
)
def test_graphs_that_are_not_as_configured(
    capfdbinary: Captured, name: str, identity: str, best: set[str]
) -> None:
    told = check(capfdbinary, DATA / "graphs" / name)
    assert told.code == 1
    document = told.only
    assert finding(document, identity)["severity"] == "critical"
    finding(document, "exception")
    assert causes(document)[0] in best


def test_missing_features_contradict_the_config(capfdbinary: Captured) -> None:
    document = check(capfdbinary, DATA / "graphs" / "missing_features").only
    title = finding(document, "config_mismatch")["title"]
    assert title == "in_channels is 16 but the data has 12 features"


def test_files_and_name_that_disagree(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "graphs" / "vgae_large_lr1e-4")
    assert told.code == 1
    titles = [f["title"] for f in told.only["findings"] if f["id"] == "config_mismatch"]
    assert "lr is 0.01 in config.json but 0.001 in hparams.yaml" in titles
    assert "hidden is 32 in config.json but 64 in hparams.yaml" in titles
    assert "the run is called vgae_large_lr1e-4 but model is vgae_small" in titles
    assert causes(told.only)[:1] == ["bad_config"]


def test_runs_that_share_a_folder_but_broke_are_not_a_sweep(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "graphs")
    assert len(told.documents) == 4
    assert not [f for d in told.documents for f in d["findings"] if f["id"] == "nondeterminism"]


def test_a_sweep_with_one_seed_apart(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "sweep_outlier")
    assert told.code == 1
    assert len(told.documents) == 8
    apart = told.named("seed12")
    assert finding(apart, "nondeterminism")["severity"] == "warning"
    assert "seed_variance" in causes(apart)[:2]
    for document in told.documents:
        if document is not apart:
            told_too = finding(document, "nondeterminism")
            assert told_too["severity"] == "info"
            assert "apart: seed12 0.51" in told_too["title"]
            assert document["status"] == "healthy"


def test_a_sweep_whose_seeds_decide(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "sweep_wide")
    assert told.code == 1
    assert len(told.documents) == 8
    for document in told.documents:
        spread = finding(document, "nondeterminism")
        assert spread["severity"] == "warning"
        assert "95 %" in spread["title"]
        assert "seed_variance" in causes(document)


def test_one_run_of_a_sweep_alone_is_not_judged_by_the_others(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "sweep_outlier" / "seed1")
    assert told.code == 0
    assert told.only["status"] == "healthy"


def test_a_loss_at_its_floor_is_no_alarm(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "steps" / "converged")
    assert told.code == 0
    assert told.only["status"] == "healthy"
    flat = finding(told.only, "plateau")
    assert flat["severity"] == "info"
    assert "converged" in flat["title"]


def test_a_loss_that_is_stuck_is_told_from_one_that_has_converged(capfdbinary: Captured) -> None:
    told = check(capfdbinary, DATA / "steps" / "stuck")
    assert told.code == 1
    assert finding(told.only, "plateau")["severity"] == "warning"
    assert "softmax applied twice" in finding(told.only, "suspicious_metric")["title"]
    assert causes(told.only)[0] == "wrong_loss"
    assert len(fixes_for(told.only, "wrong_loss")) >= 3


def test_a_loss_that_falls_too_slowly(capfdbinary: Captured) -> None:
    document = check(capfdbinary, DATA / "steps" / "slow").only
    assert finding(document, "slow_convergence")["severity"] == "warning"
    assert causes(document)[0] == "lr_too_low"
    change = fixes_for(document, "lr_too_low")[0]["implementation"]["change"]
    assert change == "lr 2e-05 -> 0.0002"


def test_a_loss_that_stays_at_guessing(capfdbinary: Captured) -> None:
    document = check(capfdbinary, DATA / "steps" / "guessing").only
    nothing = finding(document, "not_learning")
    assert nothing["severity"] == "critical"
    assert "guessing gives 2.303" in nothing["title"]
    assert causes(document)[0] == "corrupt_labels"
    assert document["status"] == "needs_more_data"
    assert any("overfitting 16 samples" in request for request in document["requests"])


def test_nan_without_gradient_norms_out_of_a_loss_that_does_well(capfdbinary: Captured) -> None:
    document = check(capfdbinary, DATA / "steps" / "broken").only
    broken = finding(document, "nan_loss")
    assert broken["severity"] == "critical"
    assert broken["first_step"] == 47
    # Steps that are too large would have shown before.
    assert causes(document)[0] == "numerical_instability"
    assert not [f for f in document["findings"] if f["id"] == "plateau"]
    assert any("grad_norm" in request for request in document["requests"])
