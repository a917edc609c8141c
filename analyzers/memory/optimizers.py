"""Bytes of state that an optimizer keeps per trained parameter, by its kind."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..core.finding import Evidence
from ..core.settings_lookup import Setting
from .amount import Origin
from .keys import Known

_TWO_MOMENTS = (
    "adam", "adamw", "nadam", "radam", "adamax", "lamb", "fusedadam", "adamwfused", "adamwtorch",
    "adamwtorchfused", "adamwhf", "cpuadam", "deepspeedcpuadam", "apexfusedadam", "adamwapexfused",
    "distributedfusedadam", "fusedlamb", "adabelief", "sophia", "sophiag", "adadelta", "adamtorch",
    "adamwanyprecision", "pagedadamw", "pagedadamw32bit", "pagedadam32bit", "pagedadam", "yogi",
)  # fmt: skip
_ONE_MOMENT = (
    "lion", "lion32bit", "pagedlion32bit", "rmsprop", "adagrad", "lars", "signum", "novograd",
    "sgdmomentum", "momentum", "nesterov",
)  # fmt: skip
_SGD = ("sgd", "fusedsgd", "asgd")
_FACTORED = ("adafactor",)
_MATRICES = ("muon", "muonadamw", "muonadam")
_EIGHT_BITS = re.compile(r"8 ?bit|bnb8")
_FACTORED_SHARE = 0.1
"""Bytes per parameter of a row and a column of fp32 in place of a matrix, at least 80 wide."""


@dataclass(frozen=True, slots=True)
class StateCost:
    """Bytes of optimizer state per trained parameter."""

    name: str
    low: float
    high: float
    origin: Origin
    how: str
    sources: tuple[Evidence, ...]
    is_adam: bool = False
    is_eight_bit: bool = False


def state_cost(
    known: Known, width: float, saved_kind: str, source: Evidence | None
) -> StateCost | None:
    """What the optimizer keeps, with numbers of `width` bytes; None if it is not known which."""
    setting = _stated(known)
    if setting is None:
        if not saved_kind or source is None:
            return None
        return _cost(known, saved_kind, width, (source,))
    return _cost(known, setting.text, width, (setting.evidence,))


def _stated(known: Known) -> Setting | None:
    """The optimizer's own name, not the name of a file or of a section."""
    for name in ("optim", "optimizer", "optimizer type", "optimizer name", "opt"):
        found = known.settings.get(name)
        if found is not None and isinstance(found.value, str) and found.text not in ("", "none"):
            return found
    for setting in known.settings:
        # `optimizer.type: AdamW` of OpenMMLab and DeepSpeed, `optimizer._target_` of Hydra.
        path = setting.path.casefold()
        is_inside = re.search(r"(?:^|\.)(?:optimizer|optim|optim_wrapper)\.", path) is not None
        is_name = path.endswith((".type", "._target_", ".name", "class_path"))
        if is_inside and is_name and isinstance(setting.value, str):
            return setting
    return None


def _cost(known: Known, text: str, width: float, sources: tuple[Evidence, ...]) -> StateCost | None:
    last = re.sub(
        r"^.*?([\w -]*)$", r"\1", text.strip().split("(")[0].replace(".", "\n"), flags=re.S
    )
    shown = last.strip() or text[:40]
    is_eight = _EIGHT_BITS.search(re.sub(r"[_-]", "", text)) is not None
    kind = re.sub(r"[^a-z0-9]", "", shown.casefold())
    plain = re.sub(r"(?:bnb|paged)?8bit|bnb", "", kind)
    kind = plain or kind
    if is_eight:
        count = 2 if kind in _TWO_MOMENTS else 1 if kind in _ONE_MOMENT else None
        if count is None:
            return None
        how = f"{count} x 1 byte"
        return StateCost(shown, count, count, Origin.DERIVED, how, sources, count == 2, True)
    if kind in _TWO_MOMENTS:
        count = 2
        if (amsgrad := known.switch("amsgrad")) is not None and amsgrad[0]:
            count, sources = 3, (*sources, amsgrad[1])
        how = f"{count} x {width:g} bytes"
        return StateCost(shown, count * width, count * width, Origin.DERIVED, how, sources, True)
    if kind in _ONE_MOMENT:
        return StateCost(shown, width, width, Origin.DERIVED, f"1 x {width:g} bytes", sources)
    if kind in _SGD:
        return _of_sgd(known, shown, width, sources)
    if kind in _FACTORED:
        how = "rows and columns in place of the second moment"
        return StateCost(shown, 0.0, _FACTORED_SHARE, Origin.ESTIMATED, how, sources)
    if kind in _MATRICES:
        how = f"1 x {width:g} bytes for matrices, 2 x for the rest"
        return StateCost(shown, width, 2 * width, Origin.ESTIMATED, how, sources)
    return None


def _of_sgd(known: Known, shown: str, width: float, sources: tuple[Evidence, ...]) -> StateCost:
    momentum = known.number("momentum", 0.0, 1.0)
    if momentum is None:
        # Without a word about it there is none by default, but scripts often set one.
        how = f"0 or {width:g} bytes: momentum is not stated"
        return StateCost(shown, 0.0, width, Origin.ESTIMATED, how, sources)
    size = width if momentum[0] > 0 else 0.0
    how = f"{size:g} bytes {'with' if size else 'without'} momentum"
    return StateCost(shown, size, size, Origin.DERIVED, how, (*sources, momentum[1]))
