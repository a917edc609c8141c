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
