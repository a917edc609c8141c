"""Versions: what is installed against what is asked for."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement as Reference
from packaging.specifiers import SpecifierSet

from mltd.tui.doctor.areas import versions
from mltd.tui.doctor.areas.requirement import Requirement, is_met, parse
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import Surroundings
from tests.conftest import ROOT

from .scene import only

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda n: ".".join(map(str, n)))
BOUNDS = st.lists(
    st.tuples(st.sampled_from([">=", "<=", "==", "!=", ">", "<"]), NUMBERS).map("".join), max_size=3
).map(",".join)


@given(NUMBERS, BOUNDS)
def test_bounds_mean_what_they_mean_to_pip(version: str, bounds: str) -> None:
    assert is_met(version, bounds) == SpecifierSet(bounds).contains(version)


@given(st.text(max_size=40))
def test_no_metadata_breaks_the_reader(text: str) -> None:
    parse(text)
    is_met(text, text)


@pytest.mark.parametrize("version", ["2.13.0+cpu", "2.13.0rc1", "v2.13"])
def test_labels_behind_the_numbers_do_not_matter(version: str) -> None:
    assert is_met(version, ">=2.2,<3")
    assert not is_met(version, "<2.13")


@pytest.mark.parametrize("entry", [*PROJECT["dependencies"], *chain(*EXTRAS.values())])
def test_every_entry_of_the_project_is_understood(entry: str) -> None:
    found, reference = parse(f"{entry}; extra == 'x'"), Reference(entry)
    assert found is not None
    assert (found.name, found.extra) == (reference.name, "x")
    assert SpecifierSet(found.bounds) == reference.specifier


def test_every_extra_says_what_it_is_good_for() -> None:
    assert set(versions.GAINS) == set(EXTRAS) - {"dev", "trainers"}


def test_the_installed_packages_fit() -> None:
    lines = [line for check in versions.CHECKS for line in check.look(Surroundings())]
    assert {line.state for line in lines} == {State.OK}
    assert lines[0].fact.startswith("mltd-tui ")
    assert "numpy" in lines[1].fact
    assert not any("pytest" in line.fact for line in lines)


def test_what_is_missing_or_does_not_fit_is_named() -> None:
    wanted = [
        Requirement("numpy", ">=1.26"),
        Requirement("textual", ">=8,<9"),
        Requirement("orjson", ">=3"),
        Requirement("zstandard", ">=0.22", "zstd"),
        Requirement("torch", ">=2.2", "torch"),
        Requirement("ruff", "", "dev"),
    ]
    there = {"numpy": "2.0", "textual": "9.1", "torch": "1.9"}
    told = [(line.state, line.fact) for line in versions.compared(wanted, there.get)]
    assert told == [
        (State.OK, "needed: numpy 2.0"),
        (State.PROBLEM, "textual 9.1 does not fit: >=8,<9 is asked for"),
        (State.PROBLEM, "orjson is not installed"),
        (State.OK, "zstandard is not installed"),
        (State.WARNING, "torch 1.9 does not fit: >=2.2 is asked for"),
    ]
    advice = [line.advice for line in versions.compared(wanted, there.get)][3]
    assert advice == f"`pip install --upgrade 'mltd-tui[zstd]'` for {versions.GAINS['zstd']}"


def test_a_python_that_is_too_old_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.python_version", lambda: "3.9.2")
    line = only(versions.python(Surroundings()))
    assert line.state is State.PROBLEM
    assert "Python 3.9.2, but >=3.11 is needed" in line.fact


def test_a_copy_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "OURSELVES", "nothing-of-this-name")
    assert only(versions.python(Surroundings())).state is State.WARNING
    assert list(versions.packages(Surroundings())) == []


def test_no_package_is_imported_to_learn_its_version() -> None:
    script = (
        "import sys; from mltd.tui.doctor.areas.versions import CHECKS\n"
        "from mltd.tui.doctor.surroundings import Surroundings\n"
        "for check in CHECKS: list(check.look(Surroundings()))\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.split())
    assert loaded & {"numpy", "pandas", "torch", "textual", "pydantic", "watchdog"} == set()
