"""Everything that `make` installs is pinned, has hashes, and is refused if it is another file."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

import constraints
from constraints import Pin

PINS = constraints.read_pins(constraints.FILE.read_text())


def test_every_pin_has_hashes_and_someone_who_needs_it() -> None:
    assert len(PINS) > 90
    for pin in PINS.values():
        assert pin.hashes, pin.name
        assert len(set(pin.hashes)) == len(pin.hashes)
        assert pin.via, pin.name
    text = constraints.FILE.read_text().partition("\n\n")[2]
    assert text == "".join(pin.lines() for pin in PINS.values())


def test_every_dependency_is_pinned_under_its_extra() -> None:
    for extra, group in constraints.requirements().items():
        for requirement in group:
            assert f"[{extra or 'app'}]" in PINS[constraints.name_of(requirement)].via, requirement


def test_all_extras_select_the_whole_file() -> None:
    extras = [extra for extra in constraints.requirements() if extra]
    assert constraints.selected(PINS, extras) == list(PINS.values())


def test_the_demo_waits_neither_for_torch_nor_for_the_tools_of_the_tests() -> None:
    names = {pin.name for pin in constraints.selected(PINS, ["claude", "zstd"])}
    assert {"textual", "rich", "numpy", "anthropic", "zstandard", "hatchling"} <= names
    assert not names & {"torch", "pytest", "mypy", "ruff", "transformers", "pyarrow"}


def test_what_is_needed_through_an_extra_of_another_package_is_selected() -> None:
    assert "fsspec" in PINS["aiohttp"].via
    assert "aiohttp" in {pin.name for pin in constraints.selected(PINS, ["trainers"])}


@pytest.mark.parametrize(
    ("filename", "is_usable"),
    [
        ("a-1.0.tar.gz", True),
        ("a-1.0-py3-none-any.whl", True),
        ("a-1.0-py2.py3-none-any.whl", True),
        ("a-1.0-cp311-cp311-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", True),
        ("a-1.0-cp313-cp313-macosx_11_0_arm64.whl", True),
        ("a-1.0-cp39-abi3-manylinux_2_28_x86_64.whl", True),
        ("a-1.0-cp310-cp310-manylinux_2_28_x86_64.whl", False),
        ("a-1.0-cp39-cp39-macosx_11_0_arm64.whl", False),
        ("a-1.0-pp311-pypy311_pp73-manylinux_2_28_x86_64.whl", False),
        ("a-1.0-cp312-cp312-win_amd64.whl", False),
        ("a-1.0-cp39-abi3-win32.whl", False),
        ("a-1.0-py3-none-win_arm64.whl", False),
        ("a-1.0-cp313-cp313-ios_13_0_arm64_iphoneos.whl", False),
        ("a-1.0-cp313-cp313-pyodide_2025_0_wasm32.whl", False),
    ],
)
def test_hashes_are_of_files_that_can_be_installed(filename: str, is_usable: bool) -> None:
    assert constraints.is_usable(filename) is is_usable


def test_a_release_is_told_from_its_neighbours() -> None:
    def is_one(filename: str) -> bool:
        return constraints.is_release(filename, "a-b", "2.1")

    assert is_one("a_b-2.1-py3-none-any.whl")
    assert is_one("A.b-2.1.tar.gz")
    assert is_one("a_b-2.1+cpu-cp311-cp311-manylinux_2_28_x86_64.whl")
    assert not is_one("a_b-2.1.1-py3-none-any.whl")
    assert not is_one("a_b-2.1rc1.tar.gz")
    assert not is_one("a_b_c-2.1.tar.gz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with one wheel in it."""
    folder = tmp_path_factory.mktemp("wheels")
    with ZipFile(folder / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "")
        wheel.writestr(
            "tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
        )
        wheel.writestr(
            "tiny-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr("tiny-1.0.dist-info/RECORD", "")
    return folder


def tampered(digest: str) -> str:
    return f"{(int(digest[0], 16) + 1) % 16:x}{digest[1:]}"


@pytest.mark.parametrize(("change", "is_installed"), [(str, True), (tampered, False)])
def test_pip_refuses_what_has_another_hash(
    folder: Path, tmp_path: Path, change: Callable[[str], str], is_installed: bool
) -> None:
    (wheel,) = folder.iterdir()
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    pins = tmp_path / "pins.txt"
    pins.write_text(Pin("tiny", "1.0", ("0" * 64, change(digest)), ("[app]",)).lines())
    flags = "--require-hashes --no-deps"
    assert f"VERIFIED := $(PIP) install {flags}\n" in (constraints.ROOT / "Makefile").read_text()
    command = [
        *(sys.executable, "-m", "pip", "install", "--isolated", "--no-index"),
        *("--find-links", str(folder), "--target", str(tmp_path / "to"), *flags.split()),
        *("--requirement", str(pins)),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) is is_installed, done.stderr
    assert ("DO NOT MATCH THE HASHES" in done.stderr) is not is_installed
