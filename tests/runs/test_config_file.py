"""A mistake in the configuration file is told with its line, and costs nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis import settings as claude_settings
from mltd.runs import settings as run_settings
from mltd.runs.config_file import ConfigFile, parse_config, read_config
from mltd.runs.errors import SettingsError
from mltd.tui import settings as screen_settings


def told(text: str) -> list[str]:
    return list(parse_config(text, "c.toml").told())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n[scren]\n", "c.toml:2: unknown table [scren], ignored (did you mean [screen]?)"),
        ("[SCREEN]\n", "c.toml:1: unknown table [SCREEN], ignored (did you mean [screen]?)"),
        ("[[patern]]\n", "unknown table [[patern]], ignored (did you mean [[pattern]]?)"),
        ("[colours]\n", "c.toml:1: unknown table [colours], ignored"),
        (
            'theme = "light"\n',
            "c.toml:1: unknown key theme outside of all tables, ignored (it belongs in [screen])",
        ),
        (
            "[screen]\n\nbel = true\n",
            "c.toml:3: unknown key bel in [screen], ignored (did you mean bell?)",
        ),
        (
            "[follow]\nbell = true\n",
            "c.toml:2: unknown key bell in [follow], ignored (it belongs in [screen])",
        ),
        (
            "[[pattern]]\nregex = '(?P<x>.)'\nregx = 'x'\n",
            "c.toml:3: unknown key regx in [[pattern]], ignored (did you mean regex?)",
        ),
        ('[screen]\nbell = "y"\n', 'screen.bell = "y" must be true or false; using false'),
        (
            "[screen]\nunicode = 1\n",
            "screen.unicode = 1 must be true or false; using what the locale says",
        ),
        ("[screen]\ntheme = 3\n", "screen.theme = 3 must be the name of a theme; using the theme"),
        ("[screen]\ndesktop_notifications = true\n", '"osc9", "osc777" or false; using false'),
        ("screen = 3\n", "c.toml:1: [screen] must be a table; ignored"),
        ("[[screen]]\n", "c.toml:1: [screen] must be a table; ignored"),
        ("[keys]\na.b = 3\n", 'c.toml:2: keys."a.b" = 3 must be a text such as "e" or "e,end"'),
        ("[roles]\nx = 3\n", 'c.toml:2: roles."x" = 3 must be a text such as "train/loss"'),
        ("[follow]\npoll_seconds = -1\n", "above 0, up to 3600; using inotify"),
        ("[follow]\npoll_seconds = true\n", "follow.poll_seconds = true must be a number"),
        ("[claude]\nenabled = 1\n", "claude.enabled = 1 must be true or false; using false"),
        ("[claude]\nmodel = ''\n", "claude.model"),
        ("[claude]\nsecond = 5\n", "did you mean seconds?"),
        ("[claude]\nseconds = true\n", "a number from 1 to 3600; using 300"),
        ("[claude]\nseconds = nan\n", "a number from 1 to 3600; using 300"),
        ("[claude]\nseconds = inf\n", "a number from 1 to 3600; using 3600"),
        ("[claude]\nrounds = 1.5\n", "a whole number from 0 to 200; using 12"),
        ("[claude]\nmax_dollars = 0\n", "a number from 0.01 to 10000; using 0.01"),
        ("[claude]\nsources = '~/code'\n", "a list of folders"),
        ("[claude]\nsources = [3]\n", "a list of folders"),
        ("[claude]\ngrace_seconds = 5\n", "unknown key grace_seconds in [claude], ignored"),
        ("[[pattern]]\nname = 'a'\n", "'a' needs a text 'regex'; the pattern is ignored"),
        ("[[pattern]]\nregex = '(?P<loss>'\n", "c.toml:2: the regex of 'pattern 1' is malformed"),
        ("[[pattern]]\nregex = 'x'\n", "has no named group such as (?P<loss>...)"),
        ("[pattern]\nregex = 'x'\n", "write [[pattern]] above each pattern; ignored"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_is_used_instead(text: str, said: str) -> None:
    (sentence,) = told(text)
    assert said in sentence
    assert sentence.startswith("c.toml:")


def test_the_rest_of_the_file_is_applied(own_home: Path) -> None:
    path = own_home / ".config" / "mltd" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(
        '[scren]\nbell = true\n[screen]\nbell = "loud"\ntheme = "light"\n'
        '[keys]\n"log.follow" = 3\n"log.wrap" = "W"\n'
        "[[pattern]]\nregex = '('\n[[pattern]]\nregex = '^T(?P<step>.)'\n"
        '[follow]\npoll_seconds = 2\npol = 1\n[roles]\nx = 1\ny = "lr"\n'
        "[claude]\nrounds = 999\nmax_dollars = 0\nseconds = 60\n"
    )
    screen = screen_settings.load()
    assert (screen.theme, screen.bell, dict(screen.keys)) == ("light", False, {"log.wrap": "W"})
    runs = run_settings.current()
    assert (runs.poll_seconds, len(runs.patterns)) == (2.0, 1)
    assert runs.roles.overrides == {"y": "lr"}
    claude = claude_settings.load()
    assert (claude.rounds, claude.max_dollars, claude.seconds) == (200, 0.01, 60)
    lines = [mistake.line for mistake in read_config().mistakes]
    assert lines == [1, 4, 7, 10, 15, 17, 20, 21]


def test_a_file_without_mistakes_has_none() -> None:
    assert told('[screen]\ntheme = "light"\n[follow]\n[keys]\n[roles]\n[claude]\n') == []


def test_without_a_file_there_is_nothing(tmp_path: Path) -> None:
    assert read_config(tmp_path / "none.toml") == ConfigFile(str(tmp_path / "none.toml"), {})


@pytest.mark.parametrize("content", [b"[claude", b"\xff", b"a = 1\na = 2"])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match="cannot be read"):
        read_config(path)


_VALUES = st.sampled_from(
    ["1", "-1", "1e400", "nan", "true", '"x"', "[]", "[1]", '["a"]', "{}", "{a = 1}", "1979-05-27"]
)
_KEYS = st.sampled_from(
    ["theme", "unicode", "bell", "enabled", "model", "rounds", "sources", "regex", "name", "x"]
)
_HEADERS = st.sampled_from(
    ["screen", "keys", "roles", "follow", "claude", "pattern", "[pattern]", "[screen]", "x"]
)


@given(st.dictionaries(_HEADERS, st.dictionaries(_KEYS, _VALUES)))
def test_whatever_is_written_the_settings_can_be_used(tables: dict[str, dict[str, str]]) -> None:
    names = [name.strip("[]") for name in tables]
    if len(names) > len(set(names)):
        return
    rows = []
    for table, values in tables.items():
        rows += [f"[{table}]", *(f"{name} = {value}" for name, value in values.items())]
    config = parse_config("\n".join(rows), "c.toml")
    screen_settings.settings_of(config)
    run_settings.settings_of(config)
    claude_settings.settings_of(config)
    for mistake in config.mistakes:
        assert mistake.line > 0
