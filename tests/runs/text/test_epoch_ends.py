"""What is evaluated behind the last epoch is no step of the training."""

from __future__ import annotations

import pytest

from .test_extractor import feed_pieces, read, values

EPOCHS = "".join(
    f"Epoch {e}/4\n375/375 - 1s - loss: {1 / e:.4f} - val_loss: {2 / e:.4f}\n" for e in range(1, 5)
)
EVALUATED = "313/313 - 0s - loss: 0.9000\n"


def test_an_evaluation_behind_the_last_epoch_is_a_test() -> None:
    run = read(EPOCHS + EVALUATED)
    assert values(run, "loss") == [1.0, 0.5, 0.3333, 0.25]
    assert [s.role for s in run.series if s.values.tolist() == [0.9]] == ["test/loss"]


@pytest.mark.parametrize("size", [7, 40, 200])
def test_it_is_one_however_the_bytes_arrive(size: int) -> None:
    data = (EPOCHS + EVALUATED).encode()
    run = feed_pieces([data[n : n + size] for n in range(0, len(data), size)])
    assert values(run, "loss") == [1.0, 0.5, 0.3333, 0.25]


def test_the_evaluation_has_as_many_batches_and_no_validation() -> None:
    assert len(values(read(EPOCHS + EVALUATED.replace("313", "375")), "loss")) == 4


def test_a_loop_below_each_epoch_that_is_not_the_training_is_a_validation() -> None:
    log = "".join(
        f"Epoch {e}\n100/100 [====] - 1s - loss: {1 / e}\n20/20 [====] - 0s - loss: {2 / e}\n"
        for e in range(1, 5)
    )
    roles = {s.role: len(s) for s in read(log).series if "loss" in s.name}
    assert roles == {"train/loss": 4, "val/loss": 4}


def test_an_epoch_that_is_drawn_twice_is_trained_once() -> None:
    log = "".join(
        f"Epoch {e}/4\n375/375 [====] - 1s - loss: {1 / e:.4f}\n"
        f"375/375 [====] - 1s - loss: {1 / e:.4f} - val_loss: {2 / e:.4f}\n"
        for e in range(1, 5)
    )
    assert {s.role for s in read(log).series if "loss" in s.name} == {"train/loss", "val/loss"}
