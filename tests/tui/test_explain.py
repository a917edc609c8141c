"""`mltd-tui explain`: the pages of the catalogue."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mltd.analyzers.core.registry import registry
from mltd.tui.cli import main


def test_a_page_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "loss_spike"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("loss_spike (finding, loss and optimisation)\n")
    for heading in ("What it sees", "Why it matters", "Fires on", "Stays quiet", "Try next"):
        assert f"\n{heading}\n" in out
    assert max(map(len, out.splitlines())) <= 120


def test_the_page_of_a_cause(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "lr_too_high"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("lr_too_high (root cause,")
    assert "\nTold apart by\n" in out


def test_the_page_of_a_finding_about_saved_weights(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "odd_weights"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("odd_weights (finding, saved weights)\n")
    assert "only `mltd-tui inspect`" in out


def test_without_an_id_all_are_listed_by_family(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    out = capfd.readouterr().out
    assert out.index("Loss and optimisation") < out.index("Root causes")
    for identity in (*registry().analyzers, *registry().causes):
        assert f"  {identity} " in out


def test_an_unknown_id_gets_a_clear_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "loss-spik"]) == 2
    (sentence,) = capfd.readouterr().err.splitlines()
    assert "'loss-spik'" in sentence
    assert "did you mean loss_spike" in sentence
    assert main(["explain", "\x1b[31mzzz"]) == 2
    error = capfd.readouterr().err
    assert "mltd-tui explain lists all" in error
    assert "\x1b" not in error


@pytest.mark.parametrize("arguments", [["--version"], ["export", "missing.log"]])
def test_commands_that_judge_nothing_load_no_analyzers(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom mltd.tui.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "print(*[m for m in sys.modules if m.startswith('mltd.analyzers.')], file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert ended.stderr.splitlines()[-1] == ""
