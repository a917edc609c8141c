"""What the names of a run's folders and files claim about its settings."""

from __future__ import annotations

import os
from collections.abc import Iterator

from mltd.runs.roles import normalise
from mltd.runs.surroundings import surroundings_of

from ..core.finding import Evidence, EvidenceKind
from ..core.settings_lookup import Setting
from ..core.view import RunView
from .disagreement import Disagreement, is_same
from .run_names import Claim, claims_in, pairs_in

_SIZES = frozenset(
    {"nano", "tiny", "mini", "small", "base", "medium", "large", "huge", "xl", "xxl", "giant"}
)
_MODEL_KEYS = frozenset(
    {"model", "model name", "arch", "architecture", "model type", "variant", "model size", "name"}
)
_NEAR = 2
"""Folders above a file whose names are taken to speak of the run."""
_ENDINGS = {
    "lr": ("lr", "learning rate", "lr0"),
    "batch_size": (),
    "seed": (),
    "weight_decay": ("wd", "weight decay"),
    "dropout": ("dropout", "drop", "dropout p", "dropout rate", "p drop", "drop rate"),
    "momentum": ("momentum",),
}
"""How names of settings end that mean the same, wherever they stand."""
_DEVICES = frozenset(
    {
        "world size", "num gpus", "n gpus", "ngpus", "gpus", "devices", "num devices",
        "num processes", "n gpu", "gpu num", "num gpu",
    }
)  # fmt: skip


def name_claims(view: RunView) -> Iterator[Disagreement]:
    """Numbers and sizes in names that the settings contradict."""
    if not view.settings:
        return
    told: set[str] = set()
    names = _names(view)
    for name in names:
        for claim in claims_in(name):
            if claim.meaning in told:
                continue
            # The innermost name has the word: `lr1e-3/stage2_lr1e-4` is about 1e-4.
            told.add(claim.meaning)
            if (setting := _against(view, claim)) is not None:
                yield _disagreement(claim.meaning, name, setting)
    for name in names:
        for key, value in pairs_in(name):
            found = _against_pair(view, key, value)
            if found is not None and not told & {found.path, *_meanings(found)}:
                told.add(found.path)
                yield _disagreement(found.path, name, found)
    yield from _size(view, names)


def _disagreement(about: str, name: str, setting: Setting) -> Disagreement:
    return Disagreement(
        about,
        f"the run is called {name} but {setting.path} is {setting.value}",
        (Evidence(EvidenceKind.JOB, "name", name), setting.evidence),
    )


def _names(view: RunView) -> list[str]:
    """Names that may speak of the run, the innermost first."""
    around = surroundings_of(view.run)
    found: dict[str, None] = {}
    for folder in around.folders if around is not None else ():
        found[os.path.basename(folder)] = None
    for path in (view.run.name, *(source.path for source in view.run.files)):
        parts = [part for part in path.replace("\\", "/").split("/") if part]
        for part in parts[: -2 - _NEAR : -1]:
            found[_without_type(part) if part is parts[-1] else part] = None
    return [name for name in found if name]


def _without_type(name: str) -> str:
    """A file's name without its ending; the end of `lr0.001` is none."""
    stem, ending = os.path.splitext(name)
    return stem if not ending[1:2].isdigit() else name


def _leaf(setting: Setting) -> str:
    return normalise(setting.path.rpartition(".")[2])


def _stated(view: RunView, meaning: str) -> list[Setting]:
    """All settings that may be what a name speaks of."""
    if meaning in ("batch_size", "seed"):
        word = "batch" if meaning == "batch_size" else "seed"
        return [s for s in view.settings if word in normalise(s.path) and s.number]
    endings = _ENDINGS[meaning]
    return [
        s
        for s in view.settings
        if s.number is not None
        and not isinstance(s.value, bool)
        and any(_leaf(s) == e or _leaf(s).endswith(f" {e}") for e in endings)
    ]


def _against(view: RunView, claim: Claim) -> Setting | None:
    """The setting that contradicts a name; None if any of them agrees, or none is known."""
    stated = _stated(view, claim.meaning)
    if any(is_same(value, s.number or 0.0) for value in claim.values for s in stated):
        return None
    if claim.meaning == "lr":
        best = view.settings.learning_rate()
    else:
        best = view.settings.get(claim.meaning)
    setting = best if best is not None and best in stated else next(iter(stated), None)
    if setting is None or not setting.number or setting.number < 0:
        return None
    is_batch = claim.meaning == "batch_size"
    if is_batch and _may_be_global(view, claim.values[0], setting.number):
        return None
    return setting


def _may_be_global(view: RunView, claimed: float, stated: float) -> bool:
    """One of two batch sizes may be a device's: times devices times accumulation it is the other.

    Only where both factors are stated as 1 can nothing be between them.
    """
    if claimed % stated and stated % max(claimed, 1.0):
        return False
    devices = [s.number for s in view.settings if _leaf(s) in _DEVICES and s.number]
    accumulation = view.settings.number("accumulation")
    return not devices or any(n != 1 for n in devices) or accumulation != 1


def _against_pair(view: RunView, key: str, value: str) -> Setting | None:
    """The setting of that very name with another value; None if it is not alone or agrees."""
    path = key.replace("/", ".").lstrip("+~")
    found = [s for s in view.settings if s.path == path or s.path.endswith(f".{path}")]
    if len(found) != 1:
        return None
    setting, claimed = found[0], Setting(path, value)
    if setting.number is not None and claimed.number is not None:
        is_multiple = "batch" in normalise(path) and _may_be_global(
            view, claimed.number, setting.number or 1.0
        )
        return None if is_same(setting.number, claimed.number) or is_multiple else setting
    if not isinstance(setting.value, str) or setting.number is not None or claimed.number:
        return None
    ours, theirs = setting.text, claimed.text
    return None if ours in theirs or theirs in ours or not theirs.isidentifier() else setting


def _meanings(setting: Setting) -> set[str]:
    """What of a name has been judged already, if this is the setting."""
    leaf = _leaf(setting)
    found = {meaning for meaning, endings in _ENDINGS.items() if leaf.endswith(endings)}
    return found | {m for m in ("seed", "batch_size") if m.partition("_")[0] in leaf}


def _size(view: RunView, names: list[str]) -> Iterator[Disagreement]:
    """`vgae_large` and `model: vgae_small`: the same family in two sizes."""
    for setting in view.settings:
        if _leaf(setting) not in _MODEL_KEYS or not isinstance(setting.value, str):
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
                yield _disagreement("model", name, setting)
                return
