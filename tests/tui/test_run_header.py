from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.geometry import Region

from mltd.tui.engine.protocol import Health, LogFile, RunStatus
from mltd.tui.findings.spans import text_of
from mltd.tui.widgets.run_freshness import Freshness, freshness
from mltd.tui.widgets.run_header import RunHeader
from mltd.tui.widgets.run_header_rows import Look, header_rows

from .hosting import Host

WIDTHS = (60, 80, 120, 160, 300)
LOG = LogFile("/home/ada/runs/bert/train.log", lines=500, mode="inotify")
RUNNING = RunStatus(
    0,
    "bert-large-lr3e-4",
    "running",
    step=12_300,
    total_steps=100_000,
    epoch=1.23,
    total_epochs=10,
    eta_seconds=7980,
    interval_seconds=1.0,
    last_line_at=997.0,
    lines_per_second=12.3,
    health=Health.CRITICAL,
    alarms=2,
    files=(LOG,),
)
STATES = ("running", "finished", "failed", "stalled", "unknown")
HOSTILE = (
    "[bold red]x[/]",
    "\x1b[31mred\x1b]0;title\x07",
    "模型訓練" * 40,
    "n" * 300,
    "",
    "a\nb\rc\td",
    "e\u0301" * 50,
    "\u202eevil",
)


def shown(
    status: RunStatus | None,
    width: int = 120,
    now: float = 1000.0,
    position: tuple[int, int] = (1, 1),
    growths: int = 0,
) -> tuple[str, str]:
    look = Look(status, position, freshness(status, now, growths), "/x/train.log", "/home/ada")
    first, second = header_rows(look, width)
    return text_of(first), text_of(second)


def meanings(status: RunStatus, now: float) -> set[str]:
    look = Look(status, freshness=freshness(status, now))
    return {span.meaning for row in header_rows(look, 120) for span in row}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("state", STATES)
def test_every_state_fits_every_width_to_the_cell(width: int, state: str) -> None:
    for health in Health:
        for position in ((1, 1), (12, 345)):
            status = RUNNING._replace(state=state, health=health, reason="why " * 50)
            for row in shown(status, width, now=5000.0, position=position):
                assert cell_len(row) == width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_neither_overflows_nor_reaches_the_terminal(width: int, text: str) -> None:
    file = LogFile(text, note=text, mode="poll 1 s", lines=3)
    status = RUNNING._replace(name=text, reason=text, state="failed", files=(file, file))
    for row in shown(status, width):
        assert cell_len(row) == width
        assert row.isprintable()


NUMBERS = st.none() | st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=200)
@given(
    st.builds(
        RunStatus,
        run=st.just(0),
        name=st.text(max_size=80),
        state=st.sampled_from(STATES) | st.text(max_size=20),
        reason=st.text(max_size=40),
        step=NUMBERS,
        total_steps=NUMBERS,
        epoch=NUMBERS,
        total_epochs=NUMBERS,
        eta_seconds=NUMBERS,
        interval_seconds=NUMBERS,
        last_line_at=NUMBERS,
        lines_per_second=st.floats(),
        lag_seconds=st.floats(),
        share_read=st.floats(),
        thinned=st.integers(min_value=1),
        health=st.sampled_from(Health),
        alarms=st.integers(min_value=0),
    ),
    st.integers(min_value=0, max_value=300),
)
def test_no_numbers_break_the_header(status: RunStatus, width: int) -> None:
    for row in shown(status, width, position=(2, 5)):
        assert cell_len(row) <= width
        assert row.isprintable()


def test_a_running_run_says_how_far_it_is_and_how_long_it_takes() -> None:
    first, second = shown(RUNNING, position=(2, 5))
    for part in (
        "bert-large-lr3e-4",
        "2/5",
        "▶ running",
        "step 12,300/100,000",
        "━",
        "12%",
        "ETA 2 h 13 min",
        "✖ critical 2",
    ):
        assert part in first
    for part in ("last line 3 s ago", "~/runs/bert/train.log", "inotify", "12 lines/s"):
        assert part in second


def test_a_narrow_header_keeps_what_matters() -> None:
    first, second = shown(RUNNING, 60, position=(2, 5))
    for part in ("2/5", "▶ running", "12.3k/100k", "✖ critical 2"):
        assert part in first
    assert "3 s ago" in second
    assert "train.log" in second


@pytest.mark.parametrize(("state", "glyph"), zip(STATES, ("▶", "✔", "✖", "‖", "?"), strict=True))
def test_each_state_has_a_glyph_and_a_word(state: str, glyph: str) -> None:
    first, _ = shown(RUNNING._replace(state=state))
    assert f"{glyph} {state}" in first


