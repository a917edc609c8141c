"""Themes: ours are complete, the user's are checked, and none of them can break the app."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.widgets import OptionList

from mltd.tui.palette import DEFAULTS
from mltd.tui.terminal import Terminal
from mltd.tui.theme_file import COLOURS, ScreenTheme
from mltd.tui.themed import ThemedApp
from mltd.tui.theming import ORDER, default_theme, load_themes, stylesheets, variables_of

SHIPPED = load_themes()
NO_COLOURS, SIXTEEN, MANY = (Terminal(colours=colours) for colours in (0, 16, 256))


@pytest.mark.parametrize("theme", SHIPPED.themes, ids=lambda theme: theme.name)
def test_our_themes_say_everything(theme: ScreenTheme) -> None:
    assert DEFAULTS.keys() <= theme.theme.variables.keys()
    assert theme.title
    if not theme.theme.ansi:
        assert all(getattr(theme.theme, colour) for colour in COLOURS)


@pytest.mark.parametrize("theme", SHIPPED.themes, ids=lambda theme: theme.name)
def test_every_stylesheet_can_be_read_in_every_theme(theme: ScreenTheme) -> None:
    sheet = Stylesheet(variables=variables_of(theme))
    sheet.read_all(stylesheets())
    sheet.parse()


def test_every_variable_of_our_stylesheets_has_a_default() -> None:
    known = {*DEFAULTS, *ThemedApp(SHIPPED, MANY).get_css_variables()}
    for path in stylesheets():
        used = set(re.findall(r"\$([a-z][\w-]*)", path.read_text(encoding="utf-8")))
        assert used <= known, path.name


def test_rules_of_a_single_theme_stay_within_it_and_come_last() -> None:
    names = [path.name for path in stylesheets()]
    assert names[-len(ORDER) :] == sorted(f"theme-{name}.tcss" for name in ORDER)
    for path in stylesheets()[-len(ORDER) :]:
        rules = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        outer = re.findall(r"^(\S.*) \{", rules, flags=re.MULTILINE)
        assert outer == [f".-{path.stem}"]


def test_mono_and_ansi_name_no_colour_but_the_terminals_own() -> None:
    for name in ("ansi", "mono"):
        theme = SHIPPED.named(name)
        assert theme is not None
        values = [theme.theme.variables[meaning] for meaning in DEFAULTS]
        assert all(Color.parse(value).ansi is not None for value in values)


@pytest.mark.parametrize(
    ("terminal", "name"), [(NO_COLOURS, "mono"), (SIXTEEN, "ansi"), (MANY, "dark")]
)
def test_the_usual_theme_suits_the_terminal(terminal: Terminal, name: str) -> None:
    assert default_theme(terminal) == name
    assert SHIPPED.chosen(terminal, None, "no such theme") == name


def test_a_wish_is_granted_if_the_terminal_can_show_it() -> None:
    assert SHIPPED.chosen(MANY, None, "light", "dark") == "light"
    assert SHIPPED.chosen(SIXTEEN, "light", "mono") == "mono"
    assert SHIPPED.chosen(NO_COLOURS, "light") == "mono"


def test_themes_follow_one_another_in_a_circle() -> None:
    assert SHIPPED.suited(MANY) == ORDER
    seen = ["dark"]
    for _ in ORDER[1:]:
        seen.append(SHIPPED.after(seen[-1], MANY))
    assert tuple(seen) == ORDER
    assert SHIPPED.after("mono", MANY) == "dark"
    assert SHIPPED.after("ansi", SIXTEEN) == "mono"
    assert SHIPPED.after("mono", NO_COLOURS) == "mono"


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_theme_of_the_users_own_joins_and_may_replace_one_of_ours(own_home: Path) -> None:
    folder = own_home / ".config" / "mltd" / "themes"
    write(folder, "dusk.toml", 'dark = false\n[variables]\nchart-1 = "teal"\n')
    write(folder, "dark.toml", '[colours]\nprimary = "#ff0000"\n')
    sheet = write(folder, "dusk.tcss", ".-theme-dusk #log { background: $chart-1; }")
    themes = load_themes()
    assert themes.problems == ()
    assert [theme.name for theme in themes.themes] == [*ORDER, "dusk"]
    assert themes.stylesheets[-1] == sheet
    dusk, dark, light = (themes.named(name) for name in ("dusk", "dark", "light"))
    assert dusk is not None
    assert dark is not None
    assert light is not None
    assert dusk.theme.variables["chart-1"] == "teal"
    assert dusk.theme.variables["log-text"] == light.theme.variables["log-text"]
    assert dark.theme.primary == "#ff0000"
    assert dark.theme.background == "#12161e"


def test_all_faults_of_a_theme_are_told_in_one_sentence_and_the_rest_goes_on(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path,
        "broken.toml",
        """
