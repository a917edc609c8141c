"""The engine looks into checkpoints: beside its loop, in pieces, and only if asked."""

from __future__ import annotations

import os
import pickle
import queue
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from mltd.runs.checkpoints import CheckpointCancelled, Limits
from mltd.runs.sources.watcher import Watcher
from mltd.tui.engine.inbox import Inbox
from mltd.tui.engine.inspecting import branches
from mltd.tui.engine.inspecting import looking as engine_looking
from mltd.tui.engine.model_protocol import (
    Branch,
    BranchRequest,
    Checkpoints,
    CheckpointsRequest,
    Inspected,
    Inspecting,
    InspectRequest,
    MemoryRequest,
    MemoryTold,
    ModelPage,
    ModelWish,
    StopInspect,
)
from mltd.tui.engine.protocol import News, Open, RunsFound, Select, StatusChanged
from mltd.tui.engine.service import Service
from tests.tui.app_scene import healthy, write_log
from tests.tui.model_scene import look_here, make_run
from tests.waiting import PATIENCE

Kind = TypeVar("Kind")


class Engine:
    """A real engine in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.heard: queue.Queue[News] = queue.Queue()
        self.inbox = Inbox()
        self._watcher = Watcher(poll_seconds=1.0)
        service = Service(self.heard.put, self.inbox, self._watcher)
        self.inbox.wish(Open((str(folder),), has_jobs=False))
        self._thread = threading.Thread(target=service.run, daemon=True)
        self._thread.start()
        self.hear(RunsFound)
        self.inbox.wish(Select(0))

    def ask(self, wish: ModelWish, kind: type[Kind]) -> Kind:
        self.inbox.wish(wish)
        return self.hear(kind)

    def hear(self, kind: type[Kind], is_it: Callable[[Kind], bool] = lambda _: True) -> Kind:
        while True:
            news = self.heard.get(timeout=PATIENCE)
            if isinstance(news, kind) and is_it(news):
                return news

    def look(self, path: Path, **options: Any) -> Inspected:
        return self.ask(InspectRequest(1, 0, str(path), **options), Inspected)

    def close(self) -> None:
        self.inbox.close()
        self._thread.join()
        self._watcher.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("engine") / "run")


@pytest.fixture
def engine(run: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    look_here(monkeypatch)
    running = Engine(run)
    yield running
    running.close()


def page_of(news: Inspected) -> ModelPage:
    assert news.page is not None, news.problem
    return news.page


def test_checkpoints_are_listed_the_newest_first(engine: Engine, run: Path) -> None:
    told = engine.ask(CheckpointsRequest(0), Checkpoints)
    assert [row.step for row in told.rows] == [300, 200, 100]
    assert [row.epoch for row in told.rows] == [None] * 3
    assert told.rows[0].bytes == (run / "step-300.safetensors").stat().st_size
    assert told.places == (str(run),)


def test_a_checkpoint_that_was_saved_meanwhile_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_here(monkeypatch)
    folder = make_run(tmp_path / "run")
    running = Engine(folder)
    try:
        assert len(running.ask(CheckpointsRequest(0), Checkpoints).rows) == 3
        shutil.copy(folder / "step-300.safetensors", folder / "step-400.safetensors")
        rows = running.ask(CheckpointsRequest(0), Checkpoints).rows
        assert [row.step for row in rows] == [400, 300, 200, 100]
    finally:
        running.close()


def test_rows_of_the_tree_add_up_in_the_order_of_the_model(engine: Engine, run: Path) -> None:
    page = page_of(engine.look(run / "step-300.safetensors"))
    top = page.branches[""]
    assert sum(row.parameters for row in top) == page.parameters
    assert top[-1].cumulative == pytest.approx(1.0)
    for row in top:
        below = page.branches.get(row.key, ())
        assert len(below) == row.children
        if below:
            assert sum(one.parameters for one in below) == row.parameters
            assert below[-1].cumulative == pytest.approx(row.cumulative)


def test_what_is_told_needs_no_numpy(engine: Engine, run: Path) -> None:
    shapes = engine.look(run / "step-300.safetensors")
    values = engine.look(run / "step-300.safetensors", needs_values=True)
    moved = engine.look(run / "step-300.safetensors", against=str(run / "step-200.safetensors"))
    memory = engine.ask(MemoryRequest(1, 0), MemoryTold)
    assert memory.parts
    for news in (shapes, values, moved, memory):
        packed = pickle.dumps(news)
        assert b"numpy" not in packed
        assert b"analyzers.weights" not in packed
        assert b"analyzers.memory" not in packed


def test_many_rows_come_in_pieces(
    engine: Engine, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, "PIECE", 2)
    monkeypatch.setattr(branches, "AT_FIRST", 2)
    page = page_of(engine.look(run / "step-300.safetensors"))
    assert page.top == 3
    assert list(page.branches) == [""]
    assert len(page.branches[""]) == 2
    rest = engine.ask(BranchRequest(1, "", 2), Branch)
    assert [row.name for row in rest.rows] == ["lm_head.weight"]
    group = page.branches[""][1]
    inside = engine.ask(BranchRequest(1, group.key, 0), Branch)
    assert [row.name for row in inside.rows] == ["h.0", "h.1"]
    assert not engine.ask(BranchRequest(99, "", 0), Branch).rows


def test_values_that_were_read_are_not_read_again(
    engine: Engine, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = run / "step-300.safetensors"
    assert page_of(engine.look(path, needs_values=True)).has_values

    def never(*_: object, **__: object) -> None:
        raise AssertionError("it was read again")

    monkeypatch.setattr(engine_looking, "read_checkpoint", never)
    assert page_of(engine.look(path)).has_values


def test_a_file_that_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look_here(monkeypatch)
    folder = make_run(tmp_path / "run")
    path = folder / "step-300.safetensors"
    engine = Engine(folder)
    try:
        assert page_of(engine.look(path, needs_values=True)).diagnosis.has_alarm
        shutil.copy(folder / "step-100.safetensors", path)
        assert not page_of(engine.look(path, needs_values=True)).diagnosis.has_alarm
    finally:
        engine.close()


def test_the_engine_follows_its_runs_while_values_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run")
    engine = Engine(folder)

    def endless(
        path: str, *, progress: Callable[[int, int], None], cancelled: Callable[[], bool], **_: Any
    ) -> None:
        progress(1, 4)
        while not cancelled():
            threading.Event().wait(0.01)
        raise CheckpointCancelled("no longer wanted")

    monkeypatch.setattr(engine_looking, "read_checkpoint", endless)
    try:
        wish = InspectRequest(7, 0, str(folder / "step-300.safetensors"), needs_values=True)
        assert engine.ask(wish, Inspecting) == Inspecting(7, 1, 4)
        log = write_log(folder / "train.log", healthy(steps=360))
        engine.inbox.changed({log})
        engine.hear(StatusChanged, lambda news: news.status.step == 358)
        ended = engine.ask(StopInspect(7), Inspected)
        assert ended == Inspected(7, is_cancelled=True)
    finally:
        engine.close()


def test_a_fault_in_a_look_is_told_and_the_engine_goes_on(
    engine: Engine, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nobody foresaw this")

    with monkeypatch.context() as patch:
        patch.setattr(engine_looking, "read_checkpoint", broken)
        assert "ZeroDivisionError" in engine.look(run / "step-100.safetensors").problem
    assert page_of(engine.look(run / "step-100.safetensors"))


def test_a_run_or_a_file_that_is_gone_is_told(engine: Engine, run: Path) -> None:
    assert engine.look(run / "nothing.safetensors").problem
    wish = InspectRequest(5, 99, str(run / "step-100.safetensors"))
    assert "does not know this run" in engine.ask(wish, Inspected).problem
    assert engine.ask(MemoryRequest(99, 0), MemoryTold).problem


def test_a_checkpoint_of_torch_with_its_optimizer(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    write_log(tmp_path / "run" / "train.log", healthy(steps=60))
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.rand(4, 8)).sum().backward()
    optimizer.step()
    path = tmp_path / "run" / "last.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 1}, path)
    engine = Engine(tmp_path / "run")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine_looking, "LIMITS", Limits(reader="own"))
            page = page_of(engine.look(path, needs_values=True))
    finally:
        engine.close()
    facts = dict(page.facts)
    assert "Adam" in facts["optimizer"]
    assert page.step == 1
    weight = next(row for rows in page.branches.values() for row in rows if row.name == "0.weight")
    assert weight.values is not None
    assert dict(weight.notes)["trained"] == "yes"
    assert os.path.basename(page.path) == "last.pt"
