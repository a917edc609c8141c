"""What records of the probe say happened, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..event import EventKind

_MOST_NAMED = 5
Said = tuple[EventKind, str, str]
"""Kind, sentence, and the same for programs."""
_ORIGIN = re.compile(
    r"first: (?P<kind>\w+) in (?P<layer>.*?)(?: behind (?P<behind>.*?))?"
    r"(?: since step (?P<since>\d+))?"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where values that are not finite were first seen."""

    kind: str
    """input, activation, buffer, weight, gradient, or loss: all gradients at once."""
    layer: str
    since: int | None = None
    """The step, where that is an earlier one than the record's."""
    behind: str = ""
    """The layer before, if what came from there was not finite although its output was."""


def origin_of(message: str) -> Origin | None:
    """What an event's message says about the origin; None if it is about something else."""
    found = _ORIGIN.fullmatch(message)
    if found is None:
        return None
    since = found["since"]
    return Origin(
        found["kind"], found["layer"], int(since) if since else None, found["behind"] or ""
    )


def events_of_header(header: Mapping[str, object]) -> list[Said]:
    """Layers that nobody trains although they could learn."""
    names = header.get("unoptimized")
    if not isinstance(names, list) or not names:
        return []
    shown = ", ".join(str(name)[:80] for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    said = f"layers that require gradients are not in the watched optimizer: {shown}{more}"
    return [(EventKind.WARNING, said, "")]


def event_of(record: Mapping[str, object], known: set[tuple[str, str]]) -> list[Said]:
    """The first place where values were not finite; each place is said once."""
    found = record.get("nonfinite")
    if not isinstance(found, dict):
        return []
    first = found.get("first")
    if not isinstance(first, dict):
        return []
    kind, layer = str(first.get("kind", ""))[:20], str(first.get("layer", ""))[:200]
    if (kind, layer) in known:
        return []
    known.add((kind, layer))
    where = "loss" if first.get("everywhere") and kind == "gradient" else kind
    before = " ".join(str(first.get("behind", ""))[:200].split())
    between = f" behind {before}" if before else ""
    message = f"first: {where} in {' '.join(layer.split())}{between}{_since(found)}"
    if record.get("skipped"):
        said = f"gradient overflow, step skipped: first in layer {layer}"
        return [(EventKind.OVERFLOW, said, message)]
    return [(EventKind.NAN, _sentence(kind, layer, first, found), message)]


def _since(found: Mapping[str, object]) -> str:
    since = found.get("since")
    return f" since step {since}" if isinstance(since, int) and since >= 0 else ""


def _sentence(
    kind: str, layer: str, first: Mapping[str, object], found: Mapping[str, object]
) -> str:
    ago = f" ({since})" if (since := _since(found).strip()) else ""
    if kind == "input":
        return f"the data held non-finite values before the first layer, {layer}{ago}"
    if kind == "activation":
        what = "NaN" if first.get("nan") else "Inf"
        if first.get("behind"):
            before = str(first["behind"])[:200]
            return f"{what} first appeared between layer {before} and layer {layer}{ago}"
        return f"{what} first appeared in the output of layer {layer}{ago}"
    if kind == "buffer":
        return f"the running statistics of layer {layer} hold NaN: its input did, too{ago}"
    if kind == "weight":
        return f"non-finite weights in layer {layer}{ago}"
    if first.get("everywhere"):
        why = "the loss was not finite, or clipping spread it to all"
        return f"non-finite gradients in all layers, {layer} first: {why}{ago}"
    if first.get("behind"):
        before = str(first["behind"])[:200]
        return f"gradients became non-finite in layer {layer} or between it and {before}{ago}"
    return f"non-finite gradients first in layer {layer}, those behind it are finite{ago}"
