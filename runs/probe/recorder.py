"""The probe: hooks on optimizer steps, and a promise never to disturb them."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .context import path_for_rank, plain_optimizers, rank_and_world, warn
from .hooks import compiling_test
from .nesting import Nesting
from .options import Options
from .session import Session
from .writer import FullError, Writer

if TYPE_CHECKING:
    from torch.optim import Optimizer
    from torch.utils.hooks import RemovableHandle

_OPEN: set[str] = set()
"""Files that probes of this process write."""


class Probe:
    """A handle on what is being recorded; `close` ends it. Also a context manager."""

    def __init__(self, model: Any, optimizer: Any, asked: Callable[[], Options]) -> None:
        self.path = ""
        self.is_active = False
        self._process = os.getpid()
        self._handles: list[RemovableHandle] = []
        self._session: Session | None = None
        self._main: weakref.ref[Optimizer] | None = None
        self._known: weakref.WeakKeyDictionary[Optimizer, bool] = weakref.WeakKeyDictionary()
        self._nesting = Nesting()
        try:
            options = asked()
            self.path = str(options.path)
            self._is_compiling = compiling_test()
            rank, world = rank_and_world()
            if rank and not options.all_ranks:
                return
            self.path = _free(path_for_rank(self.path, rank))
            writer = Writer(self.path, options.max_bytes)
            self._session = Session(model, writer, options, (rank, world), self._fail)
            self._attach(optimizer)
            _OPEN.add(self.path)
            self.is_active = True
        except Exception as problem:  # noqa: BLE001 - a training must not fail for its recorder
            self._fail(problem)

    def _attach(self, given: Any) -> None:
        from torch.optim.optimizer import (
            register_optimizer_step_post_hook,
            register_optimizer_step_pre_hook,
        )

        if given is None:
            self._handles = [
                register_optimizer_step_pre_hook(self._before),
                register_optimizer_step_post_hook(self._after),
            ]
            return
        optimizers = plain_optimizers(given)
        self._main = weakref.ref(optimizers[0], self._seek_another)
        for optimizer in optimizers:
            self._known[optimizer] = True
            self._handles.append(optimizer.register_step_pre_hook(self._before))
            self._handles.append(optimizer.register_step_post_hook(self._after))
        assert self._session is not None
        self._session.expect(optimizers)

    def _seek_another(self, _: object) -> None:
        """The optimizer is gone: from now on whichever steps the model's parameters is watched."""
        try:
            if self.is_active and not list(self._known):
                self._attach(None)
        except Exception as problem:  # noqa: BLE001 - the interpreter may be ending, too
            self._fail(problem)

    # -- steps ----------------------------------------------------------------------------

    def _before(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        session = self._ready(optimizer)
        if session is None or not self._nesting.enter(optimizer):
            return
        try:
            has_closure = _has_closure(args, kwargs)
            session.before(optimizer, is_main=self._is_main(optimizer), has_closure=has_closure)
        except Exception as problem:  # noqa: BLE001
            self._fail(problem)

    def _after(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        session = self._ready(optimizer)
        if session is None or not self._nesting.leave(optimizer):
            return
        try:
            has_closure = _has_closure(args, kwargs)
            session.after(optimizer, is_main=self._is_main(optimizer), has_closure=has_closure)
        except Exception as problem:  # noqa: BLE001
            self._fail(problem)

    def _ready(self, optimizer: Optimizer) -> Session | None:
        if not self.is_active or self._is_compiling():
            return None
        if os.getpid() != self._process:
            self.is_active = False  # a forked copy of the training: the file is not its own
            return None
        session = self._session
        known = self._known.get(optimizer)
        if known is None and session is not None:
            known = self._known[optimizer] = session.is_stepped_by(optimizer)
        return session if known else None

    def _is_main(self, optimizer: Optimizer) -> bool:
        main = self._main() if self._main is not None else None
        if main is None:
            self._main = weakref.ref(optimizer)
            return True
        return main is optimizer

    # -- ends -----------------------------------------------------------------------------

    def close(self) -> None:
        """Say that it is over and take all hooks off; the model is as it was before."""
        self._end("closed")

    def _fail(self, problem: Exception) -> None:
        if isinstance(problem, FullError):
            reason = f"{problem}; nothing more is recorded"
        else:
            reason = f"{type(problem).__name__}: {problem}"
        where = f" to {self.path}" if self.path else ""
        warn(f"stopped recording{where}: {reason}. The training goes on without it.")
        self.is_active = True  # also if it never began: something may be attached
        self._end(reason)

    def _end(self, reason: str) -> None:
        if not self.is_active:
            return
        self.is_active = False
        _OPEN.discard(self.path)
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        session, self._session = self._session, None
        if session is not None and os.getpid() == self._process:
            session.end(reason)

    def __enter__(self) -> Probe:
        """Nothing to do: it records since it was made."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __deepcopy__(self, memo: object) -> Probe:
        """A training that is copied has no second recorder."""
        return _closed(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Nor has one that is saved."""
        return _closed, (self.path,)


def _closed(path: str) -> Probe:
    probe = Probe.__new__(Probe)
    probe.path, probe.is_active, probe._process = path, False, -1
    probe._handles, probe._session, probe._main = [], None, None
    return probe


def _free(path: str) -> str:
    """A name that no other probe of this process writes to."""
    stem, extension = os.path.splitext(path)
    number = 2
    while path in _OPEN:
        path, number = f"{stem}-{number}{extension}", number + 1
    return path


def _has_closure(args: Any, kwargs: Any) -> bool:
    """True if the gradients are computed inside of the step."""
    given = args[1] if len(args) > 1 else kwargs.get("closure")
    return callable(given)
