"""The embedding's share, from weights or settings; and what it explains."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Basis, Finding, Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.run import Artifact, Run
from tests.analyzers.made import read_log

torch = pytest.importorskip("torch")


def run_with(path: Path, sizes: dict[str, tuple[int, ...]], log: str = "") -> Run:
    run = read_log(log or "step 1 loss 2\nstep 2 loss 1.9\nstep 3 loss 1.8\n")
    torch.save({name: torch.zeros(size) for name, size in sizes.items()}, path / "model.pt")
    run.artifacts.append(Artifact("checkpoint", str(path / "model.pt")))
    return run


def shares(run: Run) -> list[Finding]:
    told = diagnose(run)
    assert told.problems == ()
    return [finding for finding in told.findings if finding.id == "param_imbalance"]


def test_most_weights_in_the_embedding_are_worth_knowing(tmp_path: Path) -> None:
    (finding,) = shares(run_with(tmp_path, {"tok_emb.weight": (1000, 30), "fc.weight": (100, 80)}))
    assert finding.severity is Severity.INFO
    assert finding.basis is Basis.OBSERVATION
    assert "79%" in finding.title
    assert "38,000" in finding.title
    assert finding.evidence[0].kind == "checkpoint"


@pytest.mark.parametrize(
    "sizes",
    [
        {"tok_emb.weight": (100, 30), "fc.weight": (100, 80)},
        {"tok_emb.weight": (100, 30)},
        {"fc.weight": (1000, 30), "out.weight": (10, 30)},
        {"patch_embed.proj.weight": (768, 768), "fc.weight": (10, 30)},
    ],
)
def test_balanced_small_or_other_models_are_not(
    tmp_path: Path, sizes: dict[str, tuple[int, ...]]
) -> None:
    assert shares(run_with(tmp_path, sizes)) == []


def test_a_table_is_known_by_the_vocabulary_size(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"first.weight": (1000, 30), "second.weight": (100, 80)})
    assert shares(run) == []
    run.add_config({"vocab_size": 1000})
    assert len(shares(run)) == 1


def test_beside_a_collapse_it_is_a_warning_and_the_cause(tmp_path: Path) -> None:
    log = "".join(f"step {n} loss {3 - n / 50}\nsample: ::::::::::::\n" for n in range(1, 30))
    run = run_with(tmp_path, {"tok_emb.weight": (1000, 30), "fc.weight": (100, 80)}, log)
    run.add_config({"vocab_size": 1000, "n_layers": 2, "lr": 0.1})
    (finding,) = shares(run)
    assert finding.severity is Severity.WARNING
    best = diagnose(run).root_causes[0]
    assert best.id == "embedding_heavy"
    assert best.basis is Basis.RESEARCH
    assert set(best.explains) == {"mode_collapse", "param_imbalance"}
    assert any("vocab_size 1000 -> 256" in fix.change for fix in best.fixes)
    assert any("n_layers 2 -> 4" in fix.change for fix in best.fixes)


def test_a_lopsided_model_that_works_has_no_cause(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"tok_emb.weight": (1000, 30), "fc.weight": (100, 80)})
    assert diagnose(run).root_causes == ()


def test_a_broken_checkpoint_is_passed_over(tmp_path: Path) -> None:
    run = run_with(tmp_path, {"tok_emb.weight": (1000, 30)})
    (tmp_path / "model.pt").write_bytes(b"PK\x03\x04 half written")
    assert shares(run) == []
