"""Records over several lines that say last where they belong."""

from __future__ import annotations

import pytest

from .test_extractor import feed_pieces, points, read

PRINTED = "".join(
    f"{{'accuracy': 0.{n},\n 'loss': {3 - n / 4},\n 'step': {n * 50}}}\n" for n in range(1, 9)
)
DUMPED = "".join(f'{{\n  "loss": {3 - n / 4},\n  "epoch": {n}\n}}\n' for n in range(1, 9))
RESULTS = "".join(
    f"Result for train_0000{trial}:\n  date: 2024-03-05_09-12-31\n  loss: {3 - n / 4 + trial}\n"
    f"  pid: 123\n  training_iteration: {n}\n  trial_id: a1_0000{trial}\n  \n"
    for n in range(1, 9)
    for trial in (0, 1)
)


def test_values_have_the_place_at_the_end_of_their_record() -> None:
    assert [step for _, step, _ in points(read(PRINTED))["loss"]] == [50 * n for n in range(1, 9)]
    (loss,) = (series for series in read(DUMPED).series if series.name == "loss")
    assert loss.axis("epoch").tolist() == list(range(1, 9))


def test_results_of_trials_are_told_apart() -> None:
    found = points(read(RESULTS))
    assert list(found) == ["loss", "loss [train_00001]"]
    assert [(step, value) for _, step, value in found["loss"]][:2] == [(1, 2.75), (2, 2.5)]
    assert [(step, value) for _, step, value in found["loss [train_00001]"]][:1] == [(1, 3.75)]


@pytest.mark.parametrize("log", [PRINTED, RESULTS])
@pytest.mark.parametrize("size", [5, 60])
def test_records_are_whole_however_the_bytes_arrive(log: str, size: int) -> None:
    data = log.encode()
    run = feed_pieces([data[n : n + size] for n in range(0, len(data), size)])
    assert points(run) == points(read(log))


STATUS = "".join(
    "Trial status: 2 RUNNING\n"
    "│ Trial name      status     lr      iter   mean_loss │\n"
    "├─────────────────────────────────────────────────────┤\n"
    f"│ train_a1_00000  RUNNING   0.01   {n}   {3 - n / 4}  │\n"
    f"│ train_a1_00001  RUNNING   0.02   1   2.5  │\n"
    for n in range(1, 9)
)


def test_trials_of_a_status_are_told_apart_and_once() -> None:
    found = points(read(STATUS))
    assert [step for _, step, _ in found["mean_loss"]] == list(range(1, 9))
    assert len(found["mean_loss [train_a1_00001]"]) == 1


def test_a_status_beside_results_says_nothing_new() -> None:
    assert "mean_loss" not in points(read(RESULTS + STATUS))


def test_a_table_that_a_logger_prints_line_by_line_is_read() -> None:
    stamp = "2024-03-05 09:12:31,123 - INFO - allennlp.training.console_logger - "
    log = "".join(
        f"{stamp}Epoch {n}/9\n{stamp}           Training |  Validation\n"
        f"{stamp}accuracy  |   0.{n}1   |   0.{n}0\n{stamp}loss  |   {3 - n / 4}  |   {4 - n / 4}\n"
        f"{stamp}gpu_0_memory_MB  |   129.5  |   N/A\n"
        for n in range(1, 9)
    )
    roles = {series.name: (series.role, len(series)) for series in read(log).series}
    assert roles == {
        "Training/accuracy": ("train/accuracy", 8),
        "Validation/accuracy": ("val/accuracy", 8),
        "Training/loss": ("train/loss", 8),
        "Validation/loss": ("val/loss", 8),
        "Training/gpu_0_memory_MB": ("memory", 8),
    }
