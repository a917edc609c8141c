"""Frozen dataclasses of plain values as JSON and back."""

from __future__ import annotations

import dataclasses
import gc
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import orjson

from ..errors import FormatError

T = TypeVar("T")


def to_json(value: object) -> bytes:
    """A dataclass as JSON."""
    return orjson.dumps(value)


def from_json(kind: type[T], data: bytes | str) -> T:
    """The dataclass that was written."""
    try:
        with _unswept():
            return from_plain(kind, orjson.loads(data))
    except (orjson.JSONDecodeError, TypeError, KeyError, ValueError, AttributeError) as error:
        raise FormatError(f"this is no {kind.__name__}: {error}") from None


@contextmanager
def _unswept() -> Iterator[None]:
    """Without looks for garbage: of a hundred thousand tensors they take half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def from_plain(kind: type[T], plain: object) -> T:
    """The dataclass that JSON's own types describe."""
    make: Callable[[Any], T] = _maker(cast("Any", kind))
    return make(plain)


@lru_cache(maxsize=256)
def _maker(kind: Any) -> Callable[[Any], Any]:
    """How to make a value of a type; looked up once, as there may be a hundred thousand."""
    origin, inner = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        makers = [(field.name, _maker(hints[field.name])) for field in dataclasses.fields(kind)]
        made: Any = kind
        return lambda plain: made(**{name: make(plain[name]) for name, make in makers})
    if origin is tuple and len(inner) == 2 and inner[1] is Ellipsis:
        each = _maker(inner[0])
        return lambda plain: tuple([each(one) for one in plain])
    if origin is tuple:
        parts = [_maker(part) for part in inner]
        return lambda plain: tuple([m(one) for m, one in zip(parts, plain, strict=True)])
    if origin in (Union, types.UnionType):
        only = _maker(next(part for part in inner if part is not type(None)))
        return lambda plain: None if plain is None else only(plain)
    if kind is float:
        return float
    if origin is Literal or kind in (str, int, bool):
        return lambda plain: plain
    raise TypeError(f"{kind} is no plain type")
