"""Names of run folders are read with care: only what they state for sure is held against them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.analyzers.reproducibility.run_names import claims_in, pairs_in
from mltd.runs.discovery import discover
from mltd.runs.ingest import load

LOG = "".join(f"step {n} loss {2 - n / 50}\n" for n in range(1, 30))

CLAIMS = {
    "lr1e-3_bs64_seed2": {"lr": 1e-3, "batch_size": 64, "seed": 2},
    "lr0.001": {"lr": 1e-3},
    "lr_0.001": {"lr": 1e-3},
    "lr.01": {"lr": 1e-2},
    "lr0p001": {"lr": 1e-3},
    "LR1E-3-BS32": {"lr": 1e-3, "batch_size": 32},
    "lr-3e-4": {"lr": 3e-4},
    "learning_rate_0.1": {"lr": 0.1},
    "bs_64": {"batch_size": 64},
    "bsz128": {"batch_size": 128},
    "batch-size-32": {"batch_size": 32},
    "batch32": {"batch_size": 32},
    "seed=2": {"seed": 2},
    "seed42_v2": {"seed": 42},
    "2024-01-01_12-30-00_seed3": {"seed": 3},
    "lr=0.001,batch_size=64,seed=2": {"lr": 1e-3, "batch_size": 64, "seed": 2},
    "lr=0.001_bs=64": {"lr": 1e-3, "batch_size": 64},
    "wd0.01_dropout0.1_mom0.9": {"weight_decay": 0.01, "dropout": 0.1, "momentum": 0.9},
    "vit_base_patch16_224_bs256": {"batch_size": 256},
    "gat.lr0.001": {"lr": 1e-3},
    "baseline_lr1e-3": {"lr": 1e-3},
    "lr1e-3@bs64": {"lr": 1e-3, "batch_size": 64},
    "(lr1e-3)": {"lr": 1e-3},
}
SILENT = [
    "", "lr", "lr_finder_2024", "lr1", "lr0001", "lr1e_3", "collar1e-4", "absbs12", "obs64",
    "lr1e-4-1e-3", "lr1e-4_to_1e-3", "lr5e-4_1e-5", "bs64-128", "bs8x4", "bs32x8gpu", "seeds3",
    "seed1-5", "dropout0.1_drop0.2", "drop_path0.1", "finetune_from_lr1e-3_bs64",
    "resume_lr1e-3", "teacher_lr1e-3_bs64", "sweep_lr1e-3", "wd1e-2lr1e-3", "nlr1e-3", "v1.0.3",
    "resnet50_e100", "2024-01-01", "run-20240101_000000-abc", "version_12", "48213-vgae",
]  # fmt: skip


@pytest.mark.parametrize(("name", "wanted"), CLAIMS.items())
def test_what_a_name_states(name: str, wanted: dict[str, float]) -> None:
    assert {claim.meaning: claim.values[0] for claim in claims_in(name)} == pytest.approx(wanted)


@pytest.mark.parametrize("name", SILENT)
def test_names_that_state_nothing_for_sure(name: str) -> None:
    assert claims_in(name) == []


def test_an_exponent_without_a_sign_may_be_a_negative_one() -> None:
    (claim,) = claims_in("lr3e4")
    assert claim.values == pytest.approx((3e4, 3e-4))


def test_pairs_are_read_where_a_name_is_nothing_else() -> None:
    assert pairs_in("model=gat,optim.lr=0.1") == [("model", "gat"), ("optim.lr", "0.1")]
    assert pairs_in("run_model=gat_x=3") == []
    assert pairs_in("model=gat,v2") == []


@given(st.text(max_size=120))
def test_any_name_can_be_read(name: str) -> None:
    claims_in(name)
    pairs_in(name)


@given(st.floats(1e-6, 0.9), st.integers(1, 4096), st.integers(0, 10**6))
def test_what_was_written_into_a_name_is_read_from_it(lr: float, batch: int, seed: int) -> None:
    stated = f"{lr:.3g}"
    found = {c.meaning: c.values[0] for c in claims_in(f"gat_lr{stated}_bs{batch}_seed{seed}")}
    assert found == {"lr": float(stated), "batch_size": batch, "seed": seed}


def found(folder: Path, config: dict[str, object], log: str = "train.log") -> list[Finding]:
    folder.mkdir(parents=True)
    (folder / log).write_text(LOG)
    (folder / "config.json").write_text(json.dumps(config))
    (files,) = discover(str(folder))
    told = diagnose(load(files).run)
    assert told.problems == ()
    return [finding for finding in told.findings if finding.id == "config_mismatch"]


def test_the_sentence_has_both(tmp_path: Path) -> None:
    (finding,) = found(tmp_path / "lr1e-3_bs64_seed2", {"lr": 3e-4, "batch_size": 64, "seed": 2})
    assert finding.title == "the run is called lr1e-3_bs64_seed2 but lr is 0.0003"
    assert finding.severity is Severity.WARNING
    assert [(e.kind.value, e.ref, e.quote) for e in finding.evidence] == [
        ("job", "name", "lr1e-3_bs64_seed2"),
        ("config", "config:lr", "0.0003"),
    ]


DISAGREE: list[tuple[str, dict[str, object], str]] = [
    ("gat_wd0.01", {"weight_decay": 0.1, "lr": 1}, "weight_decay"),
    ("gat_dropout0.5", {"model": {"dropout": 0.1}, "lr": 1}, "model.dropout"),
    ("lr=0.001,model=gat", {"lr": 0.001, "model": "gcn"}, "model"),
    ("optim.lr=0.1,layers=3", {"optim": {"lr": 0.1}, "layers": 4}, "layers"),
    ("bs32", {"batch_size": 64, "devices": 1, "accumulate_grad_batches": 1}, "batch_size"),
    ("bs48", {"batch_size": 64, "lr": 1}, "batch_size"),
    ("lr3e4", {"lr": 0.01}, "lr"),
]


@pytest.mark.parametrize(("name", "config", "path"), DISAGREE, ids=[d[0] for d in DISAGREE])
def test_a_setting_that_is_another(
    tmp_path: Path, name: str, config: dict[str, object], path: str
) -> None:
    (finding,) = found(tmp_path / name, config)
    assert re.search(rf"but {re.escape(path)} is ", finding.title)


AGREE: list[tuple[str, dict[str, object]]] = [
    ("lr1e-3", {"lr": "1e-3"}),
    ("lr3e4", {"lr": 3e-4}),
    ("lr1e-3", {"encoder": {"lr": 1e-3}, "decoder": {"lr": 1e-4}}),
    ("lr1e-3", {"lr": [1e-3, 1e-4]}),
    ("lr1e-3", {"width": 3}),
    ("bs256", {"batch_size": 32}),
    ("bs32", {"batch_size": 256}),
    ("bs32", {"batch_size": 256, "devices": 8, "accumulate_grad_batches": 1}),
    ("bs64", {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 2}),
    ("bs64", {"batch_size": 63, "eval_batch_size": 64}),
    ("seed3", {"seed": 0, "data_seed": 3}),
    ("seed3", {"seed": None}),
    ("dropout0.1", {"attention_dropout": 0.1, "dropout": 0.2}),
    ("wd0.01", {"lr": 0.1}),
    ("model=gat", {"model": "GAT_large"}),
    ("model=gat", {"model": {"name": "gcn"}}),
    ("a.lr=0.1,lr=0.2", {"a": {"lr": 0.1}, "lr": 0.2}),
    ("finetune_from_lr1e-3", {"lr": 1e-5}),
]


@pytest.mark.parametrize(("name", "config"), AGREE, ids=[a[0] for a in AGREE])
def test_settings_that_agree_or_may_do_so(
    tmp_path: Path, name: str, config: dict[str, object]
) -> None:
    assert found(tmp_path / name, config) == []


def test_the_innermost_name_has_the_word(tmp_path: Path) -> None:
    assert found(tmp_path / "lr1e-3" / "stage2_lr1e-4", {"lr": 1e-4}) == []
    (finding,) = found(tmp_path / "lr1e-4" / "stage2_lr1e-3", {"lr": 1e-4})
    assert "stage2_lr1e-3" in finding.title


def test_the_folder_of_settings_that_a_job_s_output_brought_counts(tmp_path: Path) -> None:
    folder = tmp_path / "experimentruns" / "can" / "gat_lr1e-3"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"lr": 0.01}))
    log = tmp_path / "slurm_logs" / "48213-gat.out"
    log.parent.mkdir()
    log.write_text("Run directory: experimentruns/can/gat_lr1e-3\n" + LOG)
    (files,) = discover(str(log))
    told = diagnose(load(files).run)
    titles = [one.title for one in told.findings if one.id == "config_mismatch"]
    assert titles == ["the run is called gat_lr1e-3 but lr is 0.01"]
