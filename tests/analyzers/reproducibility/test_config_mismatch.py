"""Artifacts that contradict each other are named; those that only look so are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Finding
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from mltd.runs.run import Artifact, Run
from tests.analyzers.made import read_log

LOG = "".join(f"step {n} loss {2 - n / 50}\n" for n in range(1, 30))


def found(run: Run) -> list[Finding]:
    told = diagnose(run)
    assert told.problems == ()
    return [finding for finding in told.findings if finding.id == "config_mismatch"]


def run_in(folder: Path, **configs: dict[str, object]) -> Run:
    folder.mkdir(parents=True)
    (folder / "train.log").write_text(LOG)
    for name, config in configs.items():
        (folder / f"{name}.json").write_text(json.dumps(config))
    (files,) = discover(str(folder))
    return load(files).run


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("gcn_lr1e-4", {"lr": 0.01, "width": 3}),
        ("exp_lr_0.001_b", {"optimizer": {"learning_rate": 0.1}}),
        ("gcn-bs48", {"batch_size": 64, "lr": 0.1}),
        ("run_seed3", {"seed": 4, "lr": 0.1}),
        ("vgae_large", {"model": "vgae_small", "lr": 0.1}),
    ],
)
def test_a_name_that_the_config_contradicts(
    tmp_path: Path, name: str, config: dict[str, object]
) -> None:
    (finding,) = found(run_in(tmp_path / name, config=config))
    assert name in finding.title
    assert finding.is_alarm
    assert {e.kind for e in finding.evidence} == {"job", "config"}


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("gcn_lr1e-4", {"lr": 0.0001}),
        ("gcn_lr1e-4", {"lr": "1e-4", "width": 3}),
        ("gcn_lr1e-4", {"base_lr": 0.0001, "min_lr": 0.00001}),
        ("gcn_bs256", {"batch_size": 32}),
        ("run_seed3", {"seed": 3, "data_seed": 1}),
        ("run_seed1", {"seed": 3, "data_seed": 1}),
        ("vgae_large", {"model": "vgae_large"}),
        ("vgae_large", {"model": "gpt2-small"}),
        ("large_scale_study", {"model": "resnet"}),
        ("collar1e-4", {"lr": 0.1}),
        ("lr_finder_2024", {"lr": 0.1}),
    ],
)
def test_names_that_agree_or_say_nothing(
    tmp_path: Path, name: str, config: dict[str, object]
) -> None:
    assert found(run_in(tmp_path / name, config=config)) == []


def test_config_files_of_one_folder_are_compared(tmp_path: Path) -> None:
    run = run_in(
        tmp_path / "run",
        config={"lr": 0.1, "batch_size": 8, "model": {"hidden": 32}},
        args={"lr": 0.01, "batch_size": 8, "hidden": 32, "path": "/a"},
    )
    (finding,) = found(run)
    assert "0.1 in " in finding.title or "0.01 in " in finding.title
    assert {e.ref for e in finding.evidence} == {"config.json:lr", "args.json:lr"}


def test_files_that_agree_or_speak_of_different_things_do_not(tmp_path: Path) -> None:
    run = run_in(
        tmp_path / "run",
        config={"lr": "1e-1", "encoder": {"hidden": 8}, "decoder": {"hidden": 16}},
        args={"lr": 0.1, "hidden": 32},
    )
    assert found(run) == []


@pytest.mark.parametrize(
    ("printed", "stated", "is_told"),
    [
        ({"lr": 0.001, "seed": 173}, {"lr": 0.0001, "seed": 42}, True),
        ({"lr": 0.001, "optim": "sgd"}, {"lr": 0.001, "optim": "adam"}, True),
        (
            {"lr": 0.001, "seed": 43, "batch_size": 8},
            {"lr": 1e-3, "seed": 42, "batch_size": 64},
            False,
        ),
        ({"lr": 0.001, "epochs": 3}, {"lr": 0.001, "epochs": 12}, False),
    ],
)
def test_arguments_that_the_log_prints_are_held_against_the_file(
    tmp_path: Path, printed: dict[str, object], stated: dict[str, object], is_told: bool
) -> None:
    (tmp_path / "train.log").write_text(f"args: {json.dumps(printed)}\n" + LOG)
    (tmp_path / "config.json").write_text(json.dumps(stated))
    (files,) = discover(str(tmp_path))
    told = found(load(files).run)
    assert [len(told)] == [int(is_told)]
    assert all("in the log" in finding.title for finding in told)


def test_weights_that_fit_neither_vocabulary_nor_classes(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    saved = {"emb.weight": torch.zeros(90, 4), "head.weight": torch.zeros(5, 4)}
    torch.save(saved, tmp_path / "m.pt")
    run = read_log(LOG)
    run.artifacts.append(Artifact("checkpoint", str(tmp_path / "m.pt")))
    run.add_config({"vocab_size": 100, "num_classes": 7})
    assert [f.details["about"] for f in found(run)] == ["vocab_size", "classes"]
    run.add_config({"vocab_size": 84, "num_classes": 5})
    assert found(run) == []


def test_a_layer_with_other_features_than_the_data() -> None:
    log = LOG + (
        "Traceback (most recent call last):\n"
        '  File "/home/me/train.py", line 9, in <module>\n    model(x)\n'
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x12 and 16x32)\n"
    )
    run = read_log(log)
    run.add_config({"in_channels": 16, "lr": 0.1})
    (finding,) = found(run)
    assert finding.title == "in_channels is 16 but the data has 12 features"
    run.add_config({"in_channels": 99})
    assert found(run) == []
