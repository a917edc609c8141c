"""Several processes that train together: one file, or one for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from mltd.runs import probe
from tests.runs.probe.training import header, net, steps, train


@pytest.fixture
def process_group(tmp_path: Path) -> Iterator[None]:
    store = dist.FileStore(  # type: ignore[attr-defined]
        str(tmp_path / "store"), 1
    )
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("process_group")
def test_layers_of_a_wrapped_model_have_their_plain_names(tmp_path: Path) -> None:
    model = torch.nn.parallel.DistributedDataParallel(net())
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with probe.watch(model, optimizer, tmp_path / "p"):
        train(model, optimizer, 2)
    assert header(tmp_path / "p")["layers"] == ["conv", "norm", "fc", "head"]
    assert len(steps(tmp_path / "p")[0]["act_mean"]) == 5


@pytest.mark.parametrize("all_ranks", [False, True])
def test_other_ranks_write_only_if_asked_to(
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
