"""The map of gradients: layers by steps, readable without any colour."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from mltd.tui.engine.curve_protocol import Heat
from mltd.tui.heat_scale import LEVELS, SHARES, scale_of, shade, short_names
from mltd.tui.theming import load_themes
from mltd.tui.widgets.heat_map import EMPTY, HeatMap
from tests.tui.hosting import Host

Check = Callable[[Pilot[None], HeatMap], Awaitable[None]]


def heat_of(rows: Sequence[Sequence[float]], bad: tuple[tuple[int, int], ...] = ()) -> Heat:
    return Heat(
        1,
        layers=tuple(f"model.layers.{number}.attn" for number in range(len(rows))),
        columns=array("d", [100.0 * k for k in range(len(rows[0]))]),
        cells=tuple(array("d", row) for row in rows),
        bad=bad,
    )


SMALL = heat_of([[1e-6, 1e-6, 1e-5], [1e-3, 1e-3, math.nan], [1.0, 1.0, 1.0]], bad=((2, 2),))
TALL = heat_of([[10.0 ** -(k % 7)] * 5 for k in range(100)])


def show(
    check: Check, heat: Heat | None = None, size: tuple[int, int] = (60, 20), theme: str = ""
) -> Host:
    chart = HeatMap(id="chart")
    host = Host(chart, HeatMap.Wanted, HeatMap.PlaceChosen)

    async def run() -> None:
        async with host.run_test(size=size) as pilot:
            if theme:
                for known in load_themes().themes:
                    host.register_theme(known.theme)
                host.theme = theme
            if heat is not None:
                chart.set_heat(heat)
            chart.focus()
            await pilot.pause()
            await check(pilot, chart)
            await pilot.pause()
        assert host.failures == []

    asyncio.run(run())
    return host


def seen(chart: HeatMap) -> list[str]:
    return [chart.render_line(y).text for y in range(chart.size.height)]


def test_norms_are_glyphs_from_light_to_full() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        lines = seen(chart)
        assert lines[0].split() == ["model.layers.0.attn", "step", "200", "norm", "1e-05"]
        assert lines[1].startswith("▸…0.attn")
        assert set(lines[1][9:].strip()) <= {" ", "◆"}
        assert set(lines[7][9:].strip()) == {"▒", "·"}
        assert lines[7].startswith(" …1.attn")
        assert set(lines[13][9:].strip()) == {"█", "×"}
        assert lines[19].split()[0] == "step"

    async def check_scale(pilot: Pilot[None], chart: HeatMap) -> None:
        assert seen(chart)[-1].split()[0] == "1e-6"
        assert "× NaN or Inf" in seen(chart)[-1]
        assert seen(chart)[-2].split() == ["step", "╵0", "╵0", "╵100", "200╵"]

    show(check, SMALL, size=(60, 21))
    show(check_scale, SMALL, size=(60, 15))


def test_keys_move_the_cursor_and_enter_chooses_its_step() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        await pilot.press("down", "left")
        assert chart.read_out == "model.layers.1.attn  step 100  norm 0.001"
        await pilot.press("j", "l", "l")
        assert (
            chart.read_out == "model.layers.2.attn  step 200  × NaN or infinite, norm 1 otherwise"
        )
        await pilot.press("k", "home")
        assert (chart.row, chart.column) == (1, 0)
        await pilot.press("end", "up", "h", "enter")
        assert (chart.row, chart.column) == (0, 1)

    host = show(check, SMALL)
    assert HeatMap.PlaceChosen(100.0).x in [
        message.x for message in host.heard if isinstance(message, HeatMap.PlaceChosen)
    ]


def test_a_cell_without_a_norm_says_so() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        await pilot.press("down")
        assert chart.read_out == "model.layers.1.attn  step 200  no norm"

    show(check, SMALL)


def test_more_layers_than_lines_scroll_and_are_counted() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        assert str(chart.border_subtitle) == "layers 1-17 of 100"
        await pilot.press("pagedown", "pagedown")
        assert chart.row == 32
        assert str(chart.border_subtitle) == "layers 17-33 of 100"
        assert any(line.startswith("▸…32.attn") for line in seen(chart))
        await pilot.press("pageup", "pageup", "pageup")
        assert str(chart.border_subtitle) == "layers 1-17 of 100"

    show(check, TALL)


def test_the_room_for_columns_is_told_when_it_changes() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        await pilot.resize_terminal(100, 20)
        await pilot.pause()
        chart.set_heat(SMALL)

    host = show(check)
    told = [message.columns for message in host.heard if isinstance(message, HeatMap.Wanted)]
    assert told == [48, 88, 91]


def test_new_norms_leave_the_cursor_where_it_was() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        longer = SMALL._replace(columns=array("d", [0.0, 50.0, 100.0, 150.0, 200.0]),
                         cells=tuple(array("d", [1.0] * 5) for _ in range(3)), bad=())  # fmt: skip
        await pilot.press("down", "left")
        chart.set_heat(longer)
        assert (chart.row, chart.column) == (1, 2)
        await pilot.press("end")
        chart.set_heat(SMALL)
        assert (chart.row, chart.column) == (1, 2)

    show(check, SMALL)


def test_the_same_norms_are_not_drawn_again() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        calls: list[int] = []
        original = chart.render_line
        chart.render_line = lambda y: (calls.append(y), original(y))[1]  # type: ignore[method-assign, func-returns-value]
        chart.set_heat(SMALL._replace(ticket=2, cells=tuple(array("d", r) for r in SMALL.cells)))
        await pilot.pause()
        assert calls == []
        await pilot.press("left")
        assert set(calls) < set(range(8))

    show(check, SMALL)


def test_a_click_moves_the_cursor() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        await pilot.click(HeatMap, offset=(12, 10))
        assert (chart.row, chart.column) == (1, 0)

    show(check, SMALL)


def test_a_run_without_layers_is_told_what_to_do() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        assert "reading..." in seen(chart)[10]
        chart.set_heat(Heat(1))
        assert seen(chart)[10].strip() == EMPTY
        await pilot.press("down", "end", "pagedown", "enter")

    host = show(check, size=(80, 20))
    assert not any(isinstance(message, HeatMap.PlaceChosen) for message in host.heard)


@pytest.mark.parametrize("size", [(10, 3), (30, 5), (300, 100)])
def test_any_size_and_any_name_is_drawn_in_full(size: tuple[int, int]) -> None:
    names = ("[bold]x[/y]", "\x1b[31m.layer", "層" * 40)
    heat = SMALL._replace(layers=names)

    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        for y in range(chart.size.height):
            strip = chart.render_line(y)
            assert strip.cell_length == chart.size.width
            assert strip.text.isprintable()

    show(check, heat, size=size)


def test_without_colours_glyphs_alone_tell_the_norms() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        styles = chart._styles()
        assert len(styles) == LEVELS + 2
        assert all(style.bgcolor is None for style in styles)

    show(check, SMALL, theme="mono")


# -- parts ---------------------------------------------------------------------------------


def test_the_scale_spans_the_norms_by_decades() -> None:
    scale = scale_of([[1e-8, 1.0], [0.0, math.nan]])
    assert [scale.level(norm) for norm in (1e-8, 1e-4, 1.0)] == [0, LEVELS // 2, LEVELS - 1]
    assert (scale.level(0.0), scale.level(-1.0), scale.level(math.nan)) == (0, 0, None)
    assert [shade(level) for level in (0, LEVELS - 1)] == [" ", "█"]


def test_norms_that_hardly_differ_do_not_look_as_if_they_did() -> None:
    scale = scale_of([[1.0, 1.01, 0.99]])
    assert len({scale.level(norm) for norm in (1.0, 1.01, 0.99)}) <= 2
    assert scale.high - scale.low == pytest.approx(1.0)


@given(st.lists(st.lists(st.floats(), max_size=5), max_size=5))
def test_any_norm_has_a_level(rows: list[list[float]]) -> None:
    scale = scale_of(rows)
    for row in rows:
        for norm in row:
            level = scale.level(norm)
            assert level is None if math.isnan(norm) else level in range(LEVELS)


def test_what_all_names_share_is_left_out_by_whole_words() -> None:
    assert short_names(["net.layers.1.fc", "net.layers.12.fc"]) == ["…1.fc", "…12.fc"]
    assert short_names(["conv1", "conv2"]) == ["conv1", "conv2"]
    assert short_names(["alone.by.itself"]) == ["alone.by.itself"]
    assert short_names([]) == []


SEVERAL = ("grad_norm", "act_dead")


def test_another_quantity_is_asked_for_and_told_in_the_title() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        assert str(chart.border_title) == "gradient norm per layer (1 of 2)"
        await pilot.press("m")
        assert chart.quantity == "act_dead"
        shares = SMALL._replace(
            quantity="act_dead", cells=tuple(array("d", [0.0, 0.5, 1.0]) for _ in range(3)), bad=()
        )
        chart.set_heat(shares._replace(quantities=SEVERAL))
        await pilot.pause()
        assert str(chart.border_title) == "dead units per layer (2 of 2)"
        assert chart.read_out.endswith("dead 100%")
        assert "log scale" not in chart.render_line(chart.size.height - 1).text
        await pilot.press("m")
        assert chart.quantity == "grad_norm"

    host = show(check, SMALL._replace(quantities=SEVERAL))
    wanted = [message for message in host.heard if isinstance(message, HeatMap.Wanted)]
    assert len(wanted) == 4  # twice for the room there is, and once for each key


def test_a_run_with_gradients_alone_offers_no_other_quantity() -> None:
    async def check(pilot: Pilot[None], chart: HeatMap) -> None:
        assert str(chart.border_title) == "gradient norm per layer"
        assert chart.check_action("quantity", ()) is False
        await pilot.press("m")
        assert chart.quantity == "grad_norm"

    show(check, SMALL)


def test_shares_have_a_scale_of_their_own() -> None:
    assert [SHARES.level(share) for share in (0.0, 0.5, 1.0)] == [0, LEVELS // 2, LEVELS - 1]
    assert SHARES.ends == ("0%", "100%")
