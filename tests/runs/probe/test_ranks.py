"""Two processes that really train together: one file or one for each, and the right numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from mltd.runs import probe
from tests.runs.probe import rank_process
from tests.runs.probe.rank_process import LAYERS, WAYS, WORLD
from tests.runs.probe.training import by_layer, header, net, steps, train

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 120
"""Seconds after which the ranks wait for each other in vain; usually they need five."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which two ranks have trained in all ways."""
    folder = tmp_path_factory.mktemp("ranks")
    # Ranks meet in a file and talk over loopback; no port has to be free.
    unset = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", "-m", rank_process.__name__]
    ranks = []
    for rank in range(WORLD):
        with (folder / f"said.{rank}").open("wb") as said:
            ranks.append(
                subprocess.Popen(
                    [*command, str(rank), str(folder)],
                    cwd=ROOT,
                    env=environment,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                )
            )
    try:
        codes: list[int | None] = [process.wait(PATIENCE) for process in ranks]
    except subprocess.TimeoutExpired:
        codes = [process.poll() for process in ranks]
    finally:
        for process in ranks:
            process.kill()
            process.wait()
    if any(codes) or None in codes:
        told = [(folder / f"said.{rank}").read_text() for rank in range(WORLD)]
        pytest.fail("\n".join(f"rank {n}: {codes[n]}\n{text}" for n, text in enumerate(told)))
    return folder


def facts(folder: Path, rank: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"facts.{rank}.json").read_text())
    return found


@pytest.mark.parametrize("way", WAYS)
def test_no_rank_trains_otherwise_for_being_watched(trained: Path, way: str) -> None:
    assert [facts(trained, rank)[way]["is_same"] for rank in range(WORLD)] == [True, True]
    assert all((trained / f"said.{rank}").read_text() == "" for rank in range(WORLD))


def test_the_first_rank_writes_or_all_of_them_if_asked_to(trained: Path) -> None:
    names = {path.name for path in trained.glob("*.jsonl")}
    others = {f"{name}.rank1.jsonl" for name, way in WAYS.items() if way.all_ranks}
    assert others
    assert names == {f"{name}.jsonl" for name in WAYS} | others
    first, second = trained / "accumulated.jsonl", trained / "accumulated.rank1.jsonl"
    assert [header(path)["rank"] for path in (first, second)] == [0, 1]
    assert [header(path)["world_size"] for path in (first, second)] == [2, 2]
    # Gradients are those of all ranks, activations those of each one's batch.
    assert steps(first)[-1]["grad_norm"] == steps(second)[-1]["grad_norm"]
    assert steps(first)[-1]["act_mean"] != steps(second)[-1]["act_mean"]


@pytest.mark.parametrize("way", [name for name, way in WAYS.items() if not way.is_sharded])
def test_norms_are_those_that_the_optimizer_gets(trained: Path, way: str) -> None:
    path = trained / f"{way}.jsonl"
    by_hand = facts(trained, 0)[way]["by_hand"]
    assert header(path)["layers"][:3] == ["body.conv", "body.norm", "body.fc"]
    assert [record["step"] for record in steps(path)] == [1, 2, 4]
    for record in steps(path):
        for layer in LAYERS:
            gradient, weight, move = by_hand[record["step"] - 1][layer]
            found = [
                by_layer(path, record, kind)[f"body.{layer}"]
                for kind in ("grad_norm", "weight_norm", "update_ratio")
            ]
            assert found == pytest.approx([gradient, weight, move / weight], rel=1e-5)
        unused = header(path)["layers"].index("unused")
        assert record["no_grad"] == [unused]


@pytest.mark.parametrize("way", [name for name, way in WAYS.items() if way.is_sharded])
def test_the_part_of_a_layer_that_a_rank_holds_is_not_taken_for_the_layer(
    trained: Path, way: str
) -> None:
    first = header(trained / f"{way}.jsonl")
    assert dict(zip(first["layers"], first["parameters"], strict=True)) == {
        "body.conv": 40, "body.norm": 8, "body.fc": 520, "unused": 12, "body.head": 27,
    }  # fmt: skip
    assert first["trainable"] == first["parameters"]
    assert first["skipped"] == dict.fromkeys(first["layers"], "sharded")
    last = steps(trained / f"{way}.jsonl")[-1]
    assert "grad_norm" not in last
    assert len(by_layer(trained / f"{way}.jsonl", last, "act_mean")) == 5


@pytest.mark.parametrize("all_ranks", [False, True])
def test_a_launcher_that_made_no_process_group_is_asked_for_the_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, all_ranks: bool
) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with probe.watch(model, optimizer, tmp_path / "p.jsonl", all_ranks=all_ranks) as handle:
        assert handle.is_active is all_ranks
        train(model, optimizer, 1)
    names = [path.name for path in tmp_path.iterdir()]
    assert names == (["p.rank3.jsonl"] if all_ranks else [])
    if all_ranks:
        first = header(handle.path)
        assert (first["rank"], first["world_size"]) == (3, 8)
