"""Cited values of metrics, settings and findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.analyzers.core.verdict import Diagnosis
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import Verdict
from mltd.diagnosis.citations.numerals import fits, stated
from mltd.runs.run import Run
from mltd.sessions.masking import Masker
from tests.analyzers.made import finding, make_run

from ..answer.answers import setting, value
from ..artifacts.making import STEPS, book_of
from .checking import verdict

NAN, INF = float("nan"), float("inf")


def book_with(*runs: Run) -> ArtifactBook:
    return ArtifactBook({f"run{n}": run for n, run in enumerate(runs, start=1)})


@pytest.mark.parametrize(
    ("said", "actual", "is_so"),
    [
        ("3", 2.5, True),
        ("3", 3.5, True),
        ("3", 2.4, False),
        ("2.31", 2.3149, True),
        ("2.31", 2.316, False),
        ("2.310", 2.3149, False),
        ("1.2e-3", 0.00124, True),
        ("1.2e-3", 0.0013, False),
        ("12,345", 12345, True),
        ("45.2 GB", 45.2, True),
        ("85%", 0.851, True),
        ("85%", 85.2, True),
        ("nan", NAN, True),
        ("NaN", 1.0, False),
        ("1.0", NAN, False),
        ("inf", INF, True),
        ("-inf", INF, False),
        ("1e999", INF, True),
        ("0", 0.0, True),
        ("0", 0.0003, False),
        ("0.000", 0.0003, False),
        ("-1.5", 1.5, False),
        ("\u22121.5", -1.5, True),
    ],
)
def test_a_value_fits_within_the_digits_that_were_given(
    said: str, actual: float, is_so: bool
) -> None:
    number = stated(said)
    assert number is not None
    assert fits(number, actual) is is_so


@pytest.mark.parametrize("said", ["", "high", "2.3 or 2.4", "1.2.3", "e5", ".", "-", "0x10", "%"])
def test_what_is_no_number_is_none(said: str) -> None:
    assert stated(said) is None


def test_a_logged_value_is_confirmed_and_another_is_struck_with_the_real_one() -> None:
    book = book_with(make_run({"loss": [3.0, 2.5, NAN]}, steps=[0, 100, 200]))
    assert verdict(book, value(100, "2.5")).verdict is Verdict.CONFIRMED
    assert verdict(book, value(200, "nan")).verdict is Verdict.CONFIRMED
    wrong = verdict(book, value(100, "2.7"))
    assert (wrong.verdict, wrong.reason) == (Verdict.WRONG, "loss is 2.5 at step 100")


def test_the_nearest_step_counts_and_says_so() -> None:
    book = book_with(make_run({"loss": [3.0, 2.5, 2.2]}, steps=[0, 100, 200]))
    found = verdict(book, value(110, "2.5"))
    assert (found.verdict, found.step) == (Verdict.ELSEWHERE, 100)
    assert "step 110 is not logged; the nearest is 100" in found.reason
    assert found.ref == "loss@100"
    assert verdict(book, value(110, "2.2")).is_struck
    assert verdict(book, value(290, "2.2")).is_confirmed
    far = verdict(book, value(900, "2.2"))
    assert far.is_struck
    assert "from 0 to 200" in far.reason


def test_both_passes_of_a_resumed_run_count() -> None:
    book = book_with(make_run({"loss": [3.0, 2.5, 2.8, 2.1]}, steps=[0, 100, 100, 200]))
    assert verdict(book, value(100, "2.5")).is_confirmed
    assert verdict(book, value(100, "2.8")).is_confirmed
    assert verdict(book, value(100, "2.6")).reason == "loss is 2.5 or 2.8 at step 100"


def test_a_series_is_found_by_name_role_and_spelling() -> None:
    book = book_with(make_run({"train_loss": [3.0, 2.5, 2.2]}))
    for name in ("train_loss", "train/loss", "Train Loss", "run1/train_loss"):
        assert verdict(book, value(1, "2.5", name=name)).is_confirmed, name
    unknown = verdict(book, value(1, "2.5", name="train_los"))
    assert unknown.is_struck
    assert "train_loss" in unknown.reason


def test_a_value_belongs_to_the_run_that_is_named() -> None:
    book = book_with(make_run({"loss": [3.0, 2.5]}), make_run({"loss": [9.0, 8.5]}))
    assert verdict(book, value(1, "8.5", run="run2")).is_confirmed
    assert verdict(book, value(1, "8.5", run="run1")).is_struck
    assert verdict(book, value(1, "8.5")).is_confirmed
    assert "no run 'run7'" in verdict(book, value(1, "8.5", run="run7")).reason


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("optimizer.lr", "0.01"),
        ("optimizer.lr", "1e-2"),
        ("lr", "0.010"),
        ("Optimizer/LR", ".01"),
        ("config:optimizer.lr", "0.01"),
        ("optimizer.name", "AdamW"),
        ("optimizer.name", "'adamw'"),
        ("optimizer.betas", "(0.9, 0.95)"),
        ("amp", "True"),
        ("amp", "true"),
        ("warmup", "None"),
        ("layers.0.units", "64"),
    ],
)
def test_a_setting_is_confirmed_in_any_notation(book: ArtifactBook, key: str, said: str) -> None:
    assert verdict(book, setting(key, said)).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("key", "said", "reason"),
    [
        ("optimizer.lr", "0.011", "optimizer.lr is 0.01"),
        ("optimizer.lr", "1%", "optimizer.lr is 0.01"),
        ("optimizer.lr", "high", "optimizer.lr is 0.01"),
        ("optimizer.betas", "[0.9, 0.99]", "optimizer.betas is [0.9, 0.95]"),
        ("optimizer.betas", "[0.9]", "optimizer.betas is"),
        ("amp", "false", "amp is true"),
        ("warmup", "0", "warmup is null"),
        ("optimizer", "AdamW", "a group of settings"),
        ("optimizer.lrs", "0.01", "the closest: optimizer.lr"),
    ],
)
def test_a_setting_that_differs_is_struck_with_the_real_value(
    book: ArtifactBook, key: str, said: str, reason: str
) -> None:
    found = verdict(book, setting(key, said))
    assert found.verdict is Verdict.WRONG
    assert reason in found.reason


def test_a_masked_setting_is_confirmed_by_its_mask_and_never_told(tmp_path: Path) -> None:
    secret = "hunter2hunter2"
    files = {"train.log": STEPS, "config.yaml": f"db:\n  password: {secret}\n"}
    book = book_of(tmp_path, files)
    masker = Masker()
    shown = masker.clean_value({"password": secret})["password"]
    assert secret not in shown
    assert verdict(book, setting("db.password", shown), masker=masker).is_confirmed
    wrong = verdict(book, setting("db.password", "letmein"), masker=masker)
    assert wrong.is_struck
    assert secret not in wrong.reason


def test_a_finding_must_have_been_found(book: ArtifactBook) -> None:
    found = Diagnosis("needs_more_data", findings=(finding("loss_spike"),))
    cited = {"kind": "finding", "id": "loss_spike"}
    assert verdict(book, cited, diagnoses=[found]).is_confirmed
    assert verdict(book, cited, diagnoses={"run1": found}).is_confirmed
    wrong = verdict(book, cited)
    assert wrong.is_struck
    assert "did not find 'loss_spike'" in wrong.reason
