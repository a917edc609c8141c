"""Waiting for data, however a log prints it."""

from __future__ import annotations

import pytest

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.run import Run, SourceFile
from mltd.runs.text.extractor import TextReader


def coqui(wait: float) -> Run:
    """A log in which each number stands on a line of its own."""
    lines = []
    for step in range(0, 400, 10):
        noise = 0.01 * (step % 7)
        lines += [
            f"   --> TIME: 2024-03-05 03:10:31 -- STEP: {step % 80}/80 -- GLOBAL_STEP: {step}",
            f"     | > loss: {1 + 9 / (step + 9):.4f}  (1.0131)",
            f"     | > step_time: {1.4 + noise:.4f}  (1.4325)",
            f"     | > loader_time: {wait + noise:.4f}  (1.0355)",
            "",
        ]
    run = Run("coqui")
    file = run.add_file(SourceFile("trainer_0_log.txt"))
    run.append(file, TextReader().feed("\n".join(lines).encode(), final=True))
    return run


@pytest.mark.parametrize(("wait", "is_found"), [(1.0, True), (0.01, False)])
def test_times_on_lines_of_their_own_are_compared_by_their_steps(
    wait: float, is_found: bool
) -> None:
    found = {finding.id for finding in diagnose(coqui(wait)).findings}
    assert ("dataloader_bound" in found) is is_found
