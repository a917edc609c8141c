"""Targets: what the run was to reach, as far as its configuration says so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mltd.runs.roles import normalise, shipped

from ..model.constraints import Fact
from .gathered import NO_TARGET
from .material import Material, Piece, fact_of, from_line, from_setting

NEEDLES = (b"quality_target", b"--threshold", b"--target")

_AIMS = frozenset({"target", "goal"})
_OUTCOMES = frozenset({"metric", "quality", "val", "eval", "bleu", "map", "reward", "score"})
_OTHER_THINGS = re.compile(
    r"\b(?:kl|entropy|modules?|network|length|size|lang|update|encoder|dim|device|rate|speed|type|"
    r"smoothing|key|names?|column|tau|noise|lr)\b"
)
_SAID = re.compile(
    r"(?:\bquality_target: |--(?:threshold|target[_-](?:accuracy|acc|loss|bleu|metric|map))[ =])"
    r"(?P<value>\d+(?:\.\d+)?)"
)
_BEST = ("metric for best model", "monitor", "save best", "checkpoint metric", "best metric",
         "best checkpoint metric", "early stopping metric", "main indicator")  # fmt: skip
_PATIENCE = ("early stopping patience", "patience", "early stop patience", "es patience")

_STEPS = ("max steps", "total steps", "max iters", "max iter", "train iters", "num train steps",
          "max update", "max updates", "num iterations", "total iters")  # fmt: skip
_EPOCHS = ("epochs", "num epochs", "max epochs", "num train epochs", "n epochs", "total epochs")


def targets(material: Material) -> Fact | None:
    """Stated targets; where there are none, what is watched and how long the run was to be."""
    stated = list(_stated(material))
    watched = [*_watched(material), *_length(material)]
    if stated:
        return fact_of([*stated, *watched])
    around = fact_of(watched, lead=f"{NO_TARGET}; ")
    return None if around is None else around.model_copy(update={"is_complete": False})


def _stated(material: Material) -> Iterator[Piece]:
    count = 0
    for setting in material.settings:
        name = normalise(setting.path.rpartition(".")[2])
        words = name.split()
        if not _AIMS & set(words) or _OTHER_THINGS.search(name):
            continue
        others = [word for word in words if word not in _AIMS]
        is_outcome = shipped().is_outcome(" ".join(others)) or bool(_OUTCOMES & set(others))
        if setting.number is not None and not isinstance(setting.value, bool) and is_outcome:
            yield from_setting(setting)
            count += 1
    hit = next(material.search(_SAID), None)
    if hit is not None and not count:
        line, found = hit
        said = f"target {found['value']}"
        yield from_line(line, found, said)


def _watched(material: Material) -> Iterator[Piece]:
    for setting in material.named(*_BEST):
        if isinstance(setting.value, str) and setting.text not in ("true", "false"):
            yield from_setting(setting, f"best model by {setting.value}")
            break
    for setting in material.named(*_PATIENCE):
        number = setting.number
        if number is not None and 0 < number < 1e6 and not isinstance(setting.value, bool):
            yield from_setting(setting, f"early stopping after {number:g} without improvement")
            break


def _length(material: Material) -> Iterator[Piece]:
    for names, unit in ((_STEPS, "steps"), (_EPOCHS, "epochs")):
        for setting in material.named(*names):
            if isinstance(setting.value, bool) or setting.number is None:
                continue
            if 1 <= setting.number < 1e12:
                yield from_setting(setting, f"{setting.number:,.10g} {unit} planned")
                return
