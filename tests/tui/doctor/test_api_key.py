"""The API key: its presence is told, never anything of it."""

from __future__ import annotations

from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.tui.doctor.areas import api_key
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import Surroundings

from .scene import only

GOOD = "sk-ant-api03-" + "Zq7" * 30


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_key, "_is_installed", lambda: True)


def test_a_missing_key_is_no_fault() -> None:
    line = only(api_key.key(Surroundings()))
    assert line.state is State.OK
    assert "not set" in line.fact


def test_a_plausible_key_is_fine() -> None:
    assert only(api_key.key(Surroundings({api_key.NAME: GOOD}))).state is State.OK


def test_a_key_without_its_package_is_of_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_key, "_is_installed", lambda: False)
    line = only(api_key.key(Surroundings({api_key.NAME: GOOD})))
    assert line.state is State.WARNING
    assert "mltd-tui[claude]" in line.advice


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
    line = only(api_key.key(Surroundings({api_key.NAME: value})))
    assert line.state is State.WARNING
    assert fault in line.fact


@given(
    # Upper case and digits alone, so that no part of it is a word of the answer by chance.
    st.text("BCDFGHJKLMNQRSTVWXYZ0123456789", min_size=6, max_size=60),
    st.sampled_from(["{}", "sk-ant-{}", " {}", "'{}'", "sk-ant-{}\n", "{} {}"]),
)
def test_nothing_of_a_key_is_ever_shown(secret: str, form: str) -> None:
    line = only(api_key.key(Surroundings({api_key.NAME: form.format(secret, secret)})))
    told = line.fact + line.advice
    assert not any(secret[at : at + 6] in told for at in range(len(secret) - 5))


@given(st.text(ascii_letters + digits + "_-", min_size=20, max_size=200))
def test_every_key_of_the_usual_form_is_accepted(tail: str) -> None:
    assert api_key.fault_of(f"sk-ant-{tail}") == ""
