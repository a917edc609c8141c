"""Headings on lines of their own, and what stands below them."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.run import Run
from mltd.runs.text.headings import LONGEST, heading_split
from tests.runs.text.test_extractor import feed_pieces, read


def roles_of(run: Run) -> dict[str | None, list[float]]:
    return {series.role: series.values.tolist() for series in run.series}


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("Validation:", "val"),
        ("Test Error: ", "test"),
        ("*** Eval at step 100 ***", "val"),
        ("--- Training ---", "train"),
        ("train and validation", ""),
        ("saving the validation images", ""),
        ("loss", ""),
    ],
)
def test_headings_say_the_split_and_nothing_else(text: str, split: str) -> None:
    assert heading_split(text, shipped()) == split


BLOCK = "epoch: {i}\ntrain:\n  loss: 0.{i}1\nval:\n  loss: 0.{i}2\n  acc: 0.{i}3\nlr: 0.{i}4\n"
WANTED = {
    "train/loss": [0.11, 0.21, 0.31],
    "val/loss": [0.12, 0.22, 0.32],
    "val/accuracy": [0.13, 0.23, 0.33],
    "lr": [0.14, 0.24, 0.34],
}


def test_indented_lines_belong_to_the_heading_above_them() -> None:
    run = read("".join(BLOCK.format(i=i) for i in (1, 2, 3)))
    assert {role: found for role, found in roles_of(run).items() if role in WANTED} == WANTED


def test_a_heading_holds_also_if_its_lines_come_later() -> None:
    lines = "".join(BLOCK.format(i=i) for i in (1, 2, 3)).encode().splitlines(keepends=True)
    run = feed_pieces(lines)
    assert {role: found for role, found in roles_of(run).items() if role in WANTED} == WANTED


@pytest.mark.parametrize("end", ["\n", "step 2 lr 0.5\n", "Training:\n", "x\n" * LONGEST])
def test_a_heading_ends(end: str) -> None:
    run = read(f"Validation:\nloss: 0.5 acc: 0.6\n{end}loss: 0.7 acc: 0.8\n" * 3)
    assert roles_of(run)["val/loss"] == [0.5] * 3
    assert roles_of(run)["train/loss"] == [0.7] * 3


def test_a_split_before_the_first_name_holds_for_the_line() -> None:
    run = read("train Loss: 0.5 Acc: 0.6\nval Loss: 0.7 Acc: 0.8\n")
    assert roles_of(run) == {
        "train/loss": [0.5],
        "train/accuracy": [0.6],
        "val/loss": [0.7],
        "val/accuracy": [0.8],
    }


def test_a_split_of_one_name_among_others_holds_for_that_name() -> None:
    run = read("val loss 0.5 lr 0.6\n")
    assert roles_of(run) == {"val/loss": [0.5], "lr": [0.6]}
