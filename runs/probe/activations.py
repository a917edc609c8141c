"""Statistics of what modules put out, taken during the forward pass of a recorded step.

Of every output a sample is copied at once, since the next module may overwrite it in place; the
statistics are computed when the step is recorded.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .hooks import compiling_test, is_compiled, place_gates
from .layers import plain_name
from .norms import count_bad, to_floats
from .outputs import Seen, first_tensor, is_plain, sample_rows, version_of

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.utils.hooks import RemovableHandle

MOST_MODULES = 512
"""Modules that are watched at most; of more, evenly spread ones."""
INPUT = "input"
"""Stands for the data in the list of what is not finite."""
_SILENT = (
    "Dropout",
    "Pool",
    "Identity",
    "Flatten",
    "Unflatten",
    "Loss",
    "ParameterList",
    "ParameterDict",
)
_WHOLE = frozenset({"MultiheadAttention", "LSTM", "GRU", "RNN"})


class Activations:
    """Sees the first forward pass after it was armed."""

    def __init__(
        self, model: nn.Module, wanted: Callable[[str], bool], on_error: Callable[[Exception], None]
    ) -> None:
        self._root = weakref.ref(model)
        self._is_compiling = compiling_test()
        self._on_error = on_error
        self.is_waiting = False
        """True from `arm` until the record is taken."""
        self._hooked: list[RemovableHandle] = []
        self._entered: weakref.ref[nn.Module] | None = None
        self._entrances: set[int] = set()
        """Modules with which forward passes have begun."""
        self._passed: set[int] = set()
        """Modules with gates that were called."""
        self._names: dict[int, str] = {}
        self._wanted = wanted
        self.modules = self._choose(model)
        """Names of the watched modules, in the order in which they were called."""
        self.seen: dict[str, Seen] = {}
        self._latest: Seen | None = None
        self._input: Tensor | None = None
        """The sum of what the first module got."""
        self._gates = place_gates(model, self)

    def look_again(self, model: nn.Module) -> None:
        """Choose modules anew: some may have been added, others are gone."""
        self.modules = self._choose(model)

    def _choose(self, model: nn.Module) -> list[str]:
        found = [
            (name, module)
            for name, module in ((plain_name(n), m) for n, m in model.named_modules())
            if self._wanted(name) and _speaks(module)
        ]
        stride = -(-len(found) // MOST_MODULES) or 1
        self._names = {id(module): name for name, module in found[::stride]}
        return [name for name, _ in found[::stride]]

    # -- a forward pass -------------------------------------------------------------------

    def arm(self) -> None:
        """See the next forward pass."""
        self.drop()
        self.is_waiting = True

    def enter(self, module: nn.Module) -> None:
        """Hook everything below an entrance for the time of its forward pass."""
        import torch

        self._passed.add(id(module))
        root = self._root()
        if self._hooked or root is None or not (torch.is_grad_enabled() or root.training):
            return  # inside of another entrance, or a validation
        try:
            self._entered = weakref.ref(module)
            self._entrances.add(id(module))
            self._hook(module)
        except Exception as problem:  # noqa: BLE001 - the training goes on whatever happens
            self._on_error(problem)

    def _hook(self, module: nn.Module) -> None:
        if is_compiled(module):
            return
        name = self._names.get(id(module))
        if name is not None and name not in self.seen:
            self._hooked.append(module.register_forward_hook(self._look))
        for child in module.children():
            self._hook(child)

    def leave(self, module: nn.Module) -> None:
        """The forward pass that began at a module is over."""
        if self._entered is not None and self._entered() is module:
            self._unhook()

    def _unhook(self) -> None:
        for handle in self._hooked:
            handle.remove()
        self._hooked.clear()
        self._entered = None

    def _look(self, module: nn.Module, args: Any, output: Any) -> None:
        import torch

        if self._is_compiling():
            return
        try:
            name = self._names.get(id(module))
            if name is None or name in self.seen:
                return  # called again: weights are shared, or recomputed in the backward pass
            with torch.no_grad():
                self._take(name, module, args, output)
        except Exception as problem:  # noqa: BLE001 - the training goes on whatever happens
            self._on_error(problem)

    def _take(self, name: str, module: nn.Module, args: Any, output: Any) -> None:
        import torch

        tensor = first_tensor(output)
        if tensor is None or not is_plain(tensor):
            return
        kind = type(module).__name__
        given = first_tensor(args)
        if given is not None and is_plain(given):
            if self._latest is not None:
                self._latest.look_behind(kind, given)
            else:
                self._input = given.detach().sum(dtype=torch.float32)
        before = self._latest.kind if self._latest is not None else ""
        found = Seen(name, kind, sample_rows(tensor, kind, before), version=version_of(tensor))
        # Infinite or NaN if any element is: one pass instead of several.
        found.total = tensor.detach().sum(dtype=torch.float32)
        if tensor.device.type == "cpu" and not math.isfinite(float(found.total)):
            found.nans, found.infs = count_bad(tensor)
            if self._latest is not None and given is not None and is_plain(given):
                # What is computed between two modules is in neither of them.
                is_bad = bool((given.isnan() | given.isposinf()).any())
                found.came_behind = self._latest.name if is_bad else ""
        if module._parameters:
            found.watch_gradient(tensor)
        self.seen[name] = found
        self._latest = found

    # -- the record -----------------------------------------------------------------------

    def put_in_order(self) -> list[str]:
        """Sort the modules by when they were called; the names of those that were."""
        called = list(self.seen)
        self.modules = [*called, *(name for name in self.modules if name not in self.seen)]
        return called

    def take(self) -> tuple[dict[str, dict[str, float]], dict[str, tuple[int, int]]]:
        """Statistics by module and counts of NaN and Inf by module, of the last forward pass."""
        import torch

        with torch.no_grad():
            seen = list(self.seen.values())
            numbers: list[Tensor] = [n for one in seen for n in one.numbers()]
            values = iter(to_floats(numbers))
            found = {one.name: one.statistics(values) for one in seen}
            bad = {one.name: counts for one in seen if (counts := one.bad_counts()) is not None}
            if bad and self._input is not None and not math.isfinite(float(self._input)):
                bad = {INPUT: (-1, -1), **bad}
        return found, bad

    def before_bad(self) -> str:
        """The module behind which, and before the next one, the first NaN arose; "" if in one."""
        first = next((one for one in self.seen.values() if one.bad_counts() is not None), None)
        return first.came_behind if first is not None else ""

    def bad_gradient(self) -> tuple[str, str] | None:
        """Two modules between which a gradient that was finite until then became NaN; else None."""
        later = ""
        for one in reversed(self.seen.values()):
            if one.gradient is None:
                continue
            if not math.isfinite(float(one.gradient)):
                return (one.name, later) if later else None
            later = one.name
        return None

    def drop(self) -> None:
        """Forget what was seen."""
        self._unhook()
        self.seen, self._latest, self._input = {}, None, None
        self.is_waiting = False

    def keep_entrances(self) -> None:
        """Take off the hooks of modules at which no forward pass begins: each costs a little."""
        # Those that were never passed may be inside of compiled code, which would notice.
        for module in self._passed - self._entrances:
            if module in self._gates:
                self._gates.pop(module).remove()
        self._passed.clear()

    def close(self) -> None:
        """Take all hooks off the model."""
        self.drop()
        for gates in self._gates.values():
            gates.remove()
        self._gates.clear()


def _speaks(module: nn.Module) -> bool:
    kind = type(module).__name__
    is_leaf = next(module.children(), None) is None or kind in _WHOLE
    return is_leaf and not any(word in kind for word in _SILENT)
