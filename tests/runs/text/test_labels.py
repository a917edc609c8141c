"""Numbers of processes in front of all lines, told from the numbers of steps."""

from __future__ import annotations

import pytest

from mltd.runs.text.labels import Labels

from .test_extractor import points, read


def looked_at(*lines: str) -> bool:
    return Labels().look([line.encode() for line in lines])


@pytest.mark.parametrize(
    ("numbers", "are_labels"),
    [
        ([0, 1, 2, 3] * 8, True),
        ([0] * 20, True),
        ([0, 0, 0, 1, 1, 1, 1, 0] * 4, True),
        (list(range(32)), False),
        ([*range(16), *range(16)], False),
        ([0, 1], False),
    ],
)
def test_labels_come_again_and_again_and_steps_rise(numbers: list[int], are_labels: bool) -> None:
    assert looked_at(*(f"{number:2d}: loss 2.1" for number in numbers)) is are_labels


def test_a_log_is_labelled_only_if_all_of_it_is() -> None:
    lines = [f"{number % 4}: loss 2.1" for number in range(32)]
    assert looked_at(*lines, "srun: job 7 queued", "")
    assert not looked_at(*lines, *["a line of its own"] * 4)


def test_ranks_that_are_labelled_by_srun_are_told_apart() -> None:
    log = "".join(f"{rank:2d}: loss {3 - n / 9:.2f}\n" for n in range(9) for rank in (0, 12))
    run = read(log)
    assert [(series.rank, len(series)) for series in run.series] == [(0, 9), (12, 9)]
    assert "step" not in run.files[0].coordinates.axes


def test_a_line_that_says_its_step_has_no_other_number_for_it() -> None:
    (series,) = read("3: step 10 | loss 2.5\n3: step 20 | loss 2.4\n").series
    assert series.rank == 3
    assert series.axis("step").tolist() == [10, 20]


def test_numbered_lines_are_still_steps() -> None:
    run = read("".join(f"{n}: loss {3 - n / 9:.2f}\n" for n in range(40)))
    assert [step for _, step, _ in points(run)["loss"]] == list(range(40))


def test_tables_behind_labels_are_read() -> None:
    row = "0: | epoch | loss | acc |\n"
    log = row + "".join(f"0: | {n} | {3 - n / 9:.2f} | 0.{n + 1} |\n" for n in range(20))
    assert len(points(read(log))["loss"]) == 20
