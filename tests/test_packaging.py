"""The wheel holds the whole tree and nothing else, whichever way it was built."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

import mltd.runs
from tests.conftest import ROOT

BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
ROOMS: dict[str, str] = BUILD["targets"]["wheel"]["sources"]


def files_of_the_tree() -> set[str]:
    """Every file of every room, under the name it has in the wheel."""
    return {
        f"{import_path}/{path.relative_to(ROOT / room).as_posix()}"
        for room, import_path in ROOMS.items()
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def build(target: str, source: Path, destination: Path) -> Path:
    """Build offline, with the hatchling that is installed."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(destination)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (built,) = destination.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sdist = build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))
    target = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(target, filter="data")
    (tree,) = target.iterdir()
    return tree


def names_in(wheel: Path) -> tuple[set[str], set[str]]:
    """The wheel's files: those that are installed as modules, and its metadata."""
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    metadata = {name for name in names if ".dist-info/" in name}
    return names - metadata, metadata


def test_the_wheel_is_the_tree(wheel: Path) -> None:
    modules, metadata = names_in(wheel)
    assert modules == files_of_the_tree()
    assert any(name.endswith("licenses/LICENSE") for name in metadata)


def test_the_tree_has_what_a_typed_package_with_data_needs() -> None:
    files = files_of_the_tree()
    assert {f"{import_path}/py.typed" for import_path in ROOMS.values()} <= files
    assert any(name.endswith("/recording.toml") for name in files)


def test_a_wheel_built_from_the_sdist_is_complete(unpacked_sdist: Path, tmp_path: Path) -> None:
    modules, _ = names_in(build("wheel", unpacked_sdist, tmp_path))
    assert modules == files_of_the_tree()


def test_the_sdist_can_be_set_up_and_tested(unpacked_sdist: Path) -> None:
    for name in (
        *("Makefile", "constraints.txt", "constraints.py", "hatch_build.py"),
        *("LICENSE", "tests/conftest.py"),
    ):
        assert (unpacked_sdist / name).read_bytes() == (ROOT / name).read_bytes()


def test_every_room_is_listed_everywhere() -> None:
    rooms = list(ROOMS)
    assert BUILD["targets"]["wheel"]["only-include"] == rooms
    assert BUILD["targets"]["sdist"]["only-include"][: len(rooms)] == rooms
    assert f"mltd/,{' '.join(rooms)})" in (ROOT / "Makefile").read_text()
    assert rooms == [path.parent.name for path in sorted(ROOT.glob("*/py.typed"), key=order)]


def order(marker: Path) -> int:
    """Sort known rooms as listed, and a forgotten one to the end."""
    return [*ROOMS, marker.parent.name].index(marker.parent.name)


def test_there_is_one_version(wheel: Path) -> None:
    assert wheel.name.startswith(f"mltd_tui-{mltd.runs.__version__}-")
    assert version("mltd-tui") == mltd.runs.__version__


def test_the_changelog_has_a_place_for_the_next_change() -> None:
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text()
