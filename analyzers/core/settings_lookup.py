"""The run's own settings, found by the names that projects give them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from mltd.runs.roles import normalise

from .finding import Evidence, EvidenceKind

_DEPTH = 6

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@lru_cache(maxsize=1)
def spellings() -> dict[str, list[str]]:
    """Meaning to the names that projects use for it, the best first."""
    text = resources.files(__package__).joinpath("settings.toml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = tomllib.loads(text)["settings"]
    return found


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as the run states it."""

    path: str
    value: object

    @property
    def number(self) -> float | None:
        """The value as a number, if it is one."""
        if isinstance(self.value, bool):
            return float(self.value)
        if isinstance(self.value, int | float):
            return float(self.value)
        if isinstance(self.value, str) and _NUMBER.fullmatch(self.value.strip()):
            return float(self.value)
        return None
        return None

    @property
    def text(self) -> str:
        """The value as text, folded."""
        return str(self.value).strip().casefold()

    @property
    def evidence(self) -> Evidence:
        """The setting as evidence."""
        return Evidence(EvidenceKind.CONFIG, f"config:{self.path}", f"{self.value}"[:200])


class Settings:
    """Looks settings up by meaning, wherever the config nests them."""

    def __init__(self, config: Mapping[str, object]) -> None:
        self._by_leaf: dict[str, Setting] = {}
        self._all: list[Setting] = []
        for path, value in _leaves(config, ""):
            setting = Setting(path, value)
            self._all.append(setting)
            self._by_leaf.setdefault(normalise(path.rpartition(".")[2]), setting)

    def __bool__(self) -> bool:
        """False if the run states no settings at all."""
        return bool(self._all)

    def __iter__(self) -> Iterator[Setting]:
        """All of them, in the order of the config."""
        return iter(self._all)

    def get(self, meaning: str) -> Setting | None:
        """The setting with a meaning of `settings.toml`, or with that very name."""
        names = spellings().get(meaning, [normalise(meaning)])
        for name in names:
            if (found := self._by_leaf.get(name)) is not None and not isinstance(found.value, dict):
                return found
        # `model_num_classes` means the same; a single word at the end may mean anything.
        endings = tuple(f" {name}" for name in names if " " in name)
        if endings:
            for leaf, found in self._by_leaf.items():
                if leaf.endswith(endings) and not isinstance(found.value, dict):
                    return found
        return None

    def number(self, meaning: str) -> float | None:
        """The same as a number, None if it is not stated or is none."""
        found = self.get(meaning)
        return found.number if found is not None else None

    def learning_rate(self) -> Setting | None:
        """The learning rate, under whatever name: also `muon_lr` or `optimizer.params.lr`."""
        if (found := self.get("lr")) is not None and found.number is not None:
            return found
        return next(
            (
                setting
                for setting in self._all
                if setting.number is not None
                and normalise(setting.path.rpartition(".")[2]).endswith((" lr", " learning rate"))
                and "min" not in normalise(setting.path)
                and "end" not in normalise(setting.path)
            ),
            None,
        )


def _leaves(value: object, path: str, depth: int = 0) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping) and depth < _DEPTH:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif path:
        yield path, value
