"""Errors whose own numbers contradict the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mltd.runs.event import EventKind
from mltd.runs.roles import normalise

from ..core.settings_lookup import Setting
from ..core.view import RunView
from .disagreement import Disagreement

_SHAPES = re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)")
_TARGET = re.compile(r"Target (\d+) is out of bounds")
_FEATURES = re.compile(
    r"\b(?:(?:num|n|in|input) (?:node )?(?:features?|channels|columns|cols|dim|feats|size)|"
    r"feature dim)$"
)
_COUNTS = re.compile(
    r"\b(?P<first>\d+ )?(?:input |feature |output )?(?:(?:expected|configured|requested)(?: for)? "
    r"(?P<wanted>\d+) )?(?:input |feature |output )?"
    r"(?P<what>columns|features|channels|classes|labels|categories)\b[^\d]{1,60}(?P<given>\d+)",
    re.IGNORECASE,
)
"""What the rule for lines that tell a wanted number from a given one has let through."""
_OF_CLASSES = frozenset({"classes", "labels", "categories"})
_KINDS = (EventKind.EXCEPTION, EventKind.ERROR)


def message_claims(view: RunView) -> Iterator[Disagreement]:
    """Feature counts and label ranges that a message shows to be others than configured."""
    yield from _told_counts(view)
    for placed in view.events_of(*_KINDS):
        text = f"{placed.event.message}\n{placed.event.title}"
        if found := _SHAPES.search(text):
            given, wanted = int(found[1]), int(found[2])
            setting = _feature_setting(view, wanted)
            if setting is not None and given != wanted:
                yield Disagreement(
                    "features",
                    f"{setting.path} is {setting.value} but the data has {given} features",
                    (placed.evidence(found[0]), setting.evidence),
                    0.85,
                )
                return
        if found := _TARGET.search(text):
            classes = view.settings.get("classes")
            count = classes.number if classes is not None else None
            if classes is not None and count and int(found[1]) >= count:
                yield Disagreement(
                    "classes",
                    f"{classes.path} is {classes.value} but there is a label {found[1]}",
                    (placed.evidence(found[0]), classes.evidence),
                    0.93,
                )
                return


def _told_counts(view: RunView) -> Iterator[Disagreement]:
    """`24 columns requested, 20 columns found`, where a setting says 24."""
    for placed in view.events_of(EventKind.WARNING):
        found = _COUNTS.search(placed.event.title)
        if found is None or not (found["first"] or found["wanted"]):
            continue
        wanted, given = int(found["first"] or found["wanted"]), int(found["given"])
        is_classes = found["what"].lower() in _OF_CLASSES
        if is_classes:
            stated = view.settings.get("classes")
            setting = stated if stated is not None and stated.number == wanted else None
        else:
            setting = _feature_setting(view, wanted)
        if setting is not None and given != wanted:
            about = "classes" if is_classes else "features"
            yield Disagreement(
                about,
                f"{setting.path} is {setting.value} but the data has {given} {found['what']}",
                (placed.evidence(found[0]), setting.evidence),
                0.85,
            )
            return


def _feature_setting(view: RunView, value: int) -> Setting | None:
    """The setting that says how many features the model expects, if it says this number."""
    return next(
        (s for s in view.settings if s.number == value and _FEATURES.search(normalise(s.path))),
        None,
    )
