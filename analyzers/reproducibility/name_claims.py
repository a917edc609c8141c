"""What the names of a run's folders and files claim about its settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from mltd.runs.roles import normalise

from ..core.finding import Evidence, EvidenceKind
from ..core.settings_lookup import Setting
from ..core.view import RunView
from .disagreement import Disagreement, is_same

_EDGE = r"(?:^|[_\-./=])"
_END = r"(?=$|[_\-/]|\.\D)"
_RATE = re.compile(rf"{_EDGE}lr[_=-]?(\d+(?:\.\d+)?[eE]-?\d+|0?\.\d+){_END}", re.IGNORECASE)
_BATCH = re.compile(rf"{_EDGE}(?:bs|bsz|batch(?:[_-]?size)?)[_=-]?(\d+){_END}", re.IGNORECASE)
_SEED = re.compile(rf"{_EDGE}seed[_=-]?(\d+){_END}", re.IGNORECASE)
_SIZES = frozenset(
    {"nano", "tiny", "mini", "small", "base", "medium", "large", "huge", "xl", "xxl", "giant"}
)
_MODEL_KEYS = frozenset(
    {"model", "model name", "arch", "architecture", "model type", "variant", "model size", "name"}
)
_NEAR = 2
"""Folders above a file whose names are taken to speak of the run."""


def name_claims(view: RunView) -> Iterator[Disagreement]:
    """Numbers and sizes in names that the settings contradict."""
    if not view.settings:
        return
    names = _names(view)
    yield from _rate(view, names)
    yield from _whole(view, names, _BATCH, "batch_size")
    yield from _whole(view, names, _SEED, "seed")
    yield from _size(view, names)


def _names(view: RunView) -> list[str]:
    paths = [view.run.name, *(source.path for source in view.run.files)]
    found: dict[str, None] = {}
    for path in paths:
        parts = [part for part in path.replace("\\", "/").split("/") if part]
        for part in parts[-1 - _NEAR :]:
            found[os.path.splitext(part)[0] if part is parts[-1] else part] = None
    return list(found)


def _claimed(name: str, setting: Setting) -> tuple[Evidence, Evidence]:
    return Evidence(EvidenceKind.JOB, "name", name), setting.evidence


def _rate(view: RunView, names: list[str]) -> Iterator[Disagreement]:
    rates = [
        s
        for s in view.settings
        if s.number is not None
        and normalise(s.path.rpartition(".")[2]).endswith(("lr", "learning rate", "lr0"))
    ]
    for name in names:
        found = _RATE.search(name)
        if found is None or not rates:
            continue
        claimed = float(found[1])
        if any(is_same(claimed, s.number or 0.0) for s in rates):
            continue
        setting = view.settings.learning_rate() or rates[0]
        yield Disagreement(
            "lr",
            f"the run is called {name} but {setting.path} is {setting.value}",
            _claimed(name, setting),
        )
        return


def _whole(
    view: RunView, names: list[str], pattern: re.Pattern[str], meaning: str
) -> Iterator[Disagreement]:
    setting = view.settings.get(meaning)
    if setting is None or not setting.number or setting.number <= 0:
        return
    word = "batch" if meaning == "batch_size" else "seed"
    stated = [s.number for s in view.settings if word in normalise(s.path) and s.number]
    for name in names:
        found = pattern.search(name)
        if found is None:
            continue
        claimed = float(found[1])
        # A global batch is the device's times devices times accumulation.
        is_multiple = meaning == "batch_size" and claimed % setting.number == 0
        if claimed in stated or is_multiple:
            continue
        yield Disagreement(
            meaning,
            f"the run is called {name} but {setting.path} is {setting.value}",
            _claimed(name, setting),
        )
        return


def _size(view: RunView, names: list[str]) -> Iterator[Disagreement]:
    """`vgae_large` and `model: vgae_small`: the same family in two sizes."""
    for setting in view.settings:
        if normalise(setting.path.rpartition(".")[2]) not in _MODEL_KEYS:
            continue
        if not isinstance(setting.value, str):
            continue
        words = set(normalise(setting.value).split())
        sizes = words & _SIZES
        if len(sizes) != 1:
            continue
        family = {word for word in words - _SIZES if len(word) >= 2 and not word.isdigit()}
        for name in names:
            own = set(normalise(name).split())
            others = own & _SIZES
            is_family = bool(family & own) or (not family and len(others) == 1)
            if len(others) == 1 and others != sizes and is_family:
                yield Disagreement(
                    "model",
                    f"the run is called {name} but {setting.path} is {setting.value}",
                    _claimed(name, setting),
                )
                return