@pytest.mark.parametrize(
    ("status", "badge"),
    [
        (RUNNING._replace(alarms=2), "✖ critical 2"),
        (RUNNING._replace(health=Health.WARNING, alarms=1), "▲ warning"),
        (RUNNING._replace(health=Health.INFO, alarms=0), "● info"),
        (RUNNING._replace(health=Health.FINE, alarms=0), "✔ healthy"),
        (RUNNING._replace(health=Health.UNKNOWN, share_read=0.345), "? reading 34%"),
        (RUNNING._replace(health=Health.UNKNOWN), "? not judged yet"),
    ],
)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_health_stands_at_the_right(status: RunStatus, badge: str, width: int) -> None:
    assert shown(status, width)[0].rstrip().endswith(badge)


@pytest.mark.parametrize("state", ["running", "unknown"])
@pytest.mark.parametrize("width", WIDTHS)
def test_silence_turns_a_run_stale(state: str, width: int) -> None:
    status = RUNNING._replace(state=state)
    fresh = shown(status, width, now=997.0 + 9)
    stale = shown(status, width, now=997.0 + 260)
    assert "STALE" not in fresh[0]
    assert "9 s ago" in fresh[1]
    assert "STALE" in stale[0]
    assert "silent 4 min" in stale[1]
    assert "ago" not in stale[1]
    assert "ETA" not in stale[0]
    assert "lines/s" not in stale[1]


def test_staleness_is_a_style_too() -> None:
    assert "stale" not in meanings(RUNNING, 1000.0)
    assert "stale" in meanings(RUNNING, 2000.0)
    assert "severity-fine" not in meanings(RUNNING, 2000.0)


def test_a_slow_logger_may_be_silent_for_five_of_its_intervals() -> None:
    slow = RUNNING._replace(interval_seconds=60.0)
    assert not freshness(slow, 997.0 + 299).is_stale
    assert freshness(slow, 997.0 + 301).is_stale


def test_a_finished_run_is_old_but_not_stale() -> None:
    first, second = shown(RUNNING._replace(state="finished"), now=997.0 + 7300)
    assert "STALE" not in first
    assert "last line 2 h ago" in second


def test_a_lag_is_told_and_makes_stale_when_it_is_long_or_grows() -> None:
    assert "lag" not in shown(RUNNING._replace(lag_seconds=0.4))[1]
    behind = RUNNING._replace(lag_seconds=4.0)
    assert "lag 4 s" in shown(behind)[1]
    assert "STALE" not in "".join(shown(behind))
    assert "STALE" in shown(behind, growths=3)[1]
    assert "STALE" in shown(RUNNING._replace(lag_seconds=30.0))[1]
    reading = RUNNING._replace(lag_seconds=30.0, share_read=0.5)
    assert "STALE" not in "".join(shown(reading))
    assert "reading 50%" in shown(reading)[1]


def test_before_any_line_the_header_says_what_it_waits_for() -> None:
    assert "waiting for /x/train.log" in shown(None)[1]
    waiting = RUNNING._replace(last_line_at=None)
    assert "waiting for ~/runs/bert/train.log" in shown(waiting)[1]
    assert "ago" not in shown(waiting)[1]


def test_a_file_that_is_not_followed_is_said_to_be_so() -> None:
    assert "not followed" in shown(RUNNING._replace(files=(LOG._replace(mode=""),)))[1]


def test_thinned_data_are_said_to_be_so() -> None:
    assert "1 row in 8 kept" in shown(RUNNING._replace(thinned=8), 160)[1]


def test_a_share_is_full_only_when_all_is_done() -> None:
    almost, _ = shown(RUNNING._replace(step=99_990, eta_seconds=None))
    assert "─ 99%" in almost
    done, _ = shown(RUNNING._replace(step=100_000, state="finished"))
    assert "━ 100%" in done


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.moment = 1000.0

    def __call__(self) -> float:
        return self.moment


class Painted:
    """Remembers what a header painted."""

    def __init__(self, header: RunHeader, patch: pytest.MonkeyPatch) -> None:
        self.regions: list[Region] = []
        refresh = header.refresh

        def note(*regions: Region, **options: Any) -> RunHeader:
            self.regions += regions or (header.size.region,)
            return refresh(*regions, **options)

        patch.setattr(header, "refresh", note)

    @property
    def cells(self) -> int:
        return sum(region.area for region in self.regions)

    def forget(self) -> None:
        self.regions.clear()


def rows_on_screen(header: RunHeader) -> list[str]:
    return [header.render_line(y).text for y in range(2)]


