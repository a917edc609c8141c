"""Checkpoints that a run says it saved, or was told to save, and what became of them.

Only what can be seen from this machine counts. Of the files that the log says were saved, only
the last one and the last best one must still be there: the others may have been rotated away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mltd.runs.event import EventKind
from mltd.runs.roles import normalise
from mltd.runs.surroundings import Found, Presence, Surroundings, surroundings_of

from ..core.finding import Evidence, EvidenceKind
from ..core.settings_lookup import Setting
from ..core.view import PlacedEvent, RunView

_FILE = re.compile(
    r".*\.(?:pt|pth|ckpt|safetensors|h5|hdf5|keras|pdparams|bin|msgpack|onnx|tar|pkl|nemo)$", re.I
)
_ODD = re.compile(r"[{}%*<>|\\$]|://|^[A-Za-z]:")
_BEST = re.compile(r"(?i)best")
_SAVED_TO = frozenset(
    {
        "save path", "model save path", "save model path", "best model path", "best model",
        "checkpoint save path", "save checkpoint path", "best checkpoint path", "ckpt save path",
        "save file", "output model", "model output path", "best model file", "save to",
        "save ckpt path", "best ckpt path", "save best path", "weights save path",
    }
)  # fmt: skip
"""Settings that say where a run saves, not what it loads."""
_MAY_BE_LOADED = frozenset({"checkpoint path", "ckpt path", "checkpoint file", "model path"})
"""Settings that may mean either: they count where nothing was loaded or resumed."""
_FOLDERS = frozenset(
    {
        "output dir", "out dir", "save dir", "ckpt dir", "checkpoint dir", "checkpoints dir",
        "dirpath", "default root dir", "run dir", "work dir", "workdir", "log dir", "model dir",
        "output path", "exp dir", "experiment dir", "results dir", "logdir", "outdir", "savedir",
    }
)  # fmt: skip
_FOREIGN = re.compile(r"\b(?:resume|pretrain\w*|teacher|init|load\w*|backbone|restore|base)\b")


@dataclass(frozen=True, slots=True)
class Promise:
    """A checkpoint that should be there."""

    name: str
    evidence: Evidence
    found: Found
    is_said: bool
    """The log says that it was saved; else only the settings name it."""

    @property
    def is_broken(self) -> bool:
        """It is not there, or there is nothing in it."""
        return self.found.presence in (Presence.MISSING, Presence.EMPTY)


def promises(view: RunView) -> list[Promise]:
    """What should be there, by log and settings; nothing where it cannot be looked for."""
    around = surroundings_of(view.run)
    if around is None or around.is_remote:
        return []
    bases = [str(s.value) for s in _settings(view, _FOLDERS)]
    made: dict[str, Promise] = {}
    for placed in _last_saved(view):
        name = placed.event.message.strip().strip("'\"`[]")
        if not _is_plausible(name):
            continue
        found = around.look_up(name, bases)
        made.setdefault(name, Promise(name, _said(placed), found, is_said=True))
    for setting in _stated(view):
        name = str(setting.value).strip()
        if name not in made:
            found = around.look_up(name, bases)
            made[name] = Promise(name, setting.evidence, found, is_said=False)
    return list(made.values())


def _said(placed: PlacedEvent) -> Evidence:
    return placed.evidence(placed.text.partition("\n")[0].strip())


def _last_saved(view: RunView) -> Iterator[PlacedEvent]:
    saved = [
        placed
        for placed in view.events_of(EventKind.CHECKPOINT)
        if placed.event.title.startswith("Checkpoint saved")
        and placed.event.message
        and not _stands_for_several(placed)
    ]
    by_file: dict[int, list[PlacedEvent]] = {}
    for placed in saved:
        by_file.setdefault(id(placed.source), []).append(placed)
    for said in by_file.values():
        yield said[-1]
        best = [placed for placed in said if _BEST.search(placed.text)]
        if best and best[-1] is not said[-1]:
            yield best[-1]


def _stands_for_several(placed: PlacedEvent) -> bool:
    """True if names that differ in a number were counted together: the last one is not known."""
    return placed.event.count > 1 and any(char.isdigit() for char in placed.event.message)


def _is_plausible(name: str) -> bool:
    """True for names of files or folders, not for what else stands behind `saving`."""
    if not name or len(name) > 500 or _ODD.search(name) or name.endswith(("...", "…")):
        return False
    return _FILE.match(name) is not None or ("/" in name and not name.replace("/", "").isdigit())


def _settings(view: RunView, names: frozenset[str]) -> Iterator[Setting]:
    for setting in view.settings:
        leaf = normalise(setting.path.rpartition(".")[2])
        if leaf in names and isinstance(setting.value, str) and not _ODD.search(setting.value):
            yield setting


def _stated(view: RunView) -> Iterator[Setting]:
    """Settings that name a file to be saved."""
    for setting in _settings(view, _SAVED_TO):
        if _FILE.match(str(setting.value)) and not _FOREIGN.search(normalise(setting.path)):
            yield setting
    if _has_loaded(view):
        return
    for setting in _settings(view, _MAY_BE_LOADED):
        is_own = not _FOREIGN.search(normalise(setting.path))
        if is_own and _FILE.match(str(setting.value)) and _BEST.search(str(setting.value)):
            yield setting


def _has_loaded(view: RunView) -> bool:
    resume = view.settings.get("resume")
    if resume is not None and resume.text not in ("", "none", "null", "false", "0", "no"):
        return True
    return any(
        placed.event.kind is EventKind.RESTART or placed.event.title.startswith("Checkpoint loaded")
        for placed in view.events_of(EventKind.CHECKPOINT, EventKind.RESTART)
    )


def checkpoint_evidence(found: Found) -> Evidence:
    """What was seen where the checkpoint should be."""
    seen = "0 bytes" if found.presence is Presence.EMPTY else "not there"
    return Evidence(EvidenceKind.CHECKPOINT, found.path, seen)


def usual_name(view: RunView, around: Surroundings) -> tuple[str, int, int] | None:
    """A checkpoint that the neighbouring runs have and this one has not; with how many of them."""
    settings = [a.path.rpartition("/")[2] for a in view.run.artifacts if a.kind == "config"]
    if not settings or any(a.kind == "checkpoint" for a in view.run.artifacts):
        return None
    for name in ("best_model.pt", "best_model.pth", "best.pt", "model_best.pth.tar", "best.ckpt"):
        having, alike = around.siblings(name, settings[0])
        if having >= 2 and having >= 0.75 * alike:
            return name, having, alike
    return None
