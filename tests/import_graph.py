"""The imports between the modules of this repository, read from their source without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("runs", "analyzers", "sessions", "diagnosis", "tui", "themes")
OWN = ("mltd", "tests", "benchmarks", "demo")
TRAINERS = frozenset(
    ("torch", "keras", "transformers", "accelerate", "lightning", "pytorch_lightning")
)
"""The libraries that train: large, slow to import, and absent from a light environment."""


def name_of(path: Path) -> str | None:
    """Return the import name of a file of this repository, if it has one."""
    try:
        parts = list(path.resolve().relative_to(ROOT).with_suffix("").parts)
    except ValueError:
        return None
    if path.suffix != ".py" or len(parts) < 2 or parts[0] not in (*ROOMS, *OWN[1:]):
        return None
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(["mltd", *parts] if parts[0] in ROOMS else parts)


@cache
def path_of(name: str) -> Path | None:
    """Return the file of a module of this repository, if there is one of this name."""
    parts = name.split(".")
    if parts[0] not in OWN:
        return None
    place = ROOT.joinpath(*(parts[1:] if parts[0] == "mltd" else parts))
    for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
        if len(parts) > 1 and path.is_file():
            return path
    return None


@cache
def imports_at_load(name: str) -> frozenset[str]:
    """Return what a module imports when it is loaded itself: ours as modules, others by name."""
    path = path_of(name)
    return frozenset(_imports(path, name, within_functions=False)) if path else frozenset()


@cache
def all_imports(name: str) -> frozenset[str]:
    """Return what a module imports at any time."""
    path = path_of(name)
    return frozenset(_imports(path, name, within_functions=True)) if path else frozenset()


@cache
def loaded_with(name: str) -> frozenset[str]:
    """Return all that is imported when a module is: itself, its imports, and theirs."""
    seen = {name}
    waiting = [name]
    while waiting:
        named = imports_at_load(waiting.pop())
        new = named.union(*map(_packages_above, named)) - seen
        seen |= new
        waiting += [each for each in new if path_of(each)]
    return frozenset(seen)


@cache
def used_by_test(name: str) -> frozenset[str]:
    """Return what a test module imports by name, itself or through helpers of the tests."""
    seen = {name}
    waiting = [name]
    while waiting:
        new = all_imports(waiting.pop()) - seen
        seen |= new
        waiting += [each for each in new if each.startswith("tests.")]
    return frozenset(seen)


def needs_trainer(name: str) -> bool:
    """Tell whether importing a module imports one of the libraries that train."""
    return not TRAINERS.isdisjoint(loaded_with(name))


def _imports(path: Path, name: str, *, within_functions: bool) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _statements(ast.parse(path.read_bytes()), within_functions):
        match node:
            case ast.Import(names=aliases):
                yield from (_ours_or_top(alias.name) for alias in aliases)
            case ast.ImportFrom(module=module, names=aliases, level=level):
                base = _absolute(package, module, level)
                for alias in aliases:
                    member = f"{base}.{alias.name}"
                    yield _ours_or_top(member if path_of(member) else base)
            case ast.Call(
                func=ast.Attribute(attr="importorskip"), args=[ast.Constant(str(it)), *_]
            ):
                yield _ours_or_top(it)


def _statements(tree: ast.AST, within_functions: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if not within_functions:
                continue
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield other
                yield from _statements(other, within_functions)
            continue
        yield child
        yield from _statements(child, within_functions)


def _absolute(package: str, module: str | None, level: int) -> str:
    if not level:
        return module or ""
    parts = package.split(".")
    base = parts[: len(parts) - (level - 1)]
    return ".".join([*base, *([module] if module else [])])


def _ours_or_top(name: str) -> str:
    """Return a module of ours as it is, and only the first word of any other."""
    top = name.partition(".")[0]
    return name if top in OWN else top


def _packages_above(name: str) -> list[str]:
    """Return the packages that are imported before a module of ours is."""
    parts = name.split(".")
    names = [".".join(parts[:count]) for count in range(1, len(parts))]
    return [each for each in names if path_of(each)]
