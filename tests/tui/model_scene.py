"""Small checkpoints, really written, and the app looking at them."""

from __future__ import annotations

import os
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mltd.runs.checkpoints import CheckpointSummary, Comparison
from mltd.tui.engine.inspecting import looking as engine_looking
from mltd.tui.engine.protocol import Open
from mltd.tui.model.study import Study
from mltd.tui.widgets.model_pane import ModelPane
from tests.runs.checkpoints.looking import compare, look, write_safetensors
from tests.tui.app_scene import NOW, Served, Stage, healthy, staged, write_log

NAN = float("nan")
BLOCKS = 3
Weights = dict[str, tuple[list[int], list[float]]]


def weights(scale: float = 1.0) -> Weights:
    """A model of words whose embedding holds most of it; always the same numbers."""

    def some(*shape: int) -> tuple[list[int], list[float]]:
        count = 1
        for size in shape:
            count *= size
        return list(shape), [scale * (0.01 + (n * 37 % 101) / 500) for n in range(count)]

    found = {"wte.weight": some(200, 16)}
    for block in range(BLOCKS):
        found[f"h.{block}.attn.qkv.weight"] = some(48, 16)
        found[f"h.{block}.attn.qkv.bias"] = some(48)
        found[f"h.{block}.mlp.up.weight"] = some(32, 16)
        found[f"h.{block}.mlp.down.weight"] = some(16, 32)
        found[f"h.{block}.ln.weight"] = some(16)
    found["lm_head.weight"] = some(10, 16)
    return found


def save(path: Path, tensors: Weights, age: float = 0.0) -> Path:
    """A safetensors file, written so many seconds before the only moment there is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = {
        name: ("F32", shape, struct.pack(f"<{len(values)}f", *values))
        for name, (shape, values) in tensors.items()
    }
    write_safetensors(path, packed)
    os.utime(path, (NOW - age, NOW - age))
    return path


def make_run(folder: Path) -> Path:
    """A run with three checkpoints; in the newest a layer holds NaN, and one never moved."""
    write_log(folder / "train.log", healthy(steps=310))
    save(folder / "step-100.safetensors", weights(), age=3000)
    later = weights(1.02)
    later["h.1.mlp.up.weight"] = weights()["h.1.mlp.up.weight"]
    save(folder / "step-200.safetensors", later, age=2000)
    broken = weights(1.05)
    broken["h.1.mlp.up.weight"] = weights()["h.1.mlp.up.weight"]
    shape, values = broken["h.2.mlp.down.weight"]
    broken["h.2.mlp.down.weight"] = (shape, [NAN] * 32 + values[32:])
    save(folder / "step-300.safetensors", broken, age=1000)
    return folder


def look_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what the worker does done in this process: starting one takes longer than all else."""

    def read_here(path: str, *, needs_values: bool, **_: object) -> CheckpointSummary:
        return look(Path(path), values=needs_values)

    def compare_here(first: str, second: str, **_: object) -> Comparison:
        return compare(Path(first), Path(second))

    monkeypatch.setattr(engine_looking, "read_checkpoint", read_here)
    monkeypatch.setattr(engine_looking, "compare_checkpoints", compare_here)


@asynccontextmanager
async def looking(
    folder: Path, *others: Path, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncIterator[Stage]:
    """The app with the model view open on a run."""
    names = tuple(map(str, (folder, *others)))
    async with staged(Served(Open(names)), *names, size=size, **options) as stage:
        await stage.until(lambda: stage.app.desk is not None)
        await stage.press("8")
        await read(stage, lambda: study(stage).is_listed)
        # It may have been drawn before its clock was stopped.
        rows = pane(stage)._list
        rows.clock = pane(stage).clock
        rows.refresh()
        await stage.pilot.pause()
        yield stage


def pane(stage: Stage) -> ModelPane:
    """The pane."""
    found = stage.main.model
    assert found is not None
    found.clock = lambda: NOW
    return found


def study(stage: Stage) -> Study:
    """What it shows."""
    found = pane(stage).study
    assert found is not None
    return found


async def read(stage: Stage, is_true: Callable[[], object] = lambda: True) -> None:
    """Let the engine go on until nothing is being read and something is true."""
    bridge = stage.bridge
    assert isinstance(bridge, Served)

    def is_done() -> bool:
        # Threads leave their results for the engine, which goes on only if somebody lets it.
        bridge._step()
        found = stage.main.model
        if found is None or found.study is None:
            return False  # mounted, and not told yet what to show
        known = found.study
        is_drawn = found._drawn[:2] == (known, known.version)
        return is_drawn and bool(is_true()) and known.look is None

    try:
        await stage.until(is_done)
    except TimeoutError:
        view = stage.main.model
        known = None if view is None else view.study
        look = None if known is None else known.look
        raise AssertionError(f"still {view} {known} {look}:\n{stage.text}") from None
    await stage.pilot.pause()
