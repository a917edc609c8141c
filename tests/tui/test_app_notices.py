"""The whole app: what is told when something goes wrong, and that the rest goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Severity
from mltd.tui.app import MltdApp
from mltd.tui.engine.protocol import Diagnosed, Open, StatusChanged, Trouble
from mltd.tui.logfile import log_path
from mltd.tui.settings import ScreenSettings
from mltd.tui.terminal import TRUE_COLOUR, Terminal
from mltd.tui.widgets.notice_bar import NoticeBar
from tests.tui.app_scene import Served, StandIn, healthy, piloted, served, staged, write_log
from tests.tui.verdicts import finding, verdict_of

CALM = Diagnosed(0, verdict_of())
WORSE = Diagnosed(
    0,
    verdict_of(
        finding("nan_loss", title="loss is nan [here]", severity=Severity.CRITICAL),
        finding("slow", title="slower than before", severity=Severity.WARNING),
    ),
)


@pytest.fixture
def log(own_home: Path) -> Path:
    return write_log(own_home / "runs" / "train.log", healthy())


@piloted
async def test_trouble_with_details_is_written_down_and_the_file_is_named(log: Path) -> None:
    async with served(log) as stage:
        await stage.hear(Trouble("[b]rule broke", "see the rule", "Traceback: it broke here"))
        assert stage.notices == [f"[b]rule broke; see the rule; see {log_path()}"]
        assert "Traceback: it broke here" in log_path().read_text()
        assert log_path().stat().st_mode & 0o077 == 0
        assert "[b]rule broke" in stage.text


@piloted
async def test_trouble_without_details_is_a_sentence_alone(log: Path) -> None:
    async with served(log) as stage:
        await stage.hear(Trouble("reading \x1b[31mfailed"))
        (notice,) = stage.notices
        assert notice.startswith("reading ")
        assert "\x1b" not in notice
        assert not log_path().exists()


def broken(*_: object) -> None:
    raise RuntimeError("a bug in [this] pane")


@piloted
async def test_a_handler_that_breaks_is_a_notice_and_the_rest_goes_on(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(log) as stage:
        monkeypatch.setattr("mltd.tui.widgets.findings_pane.FindingsPane.on_focus", broken)
        await stage.press("3")
        said = f"findings stumbled: RuntimeError: a bug in [this] pane; see {log_path()}"
        await stage.until(lambda: said in stage.notices)
        assert "Traceback" in log_path().read_text()
        await stage.press("2")
        assert stage.view == "curves"


@piloted
async def test_a_key_that_breaks_is_a_notice_and_the_rest_goes_on(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mltd.tui.widgets.curves_pane.CurvesPane.action_smooth", broken)
    async with served(log) as stage:
        await stage.press("2", "s")
        await stage.until(lambda: any("stumbled: RuntimeError" in n for n in stage.notices))
        await stage.press("1")
        assert stage.view == "overview"


@piloted
async def test_a_pane_that_cannot_be_drawn_is_blank_and_told(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(log) as stage:
        monkeypatch.setattr("mltd.tui.widgets.curves_pane.CurvesPane.render_line", broken)
        await stage.press("2")
        await stage.until(lambda: any("curves stumbled" in n for n in stage.notices))
        await stage.press("4")
        await stage.shows("step 398/1000")


@piloted
async def test_news_that_comes_while_the_app_closes_breaks_nothing(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(log) as stage:
        app = stage.app
        status = app.book.current.status
        assert status is not None
        close = app._close_messages

        async def close_after_news() -> None:
            app.on_mltd_app_heard(MltdApp.Heard(StatusChanged(status)))
            await close()

        monkeypatch.setattr(app, "_close_messages", close_after_news)
    assert app._exception is None


@piloted
async def test_a_pane_that_cannot_be_drawn_is_told_of_a_few_times_only(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(log) as stage:
        monkeypatch.setattr("mltd.tui.widgets.curves_pane.CurvesPane.render_line", broken)
        await stage.press("2")
        await stage.until(lambda: stage.notices)
        for _ in range(10):
            stage.app.refresh(layout=True)
            await stage.pilot.pause()
        assert 1 <= len(stage.notices) <= 3


@pytest.mark.parametrize(
    "place",
    [
        "mltd.tui.widgets.curves_pane.CurvesPane.set_series",
        "mltd.tui.widgets.findings_pane.FindingsPane.set_diagnosis",
        "mltd.tui.widgets.log_pane.LogPane.set_files",
        "mltd.tui.widgets.run_header.RunHeader.tick",
    ],
)
def test_a_pane_that_breaks_over_news_is_a_notice_and_the_rest_goes_on(
    log: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    @piloted
    async def check() -> None:
        bridge = Served(Open((str(log),)))
        async with staged(bridge, log) as stage:
            await stage.drawn()
            monkeypatch.setattr(place, broken)
            write_log(log, healthy(600))
            bridge.work(log)
            await stage.hear(WORSE)
            await stage.until(lambda: any("stumbled" in n for n in stage.notices))
            monkeypatch.undo()
            await stage.press("4")
            assert stage.view == "log"

    check()


@piloted
async def test_a_finding_that_turns_critical_is_told_once_with_bell_and_desktop_notice(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ScreenSettings(bell=True, desktop_notifications="osc9")
    async with served(log, settings=settings) as stage:
        sent: list[str] = []
        driver = stage.app._driver
        assert driver is not None
        monkeypatch.setattr(driver, "write", sent.append)
        await stage.hear(WORSE)
        assert stage.notices == ["loss is nan [here] (train.log)"]
        written = "".join(sent)
        assert "\x1b]9;✖ critical: loss is nan [here] (train.log)\a" in written
        assert written.count("\a") == 2
        await stage.hear(CALM, WORSE)
        assert len(stage.notices) == 1


@piloted
async def test_through_tmux_the_desktop_notice_is_wrapped_and_without_wish_nothing_is_sent(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmux = Terminal(colours=TRUE_COLOUR, multiplexer="tmux")
    for settings, expected in (
        (ScreenSettings(desktop_notifications="osc777"), "\x1bPtmux;\x1b\x1b]777;notify;"),
        (ScreenSettings(), ""),
    ):
        async with served(log, settings=settings, terminal=tmux) as stage:
            sent: list[str] = []
            driver = stage.app._driver
            assert driver is not None
            monkeypatch.setattr(driver, "write", sent.append)
            await stage.hear(WORSE)
            assert len(stage.notices) == 1
            own = [text for text in sent if "\a" in text]
            assert [text.startswith(expected) for text in own] == ([True] if expected else [])


@piloted
async def test_what_was_critical_before_one_looked_is_not_announced(log: Path) -> None:
    async with staged(StandIn(), log) as stage:
        await stage.hear(WORSE)
        assert stage.notices == []
        await stage.shows("NaN loss")


@piloted
async def test_a_dead_engine_is_told_and_a_silent_one_too(log: Path) -> None:
    async with served(log) as stage:
        bridge = stage.bridge
        assert isinstance(bridge, StandIn)
        bridge.die(is_restarted=True)
        await stage.pilot.pause()
        assert stage.notices == [f"the engine ended and was started again; see {log_path()}"]
        bridge.silent_for = 12.0
        stage.app._look_after_engine()
        await stage.pilot.pause()
        assert "the engine has not answered for 12 s" in stage.text
        assert "STALE" in stage.text
        bridge.silent_for = 0.0
        bridge.die(is_restarted=False)
        await stage.pilot.pause()
        assert "the engine keeps dying; start mltd-tui anew" in stage.text


@piloted
async def test_lines_written_while_the_engine_was_down_are_shown(log: Path) -> None:
    async with served(log) as stage:
        assert isinstance(stage.bridge, StandIn)
        await stage.shows("INFO step 398/1000")
        write_log(log, [*healthy(), "written meanwhile"])
        stage.bridge.die(is_restarted=True)
        status = stage.app.book.current.status
        assert status is not None
        larger = status.files[0]._replace(size=status.files[0].size + 18)
        await stage.hear(StatusChanged(status._replace(files=(larger,))))
        await stage.shows("written meanwhile")


# -- where notices are shown ---------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
def test_a_notice_covers_neither_findings_nor_the_end_of_the_log(
    log: Path, size: tuple[int, int]
) -> None:
    @piloted
    async def check() -> None:
        async with served(log, size=size) as stage:
            await stage.hear(WORSE)
            await stage.shows("✖ critical: loss is nan [here] (train.log)")
            bar = stage.main.query_one(NoticeBar).region
            assert bar.height == 1
            for pane in (stage.main.findings, stage.main.log_pane):
                inside = pane.region.shrink(pane.gutter)
                assert not bar.overlaps(inside)
            assert not bar.overlaps(stage.main.query_one("#keys").region)

    check()


@pytest.mark.parametrize("key", ["question_mark", "ctrl+p"])
def test_a_notice_waits_until_help_and_dialogs_are_closed(log: Path, key: str) -> None:
    @piloted
    async def check() -> None:
        async with served(log) as stage:
            await stage.press(key)
            await stage.until(lambda: not stage.is_main)
            stage.app.complain("the disk is full")
            await stage.until(lambda: "the disk is full" in stage.notices)
            assert "the disk is full" not in stage.text
            await stage.press("escape")
            await stage.shows("▲ the disk is full")

    check()


@piloted
async def test_a_small_terminal_says_what_it_needs_and_notices_wait(log: Path) -> None:
    async with served(log) as stage:
        stage.app.complain("shown before")
        await stage.shows("shown before")
        await stage.pilot.resize_terminal(50, 12)
        await stage.shows("mltd-tui needs 60x15")
        stage.app.complain("raised meanwhile")
        await stage.until(lambda: "raised meanwhile" in stage.notices)
        assert "shown before" not in stage.text
        assert "raised meanwhile" not in stage.text
        await stage.pilot.resize_terminal(80, 24)
        await stage.shows("raised meanwhile")


@piloted
async def test_a_notice_about_a_finding_goes_when_the_user_looks_at_it(log: Path) -> None:
    async with served(log) as stage:
        await stage.hear(WORSE)
        await stage.shows("✖ critical: loss is nan")
        await stage.press("3")
        await stage.until(lambda: "✖ critical: loss is nan" not in stage.text)
        assert stage.notices == ["loss is nan [here] (train.log)"]


@piloted
async def test_a_finding_that_the_user_looks_at_already_is_not_announced(log: Path) -> None:
    async with served(log) as stage:
        await stage.press("3")
        await stage.hear(WORSE)
        await stage.until(lambda: stage.notices)
        assert "critical: loss is nan" not in stage.text


@piloted
async def test_a_long_notice_is_not_cut(log: Path) -> None:
    words = [f"word{number}" for number in range(40)]
    async with served(log) as stage:
        stage.app.complain(" ".join(words))
        await stage.shows(*words)


@piloted
async def test_a_key_lists_the_notices_in_full_the_newest_first(log: Path) -> None:
    async with served(log) as stage:
        stage.app.complain("first [of] all")
        stage.app.notify("second", title="Copied", markup=False)
        await stage.shows("Copied: second")
        await stage.press("M")
        await stage.shows("Notices", "first [of] all", "Copied: second")
        text = stage.text
        assert text.index("Copied: second") < text.index("first [of] all")
        await stage.press("escape")
        assert stage.is_main


@piloted
async def test_a_click_takes_notices_away(log: Path) -> None:
    async with served(log) as stage:
        stage.app.complain("read this")
        await stage.shows("read this")
        await stage.pilot.click(NoticeBar)
        await stage.until(lambda: "read this" not in stage.text)
