"""The run picker: typing filters, keys move, the rows live."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Static

from mltd.tui.cells import fitted, fitted_middle, fitted_right
from mltd.tui.engine.protocol import Health, RunRow
from mltd.tui.quantities import full_count, short_age, short_count, short_value
from mltd.tui.run_list import Heading, Order, arrange, matching
from mltd.tui.screens.run_picker import RunPicker
from mltd.tui.widgets.run_columns import lay_out
from mltd.tui.widgets.run_table import RunTable, progress_of
from tests.tui.hosting import Host

NOW = 1_000_000.0
ROWS = (
    RunRow(0, "alpha", "/here/alpha", "running", 50, 100, 1.5, (3.0, 2.0, 1.5), Health.FINE, "",
           NOW - 300),
    RunRow(1, "beta-9", "/here/beta", "failed", 70, 100, float("nan"), (3.0, float("nan")),
           Health.CRITICAL, "loss is NaN from step 60 on", NOW - 7200),
    RunRow(2, "beta-10", "/here/gamma", "", modified=NOW - 20),
    RunRow(3, "delta", "/there/delta", "finished", health=Health.WARNING, headline="slow",
           modified=NOW - 9e5),
)  # fmt: skip

Check = Callable[[Pilot[None], RunPicker], Awaitable[None]]


def pick(
    check: Check,
    rows: tuple[RunRow, ...] = ROWS,
    size: tuple[int, int] = (80, 24),
    directories: tuple[str, ...] = (),
    allows_close: bool = True,
) -> list[int | str | None]:
    """What the picker ended with, if it did, after these checks."""
    results: list[int | str | None] = []

    async def run() -> None:
        host = Host(Static())
        picker = RunPicker(
            rows,
            title="runs [b]of[/b] ann",
            allows_close=allows_close,
            directories=directories,
            clock=lambda: NOW,
        )
        async with host.run_test(size=size) as pilot:
            await host.push_screen(picker, results.append)
            await pilot.pause()
            await check(pilot, picker)
            await pilot.pause()
        assert host.failures == []

    asyncio.run(run())
    return results


def names(picker: RunPicker) -> list[str]:
    return [line.title if isinstance(line, Heading) else line.name for line in picker.table.lines]


def seen(picker: RunPicker) -> list[str]:
    return [picker.table.render_line(y).text.rstrip() for y in range(picker.table.size.height)]


def text_of(picker: RunPicker, selector: str) -> str:
    return str(picker.query_one(selector, Static).content)


# -- flows ---------------------------------------------------------------------------------


def test_enter_opens_the_run_under_the_cursor() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert names(picker) == ["beta-10", "alpha", "beta-9", "delta"]
        await pilot.press("down", "down", "enter")

    assert pick(check) == [1]


def test_typing_filters_and_escape_clears_before_it_closes() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("n", "a", "n")
        assert names(picker) == ["beta-9"]
        assert text_of(picker, "#picker-filter").startswith("filter nan")
        await pilot.press("x")
        assert "no run matches “nanx”" in "".join(seen(picker))
        await pilot.press("backspace")
        assert names(picker) == ["beta-9"]
        await pilot.press("escape")
        assert len(names(picker)) == 4
        await pilot.press("escape")

    assert pick(check) == [None]


def test_words_and_all_of_it_can_be_rubbed_out_and_names_be_pasted() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        picker.on_paste(Paste("beta\n10\x1b"))
        assert picker.wanted == "beta 10\x1b"
        await pilot.press("ctrl+w")
        assert picker.wanted == "beta"
        await pilot.press("ctrl+u")
        assert picker.wanted == ""

    pick(check)


def test_control_keys_move_and_do_not_open_the_command_palette() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("ctrl+n", "ctrl+n", "ctrl+p")
        assert picker.table.current is not None
        assert picker.table.current.name == "alpha"
        assert pilot.app.screen is picker
        await pilot.press("end")
        assert picker.table.current.name == "delta"
        await pilot.press("home")
        assert picker.table.current.name == "beta-10"

    pick(check)


def test_letters_that_are_keys_elsewhere_are_only_letters_here() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("q", "j", "G")
        assert picker.wanted == "qjG"

    assert pick(check) == []


def test_the_order_goes_round() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("ctrl+s")
        assert names(picker) == ["beta-9", "delta", "beta-10", "alpha"]
        await pilot.press("tab")
        assert names(picker) == ["alpha", "beta-9", "beta-10", "delta"]
        assert picker.table.current is not None
        assert picker.table.current.name == "alpha"
        await pilot.press("ctrl+s")
        assert picker.order is Order.NEWEST

    pick(check)


def test_without_anything_behind_it_the_picker_does_not_close() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("escape")
        assert pilot.app.screen is picker
        shown = {active.binding.description for active in picker.active_bindings.values()}
        assert "Quit" in shown
        assert "Close" not in shown

    assert pick(check, allows_close=False) == []


def test_a_click_points_and_the_second_opens() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.click(RunTable, offset=(5, 3), times=2)

    assert pick(check) == [1]


# -- facts ---------------------------------------------------------------------------------


def test_the_cursor_stays_on_its_run_while_rows_come_and_go() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("down")
        newer = tuple(row._replace(modified=NOW) for row in ROWS[1:])
        picker.set_rows((*newer, ROWS[0], RunRow(9, "new", "/here/new", modified=NOW)))
        assert picker.table.current is not None
        assert picker.table.current.name == "alpha"
        picker.set_rows(ROWS[1:])
        assert picker.table.current.name != "alpha"
        picker.update_rows((ROWS[2]._replace(state="running", name="renamed"),))
        assert "renamed" in names(picker)

    pick(check)


def test_rows_can_change_before_the_picker_is_shown() -> None:
    picker = RunPicker(ROWS[:1])
    picker.set_rows(ROWS)
    picker.update_rows(ROWS[:1])


def test_only_what_changed_is_drawn_again() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        drawn: list[int] = []
        original = picker.table.draw_line

        def spy(number: int, width: int, is_current: bool) -> object:
            drawn.append(number)
            return original(number, width, is_current)

        picker.table.draw_line = spy  # type: ignore[assignment, method-assign]
        picker.set_rows(ROWS)
        picker.table.tick()
        await pilot.pause()
        assert drawn == []
        picker.update_rows((ROWS[0]._replace(last_loss=1.25),))
        await pilot.pause()
        assert set(drawn) == {1}

    pick(check)


def test_a_row_says_everything_there_is() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        lines = seen(picker)
        assert lines[0].split() == ["run", "state", "step", "loss", "trend", "age", "worst",
                                    "finding"]  # fmt: skip
        assert lines[1].split() == ["▸?", "beta-10", "reading...", "now"]
        assert lines[2].split() == [
            "✔",
            "alpha",
            "▶",
            "running",
            "50/100",
            "50%",
            "1.5",
            "█▃▁",
            "5m",
        ]
        assert lines[3].startswith(" ✖ beta-9")
        assert "✖ failed" in lines[3]
        assert "nan" in lines[3]
        assert "loss is NaN from step 60 on" in lines[3]
        await pilot.press("down", "down")
        assert text_of(picker, "#picker-more") == "loss is NaN from step 60 on\n/here/beta/"

    pick(check, size=(140, 24))


def test_recent_runs_elsewhere_have_a_section_of_their_own() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert names(picker)[-2:] == ["recent, in other directories", "delta"]
        await pilot.press("end", "up")
        assert picker.table.current is not None
        assert picker.table.current.name == "beta-9"

    pick(check, directories=("/here",))


def test_no_run_at_all_is_a_calm_sentence() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert "no runs under /here: give a log file, or start" in " ".join("".join(
            seen(picker)).split())  # fmt: skip
        await pilot.press("down", "enter")

    assert pick(check, rows=(), directories=("/here",)) == []


HOSTILE = (
    "[bold]x[/nonsense]",
    "\x1b]0;owned\x07\x1b[31mred",
    "a\nb\rc\td",
    "日本語" * 30,
    "‮evil",
    "",
)


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (200, 50)])
def test_hostile_names_are_text_and_fit(size: tuple[int, int]) -> None:
    rows = tuple(
        RunRow(k, text, text, text, headline=text, health=Health.CRITICAL, last_loss=1e300)
        for k, text in enumerate(HOSTILE)
    )

    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        for y in range(picker.table.size.height):
            strip = picker.table.render_line(y)
            assert strip.cell_length == picker.table.scrollable_content_region.width
            assert strip.text.isprintable()
        for selector in ("#picker-more", "#picker-filter"):
            assert text_of(picker, selector).replace("\n", "").isprintable()
        assert "[bold]" in "".join(seen(picker))

    pick(check, rows=rows, size=size)


def test_thousands_of_runs_cost_what_is_seen_of_them() -> None:
    rows = tuple(RunRow(k, f"run-{k}", f"/r/{k}", modified=float(k)) for k in range(5000))

    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        drawn: set[int] = set()
        original = picker.table.draw_line

        def spy(number: int, width: int, is_current: bool) -> object:
            drawn.add(number)
            return original(number, width, is_current)

        picker.table.draw_line = spy  # type: ignore[assignment, method-assign]
        await pilot.press("end", "pageup", "4", "9")
        assert len(drawn) < 5 * picker.table.size.height
        assert len(list(picker.query("*"))) < 40
        assert picker.table.current is not None

    pick(check, rows=rows)


# -- parts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [58, 78, 118, 158, 298])
def test_columns_fill_the_width_and_no_more(width: int) -> None:
    for longest in (0, 12, 90):
        columns = lay_out(width, longest)
        shown = [columns.name, columns.state, columns.progress, columns.loss, columns.age]
        shown += [size for size in (columns.trend, columns.headline) if size]
        assert 3 + sum(shown) + columns.gap * (len(shown) - 1) == width
    assert (lay_out(78, 20).trend, lay_out(78, 20).headline >= 12) == (8, True)


def test_letters_in_order_are_enough_where_no_word_fits() -> None:
    assert [row.name for row in matching(list(ROWS), "bt10")] == ["beta-10"]
    assert [row.name for row in matching(list(ROWS), "beta fail")] == ["beta-9"]


@given(st.lists(st.text(max_size=8), max_size=8), st.text(max_size=4))
def test_arranging_never_invents_nor_doubles_a_run(titles: list[str], wanted: str) -> None:
    rows = [RunRow(k, title, f"/{k}") for k, title in enumerate(titles)]
    for order in Order:
        found = [line.run for line in arrange(rows, wanted, order) if isinstance(line, RunRow)]
        assert len(set(found)) == len(found) <= len(rows)


@pytest.mark.parametrize(
    ("row", "width", "expected"),
    [
        (RunRow(0, "", "", step=12_345, total_steps=50_000), 15, "12.3k/50k  25%"),
        (RunRow(0, "", "", step=12_345, total_steps=50_000), 10, "12.3k/50k"),
        (RunRow(0, "", "", step=12_345), 10, "12.3k"),
        (RunRow(0, "", "", epoch=3, total_epochs=20), 10, "ep 3/20"),
        (RunRow(0, "", ""), 10, ""),
    ],
)
def test_progress_is_as_long_as_there_is_room(row: RunRow, width: int, expected: str) -> None:
    assert progress_of(row, width) == expected


@given(st.text(max_size=30), st.integers(0, 40))
def test_any_text_takes_exactly_its_cells(text: str, width: int) -> None:
    for fit in (fitted, fitted_right, fitted_middle):
        shown = fit(text, width)
        assert cell_len(shown) == width
        assert shown.isprintable()


@given(st.floats(min_value=0))
def test_numbers_are_short(value: float) -> None:
    assert len(short_value(value)) <= 9
    assert len(short_count(value)) <= 8 or value >= 1e15
    assert full_count(value)


@given(st.floats(min_value=-1e6, max_value=1e12))
def test_ages_are_short(seconds: float) -> None:
    assert len(short_age(seconds)) <= 3
