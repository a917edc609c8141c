"""The run picker with jobs: they come first, their time goes on, problems are one quiet line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Static

from mltd.tui.engine.protocol import Health, JobsAsked, RunRow
from mltd.tui.run_list import Heading, Order, Place, arrange, walk
from mltd.tui.screens.run_picker import RunPicker
from mltd.tui.widgets.run_columns import lay_out
from mltd.tui.widgets.run_table import progress_of
from tests.tui.app_scene import NOW
from tests.tui.hosting import Host
from tests.tui.job_rows import JOBS, ROWS, RUNNING, RUNS, TASKS, make_row
from tests.tui.test_run_picker import names, seen, text_of

Check = Callable[[Pilot[None], RunPicker], Awaitable[None]]
ASKED = JobsAsked(NOW - 12)
SIZES = [(60, 20), (80, 24), (100, 30), (160, 48)]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


def pick(
    check: Check,
    rows: Sequence[RunRow] = ROWS,
    *,
    asked: JobsAsked | None = ASKED,
    size: tuple[int, int] = (80, 24),
    **options: Any,
) -> list[int | str | None]:
    """What the picker ended with, if it did, after these checks."""
    results: list[int | str | None] = []
    CLOCK.now = NOW

    async def run() -> None:
        host = Host(Static())
        picker = RunPicker(rows, asked=asked, clock=CLOCK, **options)
        async with host.run_test(size=size) as pilot:
            await host.push_screen(picker, results.append)
            await pilot.pause()
            await check(pilot, picker)
            await pilot.pause()
        assert host.failures == []

    asyncio.run(run())
    return results


def line_of(picker: RunPicker, start: str) -> str:
    return next(line for line in seen(picker) if line[3:].startswith(start))


def test_jobs_come_first_those_that_run_above_those_that_wait_above_those_that_ended() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert names(picker) == [
            "your jobs",
            "48215_7 sweep",
            "48214 gpt2-wide",
            "48213 resnet50-imagenet-lr3e-4",
            "48220 eval",
            "48215_[8-40%4] sweep",
            "48201 bert",
            "48199 vit",
            "48197 old",
            "runs here",
            "baseline.log",
            "lr-3e-3.log",
        ]
        await pilot.press("down", "down", "enter")

    assert pick(check, directories=("/home/ada",)) == [0]


@pytest.mark.parametrize("size", SIZES)
def test_every_line_fits_and_says_what_matters(size: tuple[int, int]) -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        width = picker.table.scrollable_content_region.width
        for y in range(picker.table.size.height):
            assert cell_len(picker.table.render_line(y).text) == width
        assert "1:02/4:00h" in line_of(picker, "48213")
        assert "▲ 3:45/4:00h" in line_of(picker, "48214"), "not by its colour alone"
        assert "90%" in line_of(picker, "48214")
        assert line_of(picker, "48220").split()[2:5:2] == ["◌", "at"]
        for start, word in (("48213", "▶ running"), ("48201", "✖ timed out"), ("48199", "✔ comp")):
            assert word in line_of(picker, start)
        assert "it is next" in line_of(picker, "48220")
        assert "loss is N" in line_of(picker, "48214")

    pick(check, size=size)


def test_a_wide_list_also_has_shares_losses_and_ages() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert "1:02/4:00h    25%" in line_of(picker, "48213")
        assert "1.234" in line_of(picker, "48213")
        assert "4:00h" in line_of(picker, "48201")
        assert " 2h " in line_of(picker, "48201")

    pick(check, size=(160, 40))


def test_a_narrow_list_says_how_long_ago_others_ended() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert "2h ago" in line_of(picker, "48201")
        assert "1d ago" in line_of(picker, "baseline.log")

    pick(check)


def test_time_goes_on_without_an_answer_and_only_what_changed_is_drawn() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert "your jobs, asked 12 s ago" in seen(picker)[1]
        drawn: list[int] = []
        original = picker.table.draw_line

        def spy(number: int, width: int, is_current: bool) -> object:
            drawn.append(number)
            return original(number, width, is_current)

        picker.table.draw_line = spy  # type: ignore[assignment, method-assign]
        picker.table.tick()
        await pilot.pause()
        assert drawn == []
        CLOCK.now += 20
        picker.table.tick()
        await pilot.pause()
        assert set(drawn) == {0}
        assert "your jobs, asked 32 s ago" in seen(picker)[1]
        CLOCK.now += 40
        picker.table.tick()
        await pilot.pause()
        assert "1:03/4:00h" in line_of(picker, "48213")

    pick(check)


def test_a_new_answer_keeps_the_cursor_where_it_is() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("down", "down")
        picker.set_jobs(JobsAsked(NOW))
        picker.set_rows(ROWS)
        assert picker.table.current is not None
        assert picker.table.current.run == 0
        assert "your jobs, asked just now" in seen(picker)[1]

    pick(check)


def test_a_problem_is_one_quiet_line_with_the_age_of_the_last_answer() -> None:
    note = "squeue gave no answer within 5 s; the Slurm controller is busy or down"

    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        (line,) = [line for line in seen(picker) if "squeue" in line]
        assert "your jobs, as of 4 min ago: squeue gave no answer within 5 s" in line
        assert picker.table.current is not None
        assert len(pilot.app._notifications) == 0

    pick(check, asked=JobsAsked(NOW - 240, (note,)))


def test_a_problem_is_told_also_where_there_is_no_job_and_no_run() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert "your jobs: the Slurm controller cannot be reached" in seen(picker)[1]
        await pilot.press("down", "enter")

    asked = JobsAsked(None, ("the Slurm controller cannot be reached",))
    assert pick(check, (), asked=asked) == []


def test_while_nothing_was_answered_yet_that_is_said_and_an_empty_answer_says_nothing() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert "your jobs: asking for them..." in seen(picker)[1]
        picker.set_jobs(JobsAsked(NOW))
        assert names(picker) == ["baseline.log", "lr-3e-3.log"]

    pick(check, RUNS, asked=JobsAsked(is_asking=True))


def test_jobs_that_come_are_shown_to_whoever_has_not_gone_anywhere() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert picker.table.current is not None
        picker.set_rows(ROWS)
        assert picker.table.current.name == "48215_7 sweep"
        assert "your jobs" in seen(picker)[1]

    pick(check, RUNS)


def test_and_whoever_has_gone_somewhere_stays_there() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("down", "up")
        picker.set_rows(ROWS)
        assert picker.table.current is not None
        assert picker.table.current.name == "baseline.log"

    pick(check, RUNS)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("48213", ["48213 resnet50-imagenet-lr3e-4"]),
        ("gpu11", ["48215_7 sweep"]),
        ("pending", ["48220 eval", "48215_[8-40%4] sweep"]),
        ("timeout", ["48201 bert"]),
        ("resources", ["48220 eval"]),
        ("sweep stalled", ["48215_7 sweep"]),
    ],
)
def test_typing_finds_jobs_by_number_state_and_node(typed: str, found: list[str]) -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        for letter in typed:
            await pilot.press("space" if letter == " " else letter)
        assert names(picker) == ["your jobs", *found]

    pick(check)


def test_a_job_that_is_not_listed_is_opened_by_its_number() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        for letter in "job:99":
            await pilot.press(letter)
        assert "Enter opens job:99" in "".join(seen(picker))
        await pilot.press("enter")

    assert pick(check) == ["job:99"]


def test_below_the_list_stands_more_about_a_job() -> None:
    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        await pilot.press("down")
        told = text_of(picker, "#picker-more")
        assert told.startswith(
            "loss is NaN from step 8,400 on\nRUNNING 3:45 of 4:00 h, 14 min left"
        )
        assert "restarted once" in told
        assert told.endswith("/scratch/ada/gpt2/")

    pick(check)


def test_beside_runs_that_were_named_jobs_stand_below_them() -> None:
    rows = (*JOBS, RUNS[0]._replace(job=RUNNING, is_extra=False))

    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert names(picker)[:2] == ["baseline.log", "your other jobs"]
        assert "1:02/4:00h" in seen(picker)[1], "a run that was named has its job's time, too"

    pick(check, rows, are_jobs_first=False)


def test_among_jobs_a_run_is_called_by_its_job_whatever_its_folder_is_called() -> None:
    row = make_row(0, "exp7", "/here/exp7", job=RUNNING, is_extra=False)

    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert line_of(picker, "48213 res")

    pick(check, (row,))


def test_what_is_gone_is_not_listed() -> None:
    lines = arrange([*RUNS, JOBS[4]._replace(is_gone=True)], "", Order.NEWEST, Place(asked=ASKED))
    assert lines == list(RUNS)


def test_orders_hold_among_jobs() -> None:
    def ids(order: Order) -> list[str]:
        lines = arrange(JOBS, "", order, Place())
        return [line.job.id for line in lines if not isinstance(line, Heading) and line.job]

    assert ids(Order.WORST)[:3] == ["48214", "48201", "48215_7"]
    assert ids(Order.NAME)[0] == "48201"
    assert ids(Order.NEWEST)[0] == "48215_7"


def test_one_goes_from_job_to_job_and_then_to_the_runs() -> None:
    way = walk(ROWS, 0, are_jobs_first=True)
    assert way == [2, 1, 0, 3, 4, 5, 6, 7, 8, 9]
    assert walk(ROWS, 8, are_jobs_first=False) == [8, 9, 2, 1, 0]
    assert walk(ROWS, 5, are_jobs_first=False) == [8, 9, 2, 1, 0, 5]
    gone = (*ROWS[:4], ROWS[4]._replace(is_gone=True), *ROWS[5:])
    assert 4 not in walk(gone, 0, are_jobs_first=True)
    assert 4 in walk(gone, 4, are_jobs_first=True)


@pytest.mark.parametrize("width", [58, 78, 98, 118, 158, 298])
def test_columns_with_jobs_fill_the_width_and_no_more(width: int) -> None:
    for longest in (0, 12, 90):
        columns = lay_out(width, longest, has_jobs=True)
        shown = [columns.name, columns.state, columns.time, columns.progress]
        shown += [columns.loss, columns.trend, columns.age, columns.headline]
        shown = [size for size in shown if size]
        assert 3 + sum(shown) + columns.gap * (len(shown) - 1) == width
        assert columns.time >= 12


def test_in_a_narrow_column_the_share_says_more_than_the_step() -> None:
    assert progress_of(RunRow(0, "", "", step=12_345, total_steps=50_000), 5) == "25%"
    assert progress_of(RunRow(0, "", "", step=12_345), 5) == "12.3k"


def test_a_job_that_only_waits_has_no_verdict_and_one_that_waits_again_has() -> None:
    again = make_row(0, "48220 eval", "/x", job=TASKS, health=Health.WARNING, headline="slow")

    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        assert seen(picker)[2].startswith("▸▲")
        assert seen(picker)[3].startswith("   ")

    pick(check, (again, JOBS[4]))


@pytest.mark.parametrize("text", ["[bold]x[/]", "\x1b[31mred", "a\nb", "日本語" * 20, ""])
def test_whatever_a_scheduler_says_is_text_and_fits(text: str) -> None:
    job = RUNNING._replace(id=text, name=text, state=text, nodes=text, reason=text, ending=text,
                           reason_words=text)  # fmt: skip
    rows = [
        make_row(n, text, "/x", job=job._replace(phase=phase))
        for n, phase in enumerate(("running", "waiting", "over", "unknown"))
    ]

    async def check(pilot: Pilot[None], picker: RunPicker) -> None:
        for y in range(picker.table.size.height):
            strip = picker.table.render_line(y)
            assert strip.cell_length == picker.table.scrollable_content_region.width
            assert strip.text.isprintable()
        assert text_of(picker, "#picker-more").replace("\n", "").isprintable()

    pick(check, rows, asked=JobsAsked(NOW, (text,)))
