"""Files of two columns without a header: read by what their name says."""

from __future__ import annotations

import pytest

from mltd.runs.formats.bare_columns import BareColumnsFormat
from mltd.runs.formats.registry import default_registry
from tests.runs.formats.reading import axis, feed_in_pieces, feed_whole, values

LINES = b"1 2.25\n5 2.0\n10\t1.5\n15, nan\n20 1.25\n25 1.0e0\n"


def test_a_counter_and_a_loss() -> None:
    found = default_registry().open(LINES, "/runs/a/loss_per_batch.txt")
    assert found is not None
    assert found[0].name == "columns"
    harvest = feed_whole(found[1], LINES)
    assert axis(harvest, "step") == [1, 5, 10, 15, 20, 25]
    assert values(harvest, "loss_per_batch")[-1] == 1.0
    assert harvest.lines == 6


@pytest.mark.parametrize(
    ("head", "path"),
    [
        (LINES, "train.log"),
        (LINES, "heights.txt"),
        (LINES + b"Traceback (most recent call last):\n", "loss.txt"),
        (LINES + b"3 0.9\n", "loss.txt"),
        (LINES[:20], "loss.txt"),
        (b"", "loss.txt"),
    ],
    ids=["may say more", "says nothing", "says more", "does not count", "too few", "empty"],
)
def test_what_is_something_else(head: bytes, path: str) -> None:
    assert BareColumnsFormat().sniff(head, path) == 0


def test_pieces_change_nothing() -> None:
    reader = BareColumnsFormat().open("val_acc.txt")
    pieces = feed_in_pieces(reader, LINES, [3, 9, 10, 30])
    steps = [step for piece in pieces if "step" in piece.axes for step in axis(piece, "step")]
    assert steps == [1, 5, 10, 15, 20, 25]
