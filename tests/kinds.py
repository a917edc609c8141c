"""The kind of every test, as a marker: found from what it calls, imports and asks for."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.expression import Expression

from tests.import_graph import ROOT, TRAINERS, name_of, needs_trainer

KINDS = {
    "pilot": "drives a Textual app or widget",
    "service": "talks to a program that must be installed: sshd, sshfs, tmux, Slurm",
    "trainer": "needs torch, Keras, transformers or Lightning",
    "bench": "measures against the benches or the collection of real logs",
    "unit": "none of these",
}
FIXTURES = {"require_service": "service", "corpus": "bench", "snap_compare": "pilot"}
"""Fixtures that tell the kind of a test by their name alone."""
NAMES = {"run_test": "pilot"} | dict.fromkeys(TRAINERS, "trainer")
"""Names that tell the kind of the function they stand in."""
CONSTANTS = {"MLTD_REQUIRE_SERVICES": "service", "MLTD_CORPUS": "bench"} | dict.fromkeys(
    TRAINERS, "trainer"
)
"""Texts that do so too: what obeys a setting, or is imported by its name."""
BENCHES = ROOT / "tests" / "benchmarks"


def register(config: pytest.Config) -> None:
    """Make the markers known, so that `--strict-markers` accepts them."""
    for kind, meaning in KINDS.items():
        config.addinivalue_line("markers", f"{kind}: {meaning}")


def mark(items: Iterable[pytest.Item]) -> None:
    """Give each test the markers of its kinds."""
    for item in items:
        for kind in kinds_of(item) or {"unit"}:
            item.add_marker(kind)


def kinds_of(item: pytest.Item) -> set[str]:
    """Return the kinds of a test but `unit`, which is the absence of all others."""
    kinds: set[str] = set()
    if item.path.is_relative_to(BENCHES):
        kinds.add("bench")
    if (name := name_of(item.path)) and needs_trainer(name):
        kinds.add("trainer")
    if isinstance(item, pytest.Function):
        kinds |= _kinds_of_function(item.function)
        for name, definitions in item._fixtureinfo.name2fixturedefs.items():
            if name in FIXTURES:
                kinds.add(FIXTURES[name])
            for definition in definitions:
                kinds |= _kinds_of_function(definition.func)
    return kinds


@cache
def _kinds_of_function(function: Any) -> frozenset[str]:
    """Return the kinds told by a function and by all of the tests' own that it can reach."""
    kinds: set[str] = set()
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        reached = _inner(waiting.pop())
        if id(reached) in seen or not getattr(reached, "__module__", "").startswith("tests"):
            continue
        seen.add(id(reached))
        if isinstance(reached, type):
            waiting += [each for each in vars(reached).values() if callable(_inner(each))]
            waiting += reached.__bases__
        elif isinstance(reached, types.FunctionType):
            for code in _codes(reached.__code__):
                kinds |= {NAMES[name] for name in code.co_names if name in NAMES}
                kinds |= {CONSTANTS[text] for text in code.co_consts if text in CONSTANTS}
                waiting += _named(code, reached.__globals__)
    return frozenset(kinds)


def _inner(thing: Any) -> Any:
    """Return the function below decorators, properties and class methods."""
    while True:
        for wrapper in ("__wrapped__", "__func__", "fget"):
            if (inner := getattr(thing, wrapper, None)) is not None:
                thing = inner
                break
        else:
            return thing


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _named(code: types.CodeType, names: dict[str, Any]) -> Iterator[Any]:
    """Give what a function names: things of its module, and of modules that it names."""
    found = [names[name] for name in code.co_names if name in names]
    for each in found:
        if isinstance(each, types.ModuleType):
            if each.__name__.startswith("tests"):
                yield from (vars(each)[name] for name in code.co_names if name in vars(each))
        else:
            yield each


class LeftOut(pytest.Module):
    """A test module that is not even imported, because of what it would import."""

    reason = ""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Say why none of its tests is run."""
        raise pytest.skip.Exception(self.reason, allow_module_level=True)


def make_module(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Leave out a module that needs trainers where there are none, or where none are wanted."""
    reason = _reason(parent.config.getoption("markexpr"))
    name = name_of(module_path)
    if not reason or name is None or not needs_trainer(name):
        return None
    module: LeftOut = LeftOut.from_parent(parent, path=module_path)
    module.reason = reason
    return module


def may_match(expression: str, kind: str) -> bool:
    """Tell whether a test of this kind, and maybe of others, can fulfil a `-m` expression."""
    if not expression:
        return True
    others = [each for each in KINDS if each not in (kind, "unit")]
    return any(
        _matches(expression, {kind, *more})
        for count in range(len(others) + 1)
        for more in combinations(others, count)
    )


def _matches(expression: str, kinds: set[str]) -> bool:
    """Evaluate an expression; markers that are no kinds are taken to be there."""

    def has(name: str, /, **_: Any) -> bool:
        return name in kinds or name not in KINDS

    return Expression.compile(expression).evaluate(has)


@cache
def _reason(expression: str) -> str:
    """Say why nothing that trains can be imported here, if that is so."""
    if not may_match(expression, "trainer"):
        return "its tests need a trainer, which -m leaves out"
    try:
        is_there = find_spec("torch") is not None
    except ImportError:
        is_there = False
    return "" if is_there else "not installed: torch"
