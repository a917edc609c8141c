from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import pytest
from textual.pilot import Pilot
from textual.theme import Theme
from textual.widgets import Input, Static

from mltd.runs.sources.line_scan import Conditions
from mltd.tui.engine.protocol import LogFile
from mltd.tui.log.reader import LogReader
from mltd.tui.screens.log_filter import LogFilterScreen
from mltd.tui.widgets.log_pane import LogPane
from mltd.tui.widgets.log_search_bar import LogSearchBar
from tests.blow_up import no_blow_up
from tests.tui.hosting import Host
from tests.waiting import PATIENCE

P = ParamSpec("P")


def piloted(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that needs an event loop."""

    @wraps(test)
    def run(*given: P.args, **named: P.kwargs) -> None:
        asyncio.run(test(*given, **named))

    return run


class Bench:
    """A pane in a host, and words for what is on its screen."""

    def __init__(self, pilot: Pilot[Any], app: Host, pane: LogPane) -> None:
        self.pilot, self.app, self.pane = pilot, app, pane
        self.press = pilot.press

    async def until(self, is_true: Callable[[], object], what: str = "it happens") -> None:
        async with asyncio.timeout(PATIENCE):
            while not is_true():  # noqa: ASYNC110 - whatever the pane does next may be it
                await asyncio.sleep(0.005)
        await self.pilot.pause()
        assert not self.app.failures, self.app.failures[0].details

    @property
    def screen(self) -> list[str]:
        pane = self.pane
        return [pane.render_line(y).text.rstrip(" ▐") for y in range(pane.size.height)]

    @property
    def text(self) -> str:
        return "\n".join(self.screen)

    @property
    def title(self) -> str:
        return str(self.pane._border_title)

    @property
    def subtitle(self) -> str:
        return str(self.pane._border_subtitle)

    @property
    def current(self) -> bytes:
        line = self.pane.viewport.current
        assert line is not None
        return line.line.data

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.text)


@asynccontextmanager
async def pane_on(
    *paths: Path, size: tuple[int, int] = (80, 12), clock: Callable[[], float] | None = None
) -> AsyncIterator[Bench]:
    reader = LogReader()
    pane = LogPane(reader, id="log", **({"clock": clock} if clock else {}))
    app = Host(pane, LogPane.PlaceWanted, LogPane.Copied)
    async with app.run_test(size=size) as pilot:
        pane.focus()
        pane.set_files(tuple(LogFile(str(path)) for path in paths))
        bench = Bench(pilot, app, pane)
        await bench.until(lambda: pane.window is not None or not paths)
        yield bench
        assert not app.failures, app.failures[0].details
    reader.close()


def write_lines(path: Path, count: int, line: str = "line {}") -> Path:
    path.write_text("".join(line.format(n) + "\n" for n in range(1, count + 1)))
    return path


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "train.log", 100)


@piloted
async def test_the_end_is_shown_and_followed(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.shows("line 100")
        assert bench.screen[0].endswith("  91 line 91")
        assert bench.title == "train.log · following"
        append(log, "line 101\n")
        bench.pane.files_grew([str(log)])
        await bench.shows("101 line 101")
        assert bench.current == b"line 101"


@piloted
async def test_scrolling_up_pauses_and_the_end_resumes(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.shows("line 100")
        await bench.press("k")
        assert bench.current == b"line 99"
        assert "paused" in bench.title
        append(log, "line 101\nline 102\nunfinished")
        frames = bench.pane.frames
        bench.pane.files_grew([str(log)])
        await bench.until(lambda: "paused: 2 new lines below" in bench.title)
        assert bench.pane.frames == frames, "nothing that is seen has changed"
        await bench.press("pagedown", "pagedown")
        await bench.shows("unfinished")
        await bench.until(lambda: "following" in bench.title)


@piloted
async def test_one_more_line_below_is_not_yet_the_end(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.press("k")
        append(log, "line 101\nline 102\n")
        bench.pane.files_grew([str(log)])
        await bench.until(lambda: "2 new lines" in bench.title)
        await bench.press("j", "j")
        await bench.until(lambda: bench.current == b"line 101")
        assert "paused" in bench.title


@piloted
async def test_a_big_file_is_walked_through(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "big.log", 50_000, "a line of some length, number {}")
    async with pane_on(log, size=(100, 40)) as bench:
        await bench.shows("number 50000")
        await bench.press("g")
        await bench.shows("number 1")
        await bench.press("pagedown", "pagedown", "pagedown", "pagedown", "pagedown", "pagedown")
        await bench.until(lambda: bench.screen[0].endswith("number 223"))
        await bench.press("ctrl+u", "up", "k")
        await bench.press("colon", *"40000", "enter")
        await bench.until(lambda: bench.current.endswith(b" 40000"))
        assert "40000 a line" in bench.text
        await bench.press("G")
        await bench.shows("number 50000")


@piloted
async def test_a_finding_points_out_its_line(tmp_path: Path) -> None:
    other = write_lines(tmp_path / "other.log", 3)
    log = write_lines(tmp_path / "big.log", 200_000, "step {}")
    async with pane_on(other, log) as bench:
        bench.app.set_focus(None)
        bench.pane.show_line(str(log), 5)
        await bench.shows("▸     5 step 5")
        assert bench.title == "big.log 2/2 · paused"
        bench.pane.show_line(str(log), 999_999)
        await bench.shows("step 200000")
        assert "there is no line 999,999" in bench.subtitle


@piloted
async def test_search_goes_from_match_to_match(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "a.log", 3000, "step {} loss")
    async with pane_on(log) as bench:
        await bench.press("slash", *"step 1.00 ", "enter")
        await bench.until(lambda: bench.current == b"step 1900 loss")
        await bench.until(lambda: "match 10 of 10" in bench.subtitle)
        await bench.press("N")
        await bench.until(lambda: bench.current == b"step 1800 loss")
        await bench.press("n", "n")
        await bench.until(lambda: bench.current == b"step 1000 loss")
        assert "match 1 of 10; from the top" in bench.subtitle
        await bench.until(lambda: reversed_texts(bench) == ["step 1000 "])
        await bench.press("escape")
        assert bench.pane.search is None
        assert reversed_texts(bench) == []


def reversed_texts(bench: Bench) -> list[str]:
    rows = [bench.pane.render_line(y) for y in range(bench.pane.size.height)]
    return [s.text for row in rows for s in row if s.style and s.style.reverse]


@piloted
async def test_a_plain_search_marks_its_matches_at_once(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.press("slash", *"line 99", "enter")
        assert reversed_texts(bench) == ["line 99"]


@piloted
async def test_a_match_beyond_the_edge_is_scrolled_to(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "a.log", 20, "x" * 150 + " needle {} and more")
    async with pane_on(log) as bench:
        assert "needle" not in bench.text
        for pattern in ("needle 5 ", "ne+dle 6 "):
            await bench.press("slash", *["backspace"] * 10, *pattern, "enter")
            await bench.shows(pattern.replace("+", "e"))


@piloted
async def test_another_theme_changes_the_colours_of_lines_and_titles(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.shows("line 100")
        colours = {"log-text": "#010203", "severity-fine": "#040506"}
        bench.app.register_theme(Theme("other", primary="#0000ff", variables=colours))
        bench.app.theme = "other"
        await bench.pilot.pause()
        styles = [s.style for s in bench.pane.render_line(0) if s.text.startswith("line")]
        assert [str(style and style.color and style.color.name) for style in styles] == ["#010203"]
        title = bench.pane._border_title
        assert title is not None
        assert "rgb(4,5,6)" in title.markup


@piloted
async def test_a_bad_pattern_is_explained_and_searches_nothing(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.press("slash", "left_parenthesis", "enter")
        problem = bench.pane.query_one("#log-bar-problem", Static)
        assert str(problem.render()).startswith("not a regex: missing )")
        assert bench.pane.search is None
        await bench.press("escape")
        assert bench.app.focused is bench.pane
        assert not bench.pane.query_one(LogSearchBar).display


@piloted
async def test_what_is_appended_is_searched(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.press("slash", *"needle", "enter")
        await bench.until(lambda: "no line matches" in bench.subtitle)
        append(log, "a needle\n")
        bench.pane.files_grew([str(log)])
        await bench.until(lambda: "1 of 1" in bench.subtitle or "1 match" in bench.subtitle)


@piloted
async def test_a_catastrophic_pattern_blocks_no_key(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join("a" * 60 + f"b {n}\n" for n in range(200)))
    async with pane_on(log) as bench:
        # In this process it would not come to an end, nor would any key be heard.
        with no_blow_up():
            await bench.press("slash", *"(a+)+$", "enter")
            await bench.press(*"kkkkk")
        assert bench.current.endswith(b" 194")
        await bench.press("escape")
        assert bench.pane.search is None


@piloted
async def test_a_filter_shows_some_lines_and_follows(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "a.log", 500, "step {} fine")
    append(log, "step 501 ERROR boom\n")
    async with pane_on(log) as bench:
        await bench.press("ampersand", *"00 |error", "enter")
        await bench.until(lambda: len(bench.pane.viewport.lines) == 6)
        assert [row.split()[-3:-1] for row in bench.screen[:2]] == [
            ["step", "100"],
            ["step", "200"],
        ]
        assert " 501 step 501 ERROR" in bench.text
        await bench.until(lambda: "filter: only /00 |error/ (6 lines)" in bench.subtitle)
        append(log, "step 600 fine\nstep 601 fine\n")
        bench.pane.files_grew([str(log)])
        await bench.shows("step 600 fine")
        assert "step 601" not in bench.text
        bench.pane.set_filter(Conditions(level="error"))
        await bench.until(lambda: len(bench.pane.viewport.lines) == 1)
        await bench.press("escape")
        await bench.shows("step 601")


@piloted
async def test_the_filter_dialog_asks_all_questions(log: Path) -> None:
    async with pane_on(log, size=(80, 24)) as bench:
        await bench.press("ampersand", *"a(")
        dialog = bench.app.screen
        assert isinstance(dialog, LogFilterScreen)
        await bench.press("enter")
        assert bench.app.screen is dialog, "a bad pattern is not accepted"
        problem = dialog.query_one("#log-filter-problem", Static)
        assert "show only: not a regex" in str(problem.render())
        await bench.press("backspace", "tab", *"b", "tab", "right", "tab", *"3", "enter")
        await bench.until(lambda: bench.pane.conditions != Conditions())
        assert bench.pane.conditions == Conditions(show="a", hide="b", level="warning", rank=3)
        await bench.press("ampersand")
        assert bench.app.screen.query_one("#log-filter-show", Input).value == "a"
        await bench.press("ctrl+r")
        assert bench.pane.conditions == Conditions()


@piloted
async def test_long_lines_are_wrapped_or_moved_sideways(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("short\n" + "0123456789" * 20 + "END\nlast\n")
    async with pane_on(log, size=(50, 12)) as bench:
        assert bench.screen[1].endswith("…")
        await bench.press(*["right"] * 20)
        assert "6789END" in bench.text
        await bench.press("w")
        await bench.until(lambda: len([row for row in bench.screen if row.strip()]) == 7)
        assert bench.screen[5].endswith("END")
        await bench.press("w")
        assert bench.screen[2].strip(" ▸") == "last"


@piloted
async def test_a_wrapped_line_higher_than_the_screen_is_scrolled_through(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("first\n" + "".join(f"<{n:08}>" for n in range(100)) + "\nlast\n")
    async with pane_on(log, size=(53, 6)) as bench:
        await bench.press("w", "g", "j")
        assert "<00000000>" in bench.text
        await bench.press(*["j"] * 30)
        await bench.until(lambda: "following" in bench.title)
        assert bench.screen[-1].strip(" ▸") == "last"
        await bench.press("k", "k")
        assert "<00000095>" in bench.text


@piloted
async def test_marked_lines_are_found_and_copied(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    async with pane_on(log) as bench:
        sent: list[str] = []
        monkeypatch.setattr(bench.app._driver, "write", sent.append)
        await bench.press("m", "g", "j", "m")
        assert bench.screen[1].startswith("◆")
        await bench.press("apostrophe")
        await bench.until(lambda: bench.current == b"line 100")
        await bench.press("apostrophe")
        await bench.until(lambda: bench.current == b"line 2")
        await bench.press("y")
        await bench.until(lambda: bench.app.heard)
        assert bench.app.heard == [LogPane.Copied("line 2\nline 100", 2)]
        encoded = base64.b64encode(b"line 2\nline 100").decode()
        written = "".join(sent)
        assert f"\x1b]52;c;{encoded}\x07" in written
        assert f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\" in written
        assert "copied 2 lines" in bench.subtitle


@piloted
async def test_enter_asks_for_the_place_on_the_curve(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.press("k", "enter")
        await bench.until(lambda: bench.app.heard)
        assert bench.app.heard == [LogPane.PlaceWanted(str(log), 99)]


@piloted
async def test_files_are_switched_and_the_talkative_one_comes_first(tmp_path: Path) -> None:
    paths = [write_lines(tmp_path / f"{name}.log", 3, name + " {}") for name in "abc"]
    async with pane_on() as bench:
        events = LogFile(str(tmp_path / "events"), format="tensorboard", lines=10**6)
        files = [LogFile(str(p), "text", lines=n) for p, n in zip(paths, (1, 9, 2), strict=True)]
        bench.pane.set_files((events, *files))
        await bench.shows("b 3")
        assert "b.log 2/3" in bench.title
        await bench.press("f")
        await bench.shows("c 3")
        await bench.press("f")
        await bench.shows("a 3")
        await bench.press("F")
        await bench.shows("c 3")
        bench.pane.set_files(tuple(files))
        assert "c.log 3/3" in bench.title, "news about the files change nothing"


@piloted
async def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    path = tmp_path / "later.log"
    async with pane_on(path) as bench:
        await bench.shows("waiting for later.log")
        path.touch()
        bench.pane.files_grew([str(path)])
        await bench.shows("no lines yet")
        path.write_text("first\n")
        bench.pane.files_grew([str(path)])
        await bench.shows("first")
        bench.pane.set_files((LogFile(str(tmp_path)),))
        await bench.shows("cannot be read: it is a directory")
        bench.pane.set_files(())
        await bench.shows("no text log in this run")


@piloted
async def test_a_file_that_began_anew_is_followed(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.shows("line 100")
        await bench.press("m")
        write_lines(log, 1, "new beginning")
        bench.pane.files_grew([str(log)])
        await bench.shows("   1 new beginning")
        assert "the file began anew" in bench.subtitle
        assert not bench.pane.marked


@piloted
async def test_a_file_that_began_anew_while_paused_is_shown_from_its_beginning(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.press("k")
        write_lines(log, 50, "again {}")
        bench.pane.files_grew([str(log)])
        await bench.shows("again 1")
        assert "paused" in bench.title


@piloted
async def test_a_compressed_log_is_shown_and_not_called_live(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "old.log.gz"
    path.write_bytes(gzip.compress(b"".join(b"line %d\n" % n for n in range(200_000))))
    async with pane_on(path) as bench:
        await bench.shows("line 199999")
        await bench.until(lambda: bench.title == "old.log.gz · compressed")


HOSTILE = (
    b"\x1b]0;title\x07\x1b[2J\x1b[999;999H[bold]x[/] \xc2\x9b31m\x00\x07\x08\n"
    + "\u202e\u200d\u2028 漢字 e\u0301\u0301\u0301\u0301 👨\u200d👩\n".encode()
    + b"\xff\xfe\xfd\n"
    + b"10%\r20%\r\n"
    + b"x" * 200_000
    + b"\n[/unbalanced] [@click=app.quit]\n"
)


@pytest.mark.parametrize("size", [(42, 6), (80, 12), (300, 100)])
@piloted
async def test_hostile_lines_harm_nothing(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "[red]\x1b[31m.log"
    path.write_bytes(HOSTILE * 3)
    async with pane_on(path, size=size) as bench:
        await bench.shows("[/unbalanced] [@click=app.quit]")
        for keys in ("g", "w", "end", "w", "right"):
            await bench.press(keys)
            rows = [bench.pane.render_line(y) for y in range(bench.pane.size.height)]
            assert all(row.text.isprintable() for row in rows)
            assert {row.cell_length for row in rows} == {size[0] - 2}
        assert "[red]·[31m.log" in bench.title
        await bench.press("slash", *"unbal", "enter")
        await bench.until(lambda: "match" in bench.subtitle)


@piloted
async def test_a_stream_is_painted_in_few_frames_and_the_last_line_soon(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.shows("line 100")
        frames = bench.pane.frames
        started = asyncio.get_running_loop().time()
        for number in range(101, 151):
            append(log, f"line {number}\n")
            bench.pane.files_grew([str(log)])
            await asyncio.sleep(0.01)
        await bench.shows("line 150")
        # However long it takes: it is the pace that is bounded.
        took = asyncio.get_running_loop().time() - started
        assert bench.pane.frames - frames <= 3 + took / 0.2


@piloted
async def test_the_frame_says_that_lines_may_be_missing(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.shows("100 line 100")
        assert "missing" not in bench.subtitle
        other = LogFile(str(log) + ".err", has_gap=True)
        bench.pane.set_files((LogFile(str(log)), other))
        assert "missing" not in bench.subtitle
        bench.pane.set_files((LogFile(str(log), has_gap=True), other))
        assert "lines may be missing here" in bench.subtitle


@piloted
async def test_nothing_is_painted_while_nothing_changes(log: Path) -> None:
    async with pane_on(log) as bench:
        await bench.shows("100 line 100")
        frames = bench.pane.frames
        bench.pane.files_grew([str(log), "other"])
        bench.pane.set_files((LogFile(str(log), size=5),))
        await bench.until(lambda: not bench.pane.feed.is_busy and bench.pane._due is None)
        assert bench.pane.frames == frames


@piloted
async def test_the_wheel_and_clicks_move_about(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "a.log", 1000)
    async with pane_on(log) as bench:
        await bench.shows("line 1000")
        await bench.pilot.click(LogPane, offset=(20, 3))
        assert bench.current == b"line 993"
        bench.pane.scroll_rows(-3)
        assert bench.screen[0].endswith("line 988")
        await bench.pilot.click(LogPane, offset=(78, 1))
        await bench.until(lambda: bench.current == b"line 1")


@piloted
async def test_the_pane_follows_its_size(log: Path) -> None:
    async with pane_on(log, size=(80, 7)) as bench:
        await bench.pilot.resize_terminal(100, 60)
        await bench.until(lambda: bench.screen[0].endswith("line 43"))
        await bench.pilot.resize_terminal(40, 6)
        await bench.until(lambda: bench.screen[-1].endswith("line 100"))
        assert bench.screen[0] == " line 97"
