"""Headings that name a split, and what is indented below them."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.text.headings import LONGEST_INDENTED, heading_split, section_below

from .test_extractor import feed_pieces, read, values


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("Val:", "val"),
        ("[val]", "val"),
        ("  --> EVAL PERFORMANCE", "val"),
        ("***** Test results *****", "test"),
        ("***** Evaluating perplexity, Epoch 1/3 *****", "val"),
        ("Evaluating perplexity", ""),
        ("Epoch 3 - Evaluation time (seconds): 1.12 - Train metrics:", "train"),
        ("Saving the validation set", ""),
        ("we then went on to the whole validation:", ""),
        ("Epoch 3:", ""),
        ("Val: " + "x" * 200 + ":", ""),
    ],
)
def test_headings(line: str, split: str) -> None:
    assert heading_split(line, shipped()) == split


LOG = "".join(
    f"Epoch {e}\nTrain metrics:\n\tloss: {3 - e / 2}\n\nTest metrics:\n\tloss: {4 - e / 2}\n"
    f"lr: {1 / (e + 1):.4f}\n"
    for e in range(4)
)


def test_lines_below_a_heading_are_of_its_split() -> None:
    run = read(LOG)
    assert {s.name: s.role for s in run.series if "loss" in s.name} == {
        "loss": "train/loss",
        "test/loss": "test/loss",
    }
    assert values(run, "loss") == [3.0, 2.5, 2.0, 1.5]
    assert values(run, "test/loss") == [4.0, 3.5, 3.0, 2.5]
    assert len(values(run, "lr")) == 4


@pytest.mark.parametrize("size", [1, 7, 20, 33])
def test_a_block_goes_on_in_the_next_chunk(size: int) -> None:
    data = LOG.encode()
    run = feed_pieces([data[i : i + size] for i in range(0, len(data), size)])
    assert values(run, "loss") == [3.0, 2.5, 2.0, 1.5]
    assert values(run, "test/loss") == [4.0, 3.5, 3.0, 2.5]


def test_a_block_ends_with_its_indent() -> None:
    section = section_below(b" Val:", "val")
    lines = [b"  loss: 1", b"", b"  loss: 2", b" loss: 3", b"  loss: 4"]
    assert [section.takes(line) for line in lines] == [True, True, True, False, False]


def test_a_block_ends_when_it_is_too_long() -> None:
    section = section_below(b"Val:", "val")
    assert sum(section.takes(b"  loss: 1") for _ in range(2 * LONGEST_INDENTED)) < LONGEST_INDENTED
