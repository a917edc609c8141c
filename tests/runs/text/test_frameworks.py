"""Lines of frameworks that print in ways of their own, read from the file to the series."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.run import Run, SourceFile
from mltd.runs.text.extractor import TextReader


def read(text: str) -> dict[str, tuple[str | None, list[float], list[float]]]:
    """Role, steps and values of each series of a log."""
    run = Run("test")
    file = run.add_file(SourceFile("train.log"))
    run.append(file, TextReader().feed(text.encode(), final=True))
    return {
        one.name: (one.role, one.axis("step").tolist(), one.values.tolist()) for one in run.series
    }


def test_a_padded_number_before_a_value_is_no_step() -> None:
    lines = [
        f"Epoch: [0][{step}/90]\tLoss {9 / (step + 1):.4f}\nPrec@1  05 {step}.167 (4.167)\n"
        f" * Prec@1  05 {step}.5 Prec@5  05 {step}.9"
        for step in (0, 10, 20, 30)
    ]
    found = read("\n".join(lines) + "\n")
    assert found["Prec@1"][1] == [0, 0, 10, 10, 20, 20, 30, 30]
    assert "val acc1" not in found


def test_a_rate_per_second_is_no_learning_rate() -> None:
    lines = [
        f"Progress on: {step}kit/200kit rate:{step / 8}it/s remaining:1:00" for step in range(9)
    ]
    assert read("\n".join(lines) + "\n")["rate"][0] == "throughput"


def test_the_score_of_an_iteration_is_a_loss() -> None:
    lines = [f"10:00:0{n} INFO Listener - Score at iteration {n}00 is {2 / n}" for n in (1, 2, 4)]
    assert read("\n".join(lines) + "\n")["loss"] == ("train/loss", [100, 200, 400], [2, 1, 0.5])


@pytest.mark.parametrize(
    ("name", "role"), [("grdn", "grad_norm"), ("AvgCost", "train/loss"), ("time cost", None)]
)
def test_names_of_some_frameworks(name: str, role: str | None) -> None:
    assert shipped().role_of(name) in (role, "step_time")