name = "My Theme"
drak = true
least_colours = "many"
[colours]
primary = "blurple"
backgruond = "#000000"
[variables]
severity-critical = "#12"
severity-critical-style = "shiny"
chart-7 = "#ffffff"
log-text = 3
""",
    )
    write(tmp_path, "fine.toml", 'title = "Fine"\n')
    themes = load_themes(tmp_path)
    assert themes.named("fine") is not None
    (problem,) = themes.problems
    assert "\n" not in problem
    for part in (
        str(path),
        'name = "My Theme"',
        "drak is not known (did you mean dark?)",
        "least_colours = 'many'",
        'colours.primary = "blurple" is no colour',
        "colours.backgruond is not known (did you mean background?)",
        'variables.severity-critical = "#12" is no colour',
        'variables.severity-critical-style = "shiny" is no text style',
        "variables.chart-7 is not known (did you mean chart-",
        'variables.log-text = "3" is no colour',
        "#rrggbb",
    ):
        assert part in problem


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("odd.toml", "not toml", "cannot be read"),
        ("odd.toml", 'extends = "nothing"', "is no theme (there are dark, light"),
        ("odd.toml", "colours = 3\nvariables = 4", "[colours] must be a table, [variables] must"),
        ("odd.tcss", "Screen { colour: red; }", "line 1: colour:"),
        ("odd.tcss", "Screen { color: $nothing; }", "$nothing"),
        ("odd.tcss", "Screen {", "end of file"),
    ],
)
def test_a_broken_file_is_named_and_left_out(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    write(tmp_path, "odd.toml", "")
    path = write(tmp_path, name, text)
    themes = load_themes(tmp_path)
    (problem,) = themes.problems
    assert str(path) in problem
    assert said in problem
    assert themes.named("odd") is None
    assert path not in themes.stylesheets


class Sample(ThemedApp):
    def compose(self) -> ComposeResult:
        yield OptionList("one", "two", id="findings")


def sent(app: ThemedApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "".join(strip.render(app.console) for strip in strips)


def test_switching_is_live_and_mono_sends_no_colour_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def look() -> dict[str, str]:
        app = Sample(SHIPPED, Terminal(), "colour-blind")
        seen = {}
        async with app.run_test(size=(40, 8)) as pilot:
            for _ in range(3):
                await pilot.pause()
                seen[app.theme] = sent(app)
                app.action_next_theme()
        return seen

    monkeypatch.setenv("TERM", "xterm-256color")
    seen = asyncio.run(look())
    assert list(seen) == ["colour-blind", "ansi", "mono"]
    codes = {name: set(re.findall(r"\x1b\[([\d;]*)m", text)) for name, text in seen.items()}
    assert any("38;" in code for code in codes["colour-blind"])
    assert not any("38;" in code for code in codes["ansi"])
    assert {part for code in codes["mono"] for part in code.split(";")} <= {"0", "1", "2", "4", "7"}
    assert "1;7" in codes["mono"], "the highlighted row"


def test_no_color_is_respected_whatever_theme_is_asked_for() -> None:
    app = ThemedApp(SHIPPED, NO_COLOURS, "light")
    assert app.theme == "mono"
    app.theme = "light"
    assert [type(each).__name__ for each in app.get_line_filters()] == ["MonoFilter"]
