"""The model view in the app: what the weights of a run say, and what is done with it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mltd.runs.checkpoints import CheckpointCancelled, Limits
from mltd.tui.engine.inspecting import branches
from mltd.tui.engine.inspecting import looking as engine_looking
from mltd.tui.engine.model_protocol import InspectRequest, StopInspect
from mltd.tui.engine.protocol import Open, RunsFound
from mltd.tui.screens.confirm import ConfirmScreen
from tests.tui.app_scene import Served, Stage, healthy, piloted, staged, write_log
from tests.tui.model_scene import look_here, looking, make_run, pane, read, save, study, weights


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("model") / "run")


REAL = pytest.mark.parametrize("is_apart", [True], ids=["worker"])
"""For tests that need the process which reads checkpoints; starting it takes a while."""


@pytest.fixture
def is_apart() -> bool:
    return False


@pytest.fixture(autouse=True)
def _at_once(is_apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_apart:
        look_here(monkeypatch)
    else:
        monkeypatch.setattr(engine_looking, "LIMITS", Limits(reader="own"))


def cursor_on(stage: Stage, text: str) -> None:
    """Put the cursor on the first line with this text."""
    lines = pane(stage)._list
    for place, item in enumerate(lines.items):
        found = item.module or item.checkpoint or item.move or item.finding or item.misfit
        named = getattr(found, "label", "") or getattr(found, "name", "") or item.text
        named = named or (item.finding.id if item.finding is not None else "")
        if text in named and not item.is_heading:
            lines.move_to(place)
            return
    raise AssertionError(f"no line has {text}:\n{stage.text}")


def wishes(stage: Stage) -> list[InspectRequest]:
    """Looks that the engine was asked for."""
    assert isinstance(stage.bridge, Served)
    return stage.bridge.of(InspectRequest)


@piloted
async def test_the_view_lists_checkpoints_and_tells_what_shapes_tell_of_the_newest(
    run: Path,
) -> None:
    async with looking(run, size=(160, 48)) as stage:
        for text in ("step-300.safetensors", "step 200", "step-100", "16m"):
            assert text in stage.text
        assert "8,928 parameters · 17 tensors · float32" in stage.text
        assert "attention" in stage.text
        assert "v reads the values" in stage.text
        assert "wte.weight" in stage.text
        assert "h.0-2 (3x)" in stage.text
        (wish,) = wishes(stage)
        assert not wish.needs_values
        await stage.press("2", "8")
        await read(stage)
        assert len(wishes(stage)) == 1, "what is known is not read again"


@piloted
async def test_values_are_read_on_request_and_findings_stand_first(run: Path) -> None:
    async with looking(run) as stage:
        assert "NaN" not in stage.text
        await stage.press("v")
        await read(stage)
        assert "✖ critical" in stage.text
        first = pane(stage).item
        assert first is not None
        assert first.finding is not None
        assert "h.2.mlp.down.weight" in first.finding.title
        assert "h.2.mlp.down.weight" in stage.text
        assert "by observation" in stage.text


@piloted
async def test_modules_unfold_and_fold_and_the_name_of_a_tensor_is_copied(run: Path) -> None:
    async with looking(run, size=(80, 30)) as stage:
        cursor_on(stage, "h.0-2")
        await stage.press("enter", "down", "right")
        assert "attn" in stage.text
        assert "mlp" in stage.text
        await stage.press("left")
        assert "attn" not in "".join(i.module.label for i in pane(stage)._list.items if i.module)
        await stage.press("left")
        assert pane(stage).item is not None
        await stage.press("enter")
        cursor_on(stage, "wte.weight")
        await stage.press("y")
        assert stage.app.clipboard == "wte.weight"
        rows = [i.module.label for i in pane(stage)._list.items if i.module]
        assert rows == ["wte.weight", "h.0-2 (3x)", "lm_head.weight"]


@piloted
async def test_rows_that_are_not_here_are_fetched_as_one_gets_to_them(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, "PIECE", 2)
    monkeypatch.setattr(branches, "AT_FIRST", 2)
    async with looking(run, size=(80, 30)) as stage:
        assert "and 1 more" in stage.text
        await stage.press("end")
        await read(stage, lambda: "lm_head" in stage.text)
        item = pane(stage).item
        assert item is not None
        assert item.module is not None
        assert item.module.name == "lm_head.weight"
        cursor_on(stage, "h.0-2")
        await stage.press("enter")
        await read(stage, lambda: "and 1 more" in stage.text)


@piloted
async def test_a_pane_that_is_laid_out_late_is_drawn_all_the_same(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = (str(run),)
    async with staged(Served(Open(names)), *names) as stage:
        await stage.until(lambda: stage.app.desk is not None)
        # What was put off until after the next picture comes before the pane has a size.
        with monkeypatch.context() as patch:
            patch.setattr(stage.main, "call_after_refresh", lambda call, *given: call(*given))
            stage.main.action_view("model")
        await read(stage, lambda: study(stage).is_listed)


@piloted
async def test_a_finding_becomes_a_hypothesis_and_its_evidence_leads_to_its_tensor(
    run: Path,
) -> None:
    async with looking(run) as stage:
        await stage.press("v")
        await read(stage)
        await stage.press("h")
        desk = stage.app.desk
        assert desk is not None
        await stage.until(lambda: desk.session.hypotheses)
        (hypothesis,) = desk.session.hypotheses
        assert "h.2.mlp.down.weight" in hypothesis.evidence[0].ref
        await stage.press("right", "enter")
        await stage.shows("32 NaN")
        item = pane(stage).item
        assert item is not None
        assert item.module is not None
        assert item.module.name == "h.2.mlp.down.weight"


@REAL
@piloted
async def test_comparing_shows_what_moved_and_what_never_did(run: Path) -> None:
    async with looking(run, size=(160, 48)) as stage:
        await stage.press("n")
        await read(stage)
        assert study(stage).chosen.endswith("step-200.safetensors")
        await stage.press("d")
        await read(stage)
        assert "step-100.safetensors → step-200.safetensors" in stage.text
        assert "What moved" in stage.text
        shown = study(stage).shown
        assert shown is not None
        assert shown.page.has_values
        (still,) = (i for i in pane(stage)._list.items if i.move and i.move.is_still)
        assert still.move is not None
        assert still.move.name == "h.1.mlp.up"
        cursor_on(stage, "wte")
        await stage.pilot.pause()
        assert "0.02 of its norm" in stage.text
        await stage.press("escape")
        assert "Modules" in stage.text
        assert "step-100.safetensors → " not in stage.text
        assert "did not move" not in stage.text
        asked = len(wishes(stage))
        await stage.press("d")
        assert "step-100.safetensors → step-200.safetensors" in stage.text
        await stage.press("d")
        assert "step-100.safetensors → " not in stage.text
        assert len(wishes(stage)) == asked


@piloted
async def test_the_header_of_the_run_does_not_contradict_its_weights(run: Path) -> None:
    async with looking(run) as stage:
        assert "healthy" in stage.text
        await stage.press("v")
        await read(stage)
        assert "critical: 1 finding in the weights" in stage.text
        assert "✖ weights: critical" in stage.text
        assert "healthy" not in stage.text
        await stage.press("n")
        await read(stage)
        assert "healthy" in stage.text


@piloted
async def test_the_checkpoint_under_the_cursor_is_compared_with_the_shown_one(run: Path) -> None:
    async with looking(run) as stage:
        cursor_on(stage, "step-100")
        await stage.press("d")
        await read(stage)
        wish = wishes(stage)[-1]
        assert wish.path.endswith("step-300.safetensors")
        assert wish.against.endswith("step-100.safetensors")


@piloted
async def test_names_that_do_not_fit_are_told_with_the_closest(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    tensors = weights()
    tensors["lm_heads.weight"] = tensors.pop("lm_head.weight")
    tensors["h.0.ln.weight"] = ([8], [1.0] * 8)
    save(folder / "step-400.safetensors", tensors)
    async with looking(folder, size=(160, 48)) as stage:
        await stage.press("d")
        await read(stage)
        assert "What does not fit" in stage.text
        assert "16 in the first, 8 in the second" in stage.text
        assert "only in the first, closest there lm_heads.weight" in stage.text
        cursor_on(stage, "lm_heads.weight")
        await stage.pilot.pause()
        assert "with the same shape" in stage.text


@piloted
async def test_the_memory_says_how_each_number_is_known(run: Path) -> None:
    async with looking(run) as stage:
        await stage.press("m")
        await read(stage, lambda: "estimated" in stage.text)
        assert "Memory in training" in stage.text
        item = pane(stage).item
        assert item is not None
        assert item.memory is not None
        assert item.memory.origin == "estimated"
        await stage.press("m")
        assert "Modules" in stage.text


@piloted
async def test_a_large_file_is_asked_about_with_its_size(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mltd.tui.inspecting_app.ASK_FROM", 1000)
    async with looking(run) as stage:
        before = len(wishes(stage))
        await stage.press("v")
        await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen))
        assert "KiB to read" in stage.text
        await stage.press("n")
        await stage.pilot.pause()
        assert len(wishes(stage)) == before
        await stage.press("v")
        await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen))
        await stage.press("y")
        await read(stage)
        assert wishes(stage)[-1].needs_values
        assert "✖ critical" in stage.text


@piloted
async def test_escape_stops_what_is_being_read_and_what_was_known_stays(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_reading = threading.Event()

    def endless(
        path: str, *, progress: Callable[[int, int], None], cancelled: Callable[[], bool], **_: Any
    ) -> None:
        progress(1 << 30, 2 << 30)
        is_reading.set()
        while not cancelled():
            threading.Event().wait(0.01)
        raise CheckpointCancelled("no longer wanted")

    async with looking(run) as stage:
        monkeypatch.setattr(engine_looking, "read_checkpoint", endless)
        await stage.press("v")
        await stage.until(is_reading.is_set)
        await stage.shows("50% of 2 GiB", "reading values of step-300")
        await stage.press("escape")
        await read(stage)
        assert isinstance(stage.bridge, Served)
        assert stage.bridge.of(StopInspect)
        assert "Stopped" in stage.text
        assert "wte.weight" in stage.text


@REAL
@piloted
async def test_a_file_that_would_run_code_is_refused_with_what_it_asks_for(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")

    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.system, (f"touch {tmp_path}/ran",)

    (folder / "step-900.pth").write_bytes(pickle.dumps({"model": Evil()}, protocol=2))
    async with looking(folder) as stage:
        await stage.shows("could not be looked into")
        assert "posix.system" in stage.text
        assert not (tmp_path / "ran").exists()
        await stage.press("n")
        await read(stage)
        assert "wte.weight" in stage.text


@piloted
async def test_a_file_that_is_cut_off_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    whole = (folder / "step-300.safetensors").read_bytes()
    (folder / "step-500.safetensors").write_bytes(whole[: len(whole) // 2])
    async with looking(folder) as stage:
        await stage.shows("could not be looked into")
        await stage.press("4")
        assert stage.view == "log"


@piloted
async def test_a_run_without_checkpoints_says_where_it_looked(tmp_path: Path) -> None:
    write_log(tmp_path / "bare" / "train.log", healthy(steps=60))
    async with looking(tmp_path / "bare") as stage:
        assert "No checkpoints of this run were found" in stage.text
        assert "safetensors" in stage.text
        assert str(tmp_path)[:40] in stage.text
        await stage.press("d", "v", "m", "n", "y", "enter", "h", "down", "escape")
        assert not wishes(stage)


@piloted
async def test_a_new_engine_is_asked_anew(run: Path) -> None:
    async with looking(run) as stage:
        before = len(wishes(stage))
        assert isinstance(stage.bridge, Served)
        stage.bridge.die()
        await stage.shows("not read yet")
        await stage.hear(RunsFound(tuple(stage.app.book.rows.values())))
        await read(stage, lambda: study(stage).shown)
        assert len(wishes(stage)) == before + 1
        assert "wte.weight" in stage.text


@piloted
async def test_another_run_has_its_own_weights(run: Path, tmp_path: Path) -> None:
    other = write_log(tmp_path / "bare" / "train.log", healthy(steps=60)).parent
    async with looking(run, other) as stage:
        assert "step-300" in stage.text
        await stage.press("right_square_bracket")
        await read(stage, lambda: study(stage).is_listed)
        assert "No checkpoints" in stage.text
        await stage.press("left_square_bracket")
        await read(stage)
        assert "step-300" in stage.text


@pytest.mark.parametrize("size", [(60, 15), (120, 30)])
def test_it_fits_into_every_size(run: Path, size: tuple[int, int]) -> None:
    @piloted
    async def check() -> None:
        async with looking(run, size=size) as stage:
            await stage.press("end", "home", "down", "right", "left", "pagedown")
            assert pane(stage)._list.is_on_screen
            assert "step-300" in stage.text

    check()


@piloted
async def test_hostile_names_are_shown_as_text(tmp_path: Path) -> None:
    folder = write_log(tmp_path / "run" / "train.log", healthy(steps=60)).parent
    names = ("[red]a[/]\x1b[31m.weight", "b\nc\u202e.weight", "x" * 300, "\u5bbd" * 80)
    save(folder / "model.safetensors", {name: ([2, 2], [1.0, 2.0, 3.0, 4.0]) for name in names})
    async with looking(folder) as stage:
        await stage.press("end", "up", "up")
        assert "[red]a[/]" in stage.text
        assert "\x1b" not in stage.text
        assert "\u202e" not in stage.text


def test_the_screen_imports_neither_numpy_nor_torch() -> None:
    code = (
        "import sys, mltd.tui.app, mltd.tui.commands, mltd.tui.widgets.model_pane;"
        "print({'numpy', 'torch', 'anthropic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
