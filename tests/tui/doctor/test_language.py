"""The locale: who decides between Unicode and ASCII."""

from __future__ import annotations

import shutil

import pytest

from mltd.tui.doctor.areas.language import drawing, installed
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import Surroundings

from .scene import SYSTEM, only


@pytest.mark.parametrize(
    ("environment", "setting", "state", "fact"),
    [
        ({"LANG": "C.UTF-8"}, None, State.OK, "Unicode: LANG=C.UTF-8"),
        ({"LANG": "C.UTF-8", "LC_ALL": "C"}, None, State.WARNING, "in ASCII: LC_ALL=C"),
        ({}, None, State.WARNING, "no locale is set"),
        ({"LANG": "C"}, True, State.OK, "Unicode, as the configuration file asks (LANG=C)"),
        ({"LANG": "C.UTF-8"}, False, State.OK, "ASCII, as the configuration file asks"),
    ],
)
def test_the_locale_decides_unless_the_user_does(
    environment: dict[str, str], setting: bool | None, state: State, fact: str
) -> None:
    line = only(drawing(Surroundings(environment, is_unicode=setting)))
    assert line.state is state
    assert fact in line.fact


def test_a_locale_that_is_not_installed_is_noticed() -> None:
    if shutil.which("locale", path=SYSTEM) is None:
        pytest.skip("no program called locale here")
    strange = Surroundings({"PATH": SYSTEM, "LC_ALL": "xx_XX.UTF-8"}, patience=20)
    assert only(installed(strange)).state is State.WARNING
    assert list(installed(Surroundings({"PATH": SYSTEM, "LC_ALL": "C"}, patience=20))) == []
    assert list(installed(Surroundings({"PATH": "/nowhere", "LC_ALL": "xx"}))) == []
