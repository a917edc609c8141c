"""Names in code: which may be called, read or imported, because no harm comes of them."""

from __future__ import annotations

import re

from .words import words

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OS = frozenset({"environ", "path", "getenv", "cpu_count", "sched_getaffinity"})
_BEGINNINGS = (
    "save", "writ", "dump", "remov", "delet", "unlink", "overwrit", "download", "upload", "eras",
)  # fmt: skip
_SPECIAL = frozenset({("Image", "open"), ("wandb", "Settings"), ("wandb", "finish")})


class Names:
    """What the names of one snippet stand for."""

    def __init__(self) -> None:
        """Names stand for themselves until something is imported under another one."""
        self._meant: dict[str, tuple[str, ...]] = {}
        self._defined: set[str] = set()

    def define(self, name: str) -> None:
        """The snippet has a function or class of this name, which is looked at on its own."""
        self._defined.add(name)

    def may_import(self, dotted: str, alias: str | None) -> bool:
        """True for parts of the libraries that trainings are made of."""
        path = tuple(dotted.split("."))
        if path[0] not in words("code", "libraries") | words("code", "imports"):
            return False
        if path[0] == "os" and path[1:2] and path[1] not in _OS:
            return False
        # `from torch import optim` is the `torch.optim` that it names, whatever it is called.
        if alias is not None:
            self._meant[alias] = path
        return all(map(self.is_mild, path[1:]))

    def may_be_named(self, name: str) -> bool:
        """False for modules and functions that have no place in what is copied."""
        if name.startswith("__") and name not in words("code", "dunders"):
            return False
        return name in self._defined or name not in words("code", "banned")

    def is_os(self, name: str) -> bool:
        """True if it stands for the operating system, which is not handed around."""
        return self._full((name,)) == ("os",)

    def may_be_read(self, path: tuple[str, ...]) -> bool:
        """False where the very mention is suspicious: it may be handed on and called."""
        full = self._full(path)
        hidden = [one for one in full[1:] if one.startswith("__")]
        if any(one not in words("code", "dunders") for one in hidden):
            return False
        if full[0] == "os":
            return full[1:2] != () and full[1] in _OS
        if full[0] in words("code", "libraries"):
            return all(map(self.is_mild, full[1:]))
        return full[-1] not in words("code", "banned") - words("code", "mild_parts")

    def may_be_called(self, path: tuple[str, ...]) -> bool:
        """True if calling it computes, configures or prints."""
        full = self._full(path)
        if full in _SPECIAL or (len(path) == 1 and path[0] in self._defined):
            return True
        if full[0] == "os":
            return full[1:2] == ("path",) or full[-1] in {*_OS, "get", "setdefault"}
        if full[0] in words("code", "libraries") and len(full) > 1:
            return all(map(self.is_mild, full[1:]))
        name = full[-1]
        if name[:1].isupper():
            return _is_known_class(name)
        if name in words("code", "calls"):
            return True
        is_formed = name.startswith(tuple(words("code", "begins"))) or name.endswith(
            tuple(words("code", "ends"))
        )
        return is_formed and self.is_mild(name)

    def is_mild(self, name: str) -> bool:
        """No part of it writes, removes, fetches or starts."""
        if name in words("code", "calls"):
            return True
        parts = {part.lower() for part in _PARTS.findall(name)}
        bad = words("code", "bad")
        if parts & bad or name.strip("_").lower() in bad:
            return False
        return not any(part.startswith(_BEGINNINGS) for part in parts)

    def _full(self, path: tuple[str, ...]) -> tuple[str, ...]:
        return (*self._meant.get(path[0], path[:1]), *path[1:])


def _is_known_class(name: str) -> bool:
    if name.endswith(("Error", "Exception", "Warning")):
        return True
    parts = _PARTS.findall(name)
    if {part.lower() for part in parts} & words("code", "bad"):
        return False
    known = words("code", "classes")
    return name in known or any(part in known for part in parts) or name.startswith(tuple(known))
