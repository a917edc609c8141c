"""Start-up stays light: heavy packages are imported by the function that needs them."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = {"torch", "anthropic", "pandas", "pyarrow"}
ROOMS = ("runs", "analyzers", "sessions", "diagnosis", "tui", "themes")
ENTRANCES = ("mltd.tui", "mltd.tui.cli", "mltd.runs.ingest")


@pytest.mark.parametrize("module", ENTRANCES)
def test_importing_an_entrance_loads_nothing_heavy(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not written yet")
    report = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}; print(*sys.modules, sep='\\n')"],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = set(report.stdout.split())
    assert module in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_imports_a_heavy_package_at_its_top(room: str) -> None:
    modules = sorted((ROOT / room).rglob("*.py"))
    assert modules
    assert {str(path.relative_to(ROOT)): found for path in modules if (found := heavy(path))} == {}


def heavy(path: Path) -> set[str]:
    """Heavy packages that a module imports when it is imported."""
    tree = ast.parse(path.read_bytes(), filename=str(path))
    return set(imported_when_loaded(tree.body)) & HEAVY


def test_the_search_sees_nested_imports_and_forgives_deferred_ones() -> None:
    source = """
if TYPE_CHECKING:
    import torch
try:
    from pandas.api import types
except ImportError:
    pass
class Table:
    import pyarrow.parquet
    def load(self):
        import anthropic
"""
    assert set(imported_when_loaded(ast.parse(source).body)) == {"pandas", "pyarrow"}


def imported_when_loaded(body: list[ast.stmt]) -> Iterator[str]:
    """Top-level names of the packages that running these statements imports."""
    for statement in body:
        match statement:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                yield from imported_when_loaded(orelse)
            case _:
                for block in ("body", "orelse", "finalbody"):
                    yield from imported_when_loaded(getattr(statement, block, []))
                for handler in getattr(statement, "handlers", []):
                    yield from imported_when_loaded(handler.body)
