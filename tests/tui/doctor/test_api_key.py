"""Claude: whether and how it could be asked is told, never anything of a key."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout
from pathlib import Path
from string import ascii_letters, digits
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.client import access, sdk_client
from mltd.tui.doctor.areas import api_key
from mltd.tui.doctor.line import Line, State
from mltd.tui.doctor.programs import Answer
from mltd.tui.doctor.surroundings import Surroundings
from tests.diagnosis.sdk_profiles import Profiles

from .scene import only

ADDRESS = "ANTHROPIC_BASE_URL"
GOOD = "sk-ant-api03-" + "Zq7" * 30
ASK_DESTINATION = api_key.ask_destination


def told(environment: dict[str, str], config: Path = Path("/nonexistent")) -> Line:
    """The one line, without anything that this machine's user has set up."""
    home = {"HOME": "/nonexistent", **environment}
    return only(api_key.claude(Surroundings(home, config=config, patience=120)))


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "is_installed", lambda: True)
    monkeypatch.delenv("MLTD_MODEL", raising=False)


@pytest.fixture(autouse=True)
def _asked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find out the destination in this process: its own one would import the SDK for each test."""
    monkeypatch.setattr(api_key, "ask_destination", destination_here)


def destination_here(around: Surroundings) -> Answer:
    """Do what the process does, with the environment that it would have."""
    output, code, errors = io.StringIO(), 0, ""
    with mock.patch.dict(os.environ, around.environment, clear=True), redirect_stdout(output):
        try:
            sdk_client.main()
        except SystemExit as end:
            code, errors = 1, str(end.code)
    return Answer(code, output.getvalue(), errors)


@pytest.mark.parametrize(
    "environment",
    [{api_key.NAME: GOOD}, {ADDRESS: "http://[nowhere", api_key.NAME: GOOD}],
    ids=["good", "bad"],
)
def test_a_process_of_its_own_answers_as_this_one_does(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = told(environment)
    monkeypatch.setattr(api_key, "ask_destination", ASK_DESTINATION)
    assert told(environment) == here


@pytest.fixture
def profiles(tmp_path: Path) -> Profiles:
    return Profiles(tmp_path / ".config" / "anthropic")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_no_way_to_log_in_is_no_fault() -> None:
    line = told({})
    assert line.state is State.OK
    assert "no way to log in" in line.fact
    assert api_key.NAME in line.advice


def test_a_plausible_key_is_fine_and_the_model_and_the_host_are_told() -> None:
    line = told({api_key.NAME: GOOD})
    assert line.state is State.OK
    assert "claude-sonnet-" in line.fact
    assert f"at api.anthropic.com, logged in by {api_key.NAME}" in line.fact


def test_the_model_of_the_environment_and_of_the_file_is_told(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('[claude]\nmodel = "claude-opus-5-5"\n')
    assert "claude-opus-5-5 can be asked" in told({api_key.NAME: GOOD}, config).fact
    monkeypatch.setenv("MLTD_MODEL", "claude-haiku-5-5")
    assert "claude-haiku-5-5 can be asked" in told({api_key.NAME: GOOD}, config).fact


@pytest.mark.parametrize(
    ("environment", "way"),
    [
        ({"ANTHROPIC_AUTH_TOKEN": "abc"}, "ANTHROPIC_AUTH_TOKEN"),
        ({"ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer x"}, "ANTHROPIC_CUSTOM_HEADERS"),
        ({"ANTHROPIC_PROFILE": "work"}, "the profile work"),
    ],
)
def test_every_way_to_log_in_counts(
    environment: dict[str, str], way: str, profiles: Profiles
) -> None:
    profiles("work")
    profiles("default")
    line = told({**environment, "ANTHROPIC_CONFIG_DIR": str(profiles.folder)})
    assert line.state is State.OK
    assert f"logged in by {way}" in line.fact


def test_a_profile_of_the_user_counts_and_its_host_is_named(profiles: Profiles) -> None:
    profiles("default", "https://collector.example:8443/v1")
    fact = told({"HOME": str(profiles.folder.parents[1])}).fact
    assert "at collector.example:8443, logged in by the active profile" in fact


def test_a_profile_that_is_broken_is_told(profiles: Profiles) -> None:
    around = {"ANTHROPIC_PROFILE": "gone", "ANTHROPIC_CONFIG_DIR": str(profiles.folder)}
    line = told(around)
    assert line.state is State.WARNING
    assert "cannot be read" in line.fact
    assert "correct the profile" in line.advice


def test_a_host_that_is_not_found_out_in_time_is_not_guessed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api_key, "ask_destination", lambda around: Answer(None, is_late=True))
    line = told({api_key.NAME: GOOD})
    assert line.state is State.OK
    assert "api.anthropic.com" not in line.fact
    assert "you see where before you agree" in line.fact


def test_another_host_is_named_and_its_keys_may_look_like_anything() -> None:
    around = {ADDRESS: "https://me:pass@gate.example.org:8443/v1", api_key.NAME: "k-17"}
    line = told(around)
    assert line.state is State.OK
    assert "at gate.example.org" in line.fact
    assert "pass" not in line.fact


def test_an_address_that_is_none_is_told() -> None:
    line = told({ADDRESS: "http://[nowhere", api_key.NAME: GOOD})
    assert line.state is State.WARNING
    assert ADDRESS in line.fact


def test_a_site_that_forbids_it_is_believed(config: Path) -> None:
    config.write_text("[claude]\nenabled = false\n")
    line = told({api_key.NAME: GOOD}, config)
    assert line.state is State.OK
    assert "switched off" in line.fact
    assert str(config) in line.fact


def test_mistakes_in_the_file_are_left_to_the_area_of_the_file(config: Path) -> None:
    config.write_text('[claude]\nmodle = "x"\n')
    assert told({api_key.NAME: GOOD}, config).state is State.OK
    config.write_text("[claude\n")
    line = told({api_key.NAME: GOOD}, config)
    assert line.state is State.WARNING
    assert "not known before" in line.fact


@pytest.mark.parametrize("has_key", [False, True])
def test_without_the_package_the_one_command_is_told(
    has_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "is_installed", lambda: False)
    line = told({api_key.NAME: GOOD} if has_key else {})
    assert line.state is (State.WARNING if has_key else State.OK)
    assert "`pip install 'mltd-tui[claude]'`" in line.advice


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "empty"),
        (" \n", "empty"),
        (f"{GOOD}\n", "white space"),
        (f"'{GOOD}'", "quotes"),
        (f"{GOOD[:30]} {GOOD[30:]}", "the form of a key"),
        ("sk-ant-", "the form of a key"),
        ("sk-proj-" + "a" * 40, "the form of a key"),
    ],
)
def test_what_cannot_be_a_key_is_told_why(value: str, fault: str) -> None:
    line = told({api_key.NAME: value})
    assert line.state is State.WARNING
    assert fault in line.fact


@given(
    # Upper case and digits alone, so that no part of it is a word of the answer by chance.
    st.text("BCDFGHJKLMNQRSTVWXYZ0123456789", min_size=6, max_size=60),
    st.sampled_from(["{}", "sk-ant-{}", " {}", "'{}'", "sk-ant-{}\n", "{} {}"]),
)
def test_nothing_of_a_key_is_ever_shown(secret: str, form: str) -> None:
    answer = Answer(0, "api.anthropic.com")
    with pytest.MonkeyPatch.context() as patch:  # a process for each example would take minutes
        patch.setattr(api_key, "ask_destination", lambda around: answer)
        line = told({api_key.NAME: form.format(secret, secret)})
    said = line.fact + line.advice
    assert not any(secret[at : at + 6] in said for at in range(len(secret) - 5))


@given(st.text(ascii_letters + digits + "_-", min_size=20, max_size=200))
def test_every_key_of_the_usual_form_is_accepted(tail: str) -> None:
    assert api_key.fault_of(f"sk-ant-{tail}") == ""
