"""Configuration written as Python assignments, as in OpenMMLab; parsed, never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping

from ..errors import FormatError

MOST_SOURCE = 512_000
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class _UnknownError(Exception):
    """The expression is not a literal."""


def read_assignments(source: str, name: str) -> dict[str, object]:
    """Values of the top-level `name = literal` statements; all else is passed over."""
    if len(source) > MOST_SOURCE:
        raise FormatError(f"{name} is too large for a configuration file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        raise FormatError(f"{name} is not valid Python: line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise FormatError(f"{name} is not valid Python, or too deeply nested") from None
    found: dict[str, object] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, expression = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, expression = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name):
            try:
                found[target.id] = _evaluate(expression, found, 0)
            except (_UnknownError, ArithmeticError):
                continue
    return found


def _evaluate(node: ast.expr, known: Mapping[str, object], depth: int) -> object:
    if depth > 40:
        raise _UnknownError
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return _known_only(items, known, depth)
        case ast.Dict(keys=keys, values=values):
            pairs = [
                (str(_evaluate(key, known, depth + 1)), item)
                for key, item in zip(keys, values, strict=True)
                if key is not None
            ]
            return _mapping(pairs, known, depth)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            return _mapping([(k.arg, k.value) for k in keywords if k.arg], known, depth)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _evaluate(operand, known, depth + 1)
            if isinstance(number, int | float):
                return -number if isinstance(sign, ast.USub) else number
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _ARITHMETIC):
            return _calculate(
                operator, _evaluate(left, known, depth + 1), _evaluate(right, known, depth + 1)
            )
    raise _UnknownError


def _calculate(operator: ast.operator, one: object, other: object) -> object:
    if not (isinstance(one, int | float) and isinstance(other, int | float)):
        raise _UnknownError
    if max(abs(one), abs(other)) > 1e18:
        raise _UnknownError
    match operator:
        case ast.Add():
            return one + other
        case ast.Sub():
            return one - other
        case ast.Mult():
            return one * other
        case _:
            return one / other


def _known_only(items: list[ast.expr], known: Mapping[str, object], depth: int) -> list[object]:
    values: list[object] = []
    for item in items:
        try:
            values.append(_evaluate(item, known, depth + 1))
        except _UnknownError:
            continue
    return values


def _mapping(
    pairs: list[tuple[str, ast.expr]], known: Mapping[str, object], depth: int
) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, node in pairs:
        try:
            found[key] = _evaluate(node, known, depth + 1)
        except _UnknownError:
            continue
    return found
