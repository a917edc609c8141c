"""Hooks on modules that neither copying, pickling nor compiling a model can trip over.

Only entrances of the model (itself and the modules near its root) carry a hook for good. On a step
that is recorded an entrance hooks the modules below it for the time of the forward pass; so a
validation in between runs as without a probe, fast paths included. Code that `torch.compile` traces
sees a hook that does nothing: no graph break, no other graph, and no activations.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from torch import nn
    from torch.utils.hooks import RemovableHandle

DEEPEST_ENTRANCE = 2
"""Levels under the root at which training code may enter the model by itself."""
_FAST_PATH = "TransformerEncoderLayer"
"""Evaluates itself in one kernel, but only if no module in it carries a hook."""


def compiling_test() -> Callable[[], bool]:
    """A function that is true while torch.compile traces code; older versions have none."""
    import torch

    found: Callable[[], bool] | None = getattr(torch.compiler, "is_compiling", None)
    return found or (lambda: False)


class Visitor(Protocol):
    """Who wants to see what happens in a forward pass."""

    is_waiting: bool
    """True if the next forward pass is to be seen."""

    def enter(self, module: nn.Module) -> None:
        """A forward pass begins at this module."""
        ...

    def leave(self, module: nn.Module) -> None:
        """It is over."""
        ...


class Gate:
    """The hook of an entrance; a copy of it, in a copied or saved model, does nothing."""

    __slots__ = ("__weakref__", "_is_compiling", "_is_exit", "_module", "_visitor")

    def __init__(self, module: nn.Module, visitor: Visitor, *, is_exit: bool) -> None:
        self._is_compiling = compiling_test()
        self._module = weakref.ref(module)
        self._visitor = visitor
        self._is_exit = is_exit

    def __call__(self, module: nn.Module, *_: Any) -> None:
        """Tell the visitor, unless the module is a copy or is being compiled."""
        if self._is_compiling():
            return
        visitor = self._visitor
        if visitor.is_waiting and self._module() is module:
            (visitor.leave if self._is_exit else visitor.enter)(module)

    def __deepcopy__(self, memo: object) -> Callable[..., None]:
        """Nothing, as a function."""
        return contextlib.nullcontext().__exit__

    def __reduce__(self) -> tuple[Any, ...]:
        """Nothing, in a form that is loaded without this package."""
        # Takes any arguments, returns None, and every Python can load it.
        return getattr, (contextlib.nullcontext(), "__exit__")


class Gates:
    """The gates of one module."""

    def __init__(self, module: nn.Module, visitor: Visitor) -> None:
        enter, leave = (Gate(module, visitor, is_exit=is_exit) for is_exit in (False, True))
        self._handles: list[RemovableHandle] = [
            module.register_forward_pre_hook(enter),
            module.register_forward_hook(leave),
        ]

    def remove(self) -> None:
        """Take them off."""
        for handle in self._handles:
            handle.remove()


def place_gates(model: nn.Module, visitor: Visitor) -> dict[int, Gates]:
    """Put gates at all modules where a forward pass may begin; by the module's identity."""
    placed: dict[int, Gates] = {}
    for module in _entrances(model, 0):
        try:
            placed[id(module)] = Gates(module, visitor)
        except (RuntimeError, AttributeError):
            continue  # scripted modules take no hooks
    return placed


def _entrances(module: nn.Module, depth: int) -> Iterator[nn.Module]:
    yield module
    if depth < DEEPEST_ENTRANCE:
        for child in module.children():
            if not is_compiled(child) and type(child).__name__ != _FAST_PATH:
                yield from _entrances(child, depth + 1)


def is_compiled(module: nn.Module) -> bool:
    """True if calls of a module, or of what is inside, run compiled code."""
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None