def test_a_tick_paints_only_the_cells_of_the_age(monkeypatch: pytest.MonkeyPatch) -> None:
    async def flow() -> None:
        clock = Clock()
        header = RunHeader(now=clock)
        app = Host(header)
        async with app.run_test(size=(100, 10)) as pilot:
            header.status = RUNNING
            await pilot.pause()
            painted = Painted(header, monkeypatch)
            header.tick()
            assert painted.cells == 0
            clock.moment += 1
            header.tick()
            assert "last line 4 s ago" in rows_on_screen(header)[1]
            assert 0 < painted.cells <= 2
            painted.forget()
            clock.moment += 6  # from one digit to two: what follows stays where it is
            header.tick()
            assert "last line 10 s ago" in rows_on_screen(header)[1]
            assert painted.cells <= 12
            await pilot.pause()
            painted.forget()
            clock.moment += 1
            header.tick()
            assert "silent 11 s" in rows_on_screen(header)[1]
            assert "STALE" in rows_on_screen(header)[0]
        assert not app.failures

    asyncio.run(flow())


def test_an_update_paints_what_changed_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def flow() -> None:
        header = RunHeader(now=Clock())
        app = Host(header)
        async with app.run_test(size=(120, 10)) as pilot:
            header.status = RUNNING
            await pilot.pause()
            painted = Painted(header, monkeypatch)
            header.status = RUNNING._replace()
            header.position = (1, 1)
            assert painted.cells == 0
            header.status = RUNNING._replace(step=12_301)
            assert painted.cells == 1
            painted.forget()
            header.position = (2, 5)
            assert "2/5" in rows_on_screen(header)[0]
            assert all(region.y == 0 for region in painted.regions)
        assert not app.failures

    asyncio.run(flow())


def test_a_lag_that_grows_from_status_to_status_makes_stale() -> None:
    async def flow() -> None:
        header = RunHeader(now=Clock())
        async with Host(header).run_test(size=(120, 10)) as pilot:
            for lag in (2.0, 3.0, 4.0):
                header.status = RUNNING._replace(lag_seconds=lag)
            await pilot.pause()
            assert "STALE" not in "".join(rows_on_screen(header))
            header.status = RUNNING._replace(lag_seconds=5.0)
            assert "STALE" in "".join(rows_on_screen(header))
            header.status = RUNNING._replace(lag_seconds=1.5)
            assert "STALE" not in "".join(rows_on_screen(header))

    asyncio.run(flow())


def test_the_header_follows_the_size_and_the_theme(monkeypatch: pytest.MonkeyPatch) -> None:
    async def flow() -> None:
        header = RunHeader(now=Clock())
        header.status = RUNNING._replace(name="[red]x[/red]")
        app = Host(header)
        async with app.run_test(size=(160, 10)) as pilot:
            assert header.size.height == 2
            assert rows_on_screen(header)[0].startswith(" [red]x[/red]")
            await pilot.resize_terminal(60, 10)
            await pilot.pause()
            assert [cell_len(row) for row in rows_on_screen(header)] == [60, 60]
            before = _styles(header)
            app.theme = "textual-light"
            await pilot.pause()
            monkeypatch.setitem(app.theme_variables, "severity-fine", "#123456")
            header.notify_style_update()
            assert _styles(header) != before
        assert not app.failures

    asyncio.run(flow())


def _styles(header: RunHeader) -> list[Any]:
    return [segment.style for y in range(2) for segment in header.render_line(y)]


def test_infinite_patience_is_not_asked_for() -> None:
    odd: Iterable[float] = (math.nan, math.inf)
    for interval in odd:
        assert freshness(RUNNING._replace(interval_seconds=interval), 9e9) != Freshness()
        assert freshness(RUNNING._replace(interval_seconds=interval), 9e9).is_stale


@pytest.mark.parametrize(
    ("health", "weights", "said"),
    [
        (Health.FINE, ("critical", 1), "✖ weights: critical "),
        (Health.WARNING, ("critical", 3), "✖ weights: critical 3 "),
        (Health.CRITICAL, ("warning", 1), "✖ critical 2 "),
        (Health.FINE, ("", 0), "✔ healthy "),
        (Health.UNKNOWN, ("warning", 1), "▲ weights: warning "),
    ],
)
def test_the_badge_tells_the_worse_of_log_and_weights(
    health: Health, weights: tuple[str, int], said: str
) -> None:
    look = Look(RUNNING._replace(health=health), weights=weights)
    assert text_of(header_rows(look, 120)[0]).endswith(said)
