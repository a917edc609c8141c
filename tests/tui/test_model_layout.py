"""The model view laid out: every line in its room, and only the lines in sight."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.verdict import Diagnosis
from mltd.tui.engine.model_protocol import (
    BalanceRow,
    Branch,
    CheckpointRow,
    Checkpoints,
    Inspected,
    MisfitRow,
    ModelPage,
    ModuleRow,
    MovePage,
    MoveRow,
    TensorValues,
)
from mltd.tui.findings.spans import cells, text_of
from mltd.tui.model.detail import detail
from mltd.tui.model.empty import notice_blocks
from mltd.tui.model.head import head
from mltd.tui.model.items import Item
from mltd.tui.model.outline import outline
from mltd.tui.model.revealing import way_to
from mltd.tui.model.rows import line_of, share_bar, share_text
from mltd.tui.model.study import Look, Mode, Study
from mltd.tui.widgets import model_list
from mltd.tui.widgets.model_pane import ModelPane
from tests.tui.app_scene import piloted
from tests.tui.hosting import Host

NOW = 10_000.0
NAMES = st.text(max_size=120) | st.sampled_from(["\u5bbd" * 50, "\x1b[31m[red]", "a\nb"])


def module(name: str = "h.0.weight", **more: Any) -> ModuleRow:
    tensor = ModuleRow(
        key=f"t:{name}", label=name, name=name, sort="tensor", parameters=100, share=0.25,
        cumulative=0.5, bytes=400, tensors=1, children=0, kind="attention",
        dtypes=(("float32", 100),), shape=(10, 10), notes=(("for", "attention (parameter)"),),
    )  # fmt: skip
    return tensor._replace(**more)


def page(rows: tuple[ModuleRow, ...], top: int | None = None) -> ModelPage:
    return ModelPage(
        path="/runs/a/step-300.pt", parameters=400, tensors=len(rows), bytes=1600,
        has_values=False, step=300, epoch=None, facts=(("types", "float32"),),
        balance=(BalanceRow("attention", 400, 1.0, 4, "h.0.weight"),),
        diagnosis=Diagnosis("healthy"), advice=(), top=len(rows) if top is None else top,
        branches={"": rows},
    )  # fmt: skip


def studied(shown: ModelPage | None = None, checkpoints: int = 1) -> Study:
    study = Study(0, "run")
    rows = [CheckpointRow(f"/runs/a/{n}.pt", f"{n}.pt", 1600, NOW - n) for n in range(checkpoints)]
    study.take(Checkpoints(0, tuple(rows), ("/runs/a",)))
    if shown is not None:
        study.begin(Look(1, "/runs/a/0.pt", needs_values=False))
        study.end(Inspected(1, shown))
    return study


@given(NAMES, st.integers(20, 170), st.integers(0, 60), st.booleans())
def test_a_line_never_leaves_its_room(name: str, width: int, depth: int, is_bad: bool) -> None:
    items = [
        Item("a", depth=depth, module=module(name, bad=int(is_bad))),
        Item("b", depth=depth, module=module(name, sort="module", children=3, frozen=100)),
        Item("c", checkpoint=CheckpointRow(name, name, 1 << 40, 0.0, 12_000, None, "scp")),
        Item("d", move=MoveRow(name, 10, 1.0, 0.5, 0.5, is_bad)),
        Item("e", misfit=MisfitRow("first", name, "only in the first", name)),
        Item("f", "and 3 more", depth, branch=""),
    ]
    for item in items:
        line = line_of(item, width, now=NOW, largest=1.0)
        assert cells(line) <= width
        assert text_of(line).isprintable()


@given(NAMES, st.integers(12, 120))
def test_the_detail_never_leaves_its_room(name: str, width: int) -> None:
    values = TensorValues(-1.0, 1.0, 0.0, 0.5, 3.0, 0.3, 5, 2, 1, True, 3, (1, 2, 3))
    row = module(name, values=values)
    study = studied(page((row,)))
    for has_facts in (False, True):
        for block in detail(study, Item("a", module=row), width, has_facts=has_facts):
            for line in block.lines:
                assert cells(line) <= width
                assert text_of(line).isprintable()


@pytest.mark.parametrize("width", [30, 58, 78, 120])
def test_the_head_never_leaves_its_room(width: int) -> None:
    study = studied(page((module(),)))
    assert all(cells(line) <= width for line in head(study, width, 24))
    study.begin(Look(2, "/runs/a/0.pt", needs_values=True, done=1 << 20, total=3 << 20))
    lines = head(study, width, 24)
    assert all(cells(line) <= width for line in lines)
    assert "33%" in text_of(lines[0])


def test_shares_that_are_small_are_seen_as_small() -> None:
    assert share_text(0.0004) == "<0.1%"
    assert share_text(0.0) == "0.0%"
    assert share_bar(0.0001, 8).strip()
    assert not share_bar(0.0, 8).strip()
    assert share_bar(1.0, 8) == "\u2588" * 8


def test_of_many_checkpoints_the_newest_are_listed_until_somebody_asks() -> None:
    study = studied(checkpoints=20)
    listed = [item for item in outline(study) if item.checkpoint is not None]
    assert [item.checkpoint.name for item in listed if item.checkpoint] == ["0.pt", "1.pt", "2.pt"]
    assert "and 17 older ones" in [item.text for item in outline(study)]
    study.is_listing_all = True
    assert sum(item.checkpoint is not None for item in outline(study)) == 20


def test_the_way_to_a_tensor_leads_through_alike_modules() -> None:
    group = module("h.0 to h.1", key="2:h.0", sort="group", children=2)
    inner = tuple(module(f"h.{n}", key=f"1:h.{n}", sort="module", children=1) for n in range(2))
    study = studied(page((group,)))
    shown = study.shown
    assert shown is not None
    study.unfold(Branch(1, "2:h.0", 0, inner))
    study.unfold(Branch(1, "1:h.1", 0, (module("h.1.weight"),)))
    assert way_to(shown, "h.1.weight") == ["2:h.0", "1:h.1", "t:h.1.weight"]
    assert way_to(shown, "h.9.weight") is None


def test_a_branch_that_comes_twice_is_taken_once() -> None:
    study = studied(page((module(),), top=3))
    more = (module("a.weight"), module("b.weight"))
    study.unfold(Branch(1, "", 1, more))
    study.unfold(Branch(1, "", 1, more))
    assert study.shown is not None
    assert len(study.shown.rows("")) == 3


def test_a_checkpoint_that_was_written_anew_is_looked_into_again() -> None:
    study = studied(page((module(),)))
    study.take(Checkpoints(0, (study.rows[0]._replace(modified=NOW + 5),)))
    assert study.shown is None


def test_a_failed_wish_leaves_what_was_known() -> None:
    study = studied(page((module(),)))
    study.begin(Look(2, "/runs/a/0.pt", needs_values=True))
    study.end(Inspected(2, problem="it took too long", hint="try again"))
    assert study.shown is not None
    assert study.notice == "it took too long (try again)"


def test_a_remote_checkpoint_tells_its_size_and_how_to_copy_it() -> None:
    study = Study(0, "run")
    row = CheckpointRow("/mirror/a.pt", "a.pt", 5 << 30, NOW, None, None, "scp -r login:/a.pt .")
    study.take(Checkpoints(0, (row,)))
    said = "\n".join(text_of(line) for block in notice_blocks(study, 80) for line in block.lines)
    assert "5 GiB" in said
    assert "scp -r login:/a.pt ." in said
    assert "Nothing is fetched unasked" in said


@piloted
async def test_the_command_for_a_remote_checkpoint_is_copied_and_nothing_is_read() -> None:
    study = Study(0, "run")
    row = CheckpointRow("/mirror/a.pt", "a.pt", 5 << 30, NOW, None, None, "scp -r login:/a.pt .")
    study.take(Checkpoints(0, (row,)))
    host = Host(pane := ModelPane(id="model"), ModelPane.ValuesWanted)
    async with host.run_test(size=(80, 24)) as pilot:
        pane.focus()
        pane.show(study)
        await pilot.press("v", "y")
        assert host.clipboard == "scp -r login:/a.pt ."
        assert not host.heard


@piloted
async def test_of_a_hundred_thousand_tensors_only_those_in_sight_are_laid_out() -> None:
    rows = tuple(module(f"flat.w{n}") for n in range(100_000))
    host = Host(pane := ModelPane(id="model"))
    async with host.run_test(size=(80, 24)) as pilot:
        pane.focus()
        laid_out = mock.Mock(side_effect=line_of)
        with mock.patch.object(model_list, "line_of", laid_out):
            pane.show(studied(page(rows)))
            await pilot.press("end")
            item = pane.item
            assert item is not None
            assert item.module is not None
            assert item.module.name == "flat.w99999"
            laid_out.reset_mock()
            await pilot.press("up", "up", "pageup", "home")
            assert laid_out.call_count < 40 * 4


@piloted
async def test_keys_that_do_nothing_are_left_to_others() -> None:
    host = Host(pane := ModelPane(id="model"))
    async with host.run_test(size=(80, 24)) as pilot:
        pane.focus()
        pane.show(studied(page((module(),))))
        await pilot.pause()
        for action in ("stop", "adopt", "compare", "other"):
            assert not pane.check_action(action, ())
        for action in ("values", "memory", "open", "move"):
            assert pane.check_action(action, ())


def test_a_checkpoint_that_is_listed_is_not_counted_among_the_older_ones() -> None:
    study = studied(checkpoints=7)
    study.choose("/runs/a/5.pt")
    items = outline(study)
    assert sum(item.checkpoint is not None for item in items) == 4
    assert "and 3 older ones" in [item.text for item in items]


def test_a_comparison_is_left_for_the_checkpoint_alone_and_found_again() -> None:
    study = studied(page((module(),)), checkpoints=2)
    alone = study.shown
    moves = MovePage("/runs/a/1.pt", "/runs/a/0.pt", 1, 2, (), (), True)
    study.begin(Look(2, "/runs/a/0.pt", needs_values=False, against="/runs/a/1.pt"))
    study.end(Inspected(2, page((module(),))._replace(moves=moves)))
    assert (study.mode, study.against) == (Mode.MOVES, "/runs/a/1.pt")
    assert "esc ends the comparison" in text_of(head(study, 76, 20)[0])
    study.show_against("")
    assert study.shown is alone
    assert (study.mode, study.against) == (Mode.MODULES, "")
    assert study.compared == "/runs/a/1.pt"
