"""Lines that hold a record: `{'loss': 0.69, 'epoch': 0.02}`, `eval_accuracy: {"value": 0.4}`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ..roles import Roles
from .pairs import read_pairs
from .reading import Coordinate, Reading, Slot, level_of, moved
from .records import Leaf, find_record, scan_record

_LABEL = re.compile(r"(?P<label>[\w@./-]+)\s*[:=]?\s*$")
_MIN_CONFIG = 4
"""A record with fewer entries may be anything."""
_MOST_HEADING = 2000
"""Characters in front of a record that may belong to it."""
_MOST_LABEL = 200
_SETTINGS = re.compile(
    r"(?i)(?:batch_size|train_batch_size|per_device_train_batch_size|optimizer|optim|seed|"
    r"weight_decay|lr_scheduler|scheduler|warmup_steps|warmup_ratio|max_grad_norm|grad_clip|"
    r"clip_grad|dropout|hidden_size|num_layers|n_layer|n_head|num_heads|num_epochs|"
    r"num_train_epochs|max_steps|log_every|logging_steps|eval_every|save_every|grad_accum|"
    r"gradient_accumulation_steps|momentum|num_workers|vocab_size|block_size|seq_len|"
    r"max_seq_length|num_classes|(?:log|print|valid|eval|save)_interval|initial_lr|world_size)"
)
"""Names that no measurement has."""
_MIN_SETTINGS = 3
_ENVELOPES = frozenset({
    "data", "metrics", "metric", "payload", "fields", "values", "log", "logs", "record", "info",
    "stats", "progress", "state", "trainer", "counters", "body", "msg", "message", "event",
    "results", "extra", "context", "train", "training", "val", "eval",
})  # fmt: skip
"""Keys around a record: a step inside them is the step of the record."""
_NESTED_PENALTY = 30
_NAME_KEYS = frozenset({"name", "metric", "key", "tag", "metric_name", "measure", "label"})
"""Keys of texts that name the `value` beside them."""
_SPLIT_KEYS = frozenset({
    "split", "phase", "mode", "stage", "set", "subset", "partition", "event", "type", "kind",
    "dataset",
})  # fmt: skip
"""Keys of texts that may say which data was used."""
_FRACTION = re.compile(r"(?P<n>\d{1,9})/(?P<total>\d{1,9})")
_TIME_NAMES = ("time", "ts", "t")
_SCORES = frozenset({"score", "accuracy", "error_rate"})
_SIGNS_OF_TRAINING = frozenset({"loss", "lr", "grad_norm", "reward"})


def read_record(body: str, offset: int, roles: Roles, reading: Reading) -> bool:
    """Read the record of a line, whose body begins at `offset`; False if there is none."""
    span = find_record(body)
    leaves = scan_record(body, *span) if span is not None else None
    if span is None or not leaves:
        return False
    heading = body[: span[0]][-_MOST_HEADING:].strip()
    contents = _Contents.of(leaves, roles)
    label = _label(heading, contents.numeric) or _inner_label(leaves)
    is_list_of_records = heading.endswith("[")
    if is_list_of_records or (contents.is_config and not label) or contents.is_settings:
        reading.config = {}
        return True
    if not (contents.is_metrics or label):
        return False
    reading.is_record = True
    reading.split = reading.split or _split_told(leaves, roles)
    _take_heading(heading, offset, roles, reading)
    is_placed_by_heading = bool(reading.coordinates)
    for leaf in leaves:
        if leaf.value is None:
            _take_fraction(leaf, offset, roles, reading)
        else:
            _take_leaf(leaf, leaf.value, label, offset, roles, reading)
    if is_placed_by_heading:
        reading.level = level_of(reading.coordinates)
    if not reading.split and _is_evaluation(reading.slots, roles):
        reading.split = "val"
    return True


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a record is made of."""

    numeric: list[Leaf]
    words: int
    """Values that are no numbers."""
    coordinates: int
    known: int
    depth: int
    settings: int = 0
    has_outcome: bool = False

    @classmethod
    def of(cls, leaves: list[Leaf], roles: Roles) -> _Contents:
        numeric = [leaf for leaf in leaves if leaf.value is not None]
        places = sum(_is_fraction(leaf, roles) for leaf in leaves)
        return cls(
            numeric,
            words=len(leaves) - len(numeric) - places,
            coordinates=places + sum(roles.axis_of(leaf.path[-1]) is not None for leaf in numeric),
            known=sum(roles.is_known(leaf.name) for leaf in numeric),
            depth=max(len(leaf.path) for leaf in leaves),
            settings=sum(_SETTINGS.fullmatch(leaf.path[-1]) is not None for leaf in leaves),
            has_outcome=any(_is_measured(leaf, roles) for leaf in numeric),
        )

    @property
    def _size(self) -> int:
        return self.words + len(self.numeric)

    @property
    def is_metrics(self) -> bool:
        """More numbers than words, with a coordinate or, in a flat record, a known name."""
        is_flat_and_known = self.known > 0 and self.depth <= 2
        if is_flat_and_known and self.words <= len(self.numeric):
            return True
        is_wordy = self.words > max(2, 0.4 * self._size)
        return (self.coordinates > 0 or is_flat_and_known) and not is_wordy

    @property
    def is_settings(self) -> bool:
        """Several names of settings and nothing measured, whatever `steps: 800` looks like."""
        return self.settings >= _MIN_SETTINGS and not self.has_outcome

    @property
    def is_config(self) -> bool:
        """Words and numbers, enough of them, that are no metrics."""
        if not self.numeric or not self.words or self.coordinates:
            return False
        return self._size >= _MIN_CONFIG and not self.is_metrics


def _is_measured(leaf: Leaf, roles: Roles) -> bool:
    """True for outcomes, but for the infinity with which a search for the best begins."""
    return leaf.value is not None and math.isfinite(leaf.value) and roles.is_outcome(leaf.name)


def _label(heading: str, numeric: list[Leaf]) -> str:
    """The name in front of the record, if there is a `value` that it names."""
    found = _LABEL.search(heading[-_MOST_LABEL:])
    has_value = any(leaf.path == ("value",) for leaf in numeric)
    return found["label"] if found and has_value else ""


def _inner_label(leaves: list[Leaf]) -> str:
    """The text in the record that names its `value`: `{"name": "loss", "value": 0.31}`."""
    if not any(leaf.path == ("value",) and leaf.value is not None for leaf in leaves):
        return ""
    named = (leaf.text for leaf in leaves if leaf.path[-1] in _NAME_KEYS and leaf.value is None)
    return next(named, "")


def _split_told(leaves: list[Leaf], roles: Roles) -> str:
    """The split that a text in the record tells: `{"event": "eval", "loss": 0.31}`."""
    told = (leaf.text for leaf in leaves if leaf.path[-1] in _SPLIT_KEYS and leaf.value is None)
    return next(filter(None, map(roles.split_of, told)), "")


def _take_heading(heading: str, offset: int, roles: Roles, reading: Reading) -> None:
    if not heading:
        return
    found = read_pairs(heading, offset, roles)
    reading.coordinates.extend(found.coordinates)
    # `step 10 loss 2.1 {'forward': 0.2}`: what is measured may stand in front of the record.
    reading.slots.extend(slot for slot in found.slots if slot.is_known)
    reading.split = reading.split or roles.split_of(found.head_words)


def _is_fraction(leaf: Leaf, roles: Roles) -> bool:
    """A text such as `3/400` under the name of an axis; the span of a bare word is not its own."""
    if leaf.value is not None or leaf.span[1] - leaf.span[0] != len(leaf.text):
        return False
    is_place = roles.axis_of(leaf.name) in ("step", "epoch")
    return is_place and _FRACTION.fullmatch(leaf.text) is not None


def _take_fraction(leaf: Leaf, offset: int, roles: Roles, reading: Reading) -> None:
    """`"epoch": "3/400"`: a place, and how far it goes."""
    axis, precedence = roles.axis_rank(leaf.name)
    found = _FRACTION.fullmatch(leaf.text)
    if axis is None or found is None or not _is_fraction(leaf, roles):
        return
    is_inside = axis == "step" and any(known.axis == "epoch" for known in reading.coordinates)
    start = offset + leaf.span[0]
    reading.coordinates.append(
        Coordinate(
            "inner" if is_inside else axis,
            moved(found.span("n"), start),
            float(found["n"]),
            precedence,
            float(found["total"]),
            moved(found.span("total"), start),
        )
    )


def _take_leaf(
    leaf: Leaf, value: float, label: str, offset: int, roles: Roles, reading: Reading
) -> None:
    """Make a coordinate, a value, or both of a number."""
    name = label if label and leaf.path == ("value",) else leaf.name
    span = moved(leaf.span, offset)
    axis, precedence = roles.axis_rank(name)
    place, _, goal = name.partition("/")
    if axis is None and goal and roles.total_of(goal) is not None:
        # `"global_step/max_steps": "5/800"`
        axis, precedence = roles.axis_rank(place)
    if axis is None and len(leaf.path) > 1 and leaf.path[-2].casefold() in _ENVELOPES:
        axis, precedence = roles.axis_rank(leaf.path[-1])
        precedence += _NESTED_PENALTY
        axis = axis if axis in ("step", "epoch") else None
    if (axis == "time" or name.casefold() in _TIME_NAMES) and _is_moment(value):
        reading.coordinates.append(Coordinate("time", span, value))
        return
    if axis is not None and axis not in ("batch", "time"):
        reading.coordinates.append(Coordinate(axis, span, value, precedence))
    total = roles.total_of(name)
    if total is not None:
        reading.coordinates.append(Coordinate(f"total {total}", span, value))
        return
    reading.slots.append(Slot(name, span, value, is_known=roles.is_known(name)))


def _is_moment(value: float) -> bool:
    """Seconds since 1970, between 2001 and 2286: no duration is that long."""
    return 1e9 < value < 1e10


def _is_evaluation(slots: list[Slot], roles: Roles) -> bool:
    """A record of scores without anything a training step has."""
    roles_found = (roles.role_of(slot.name) for slot in slots)
    quantities = {role.rpartition("/")[2] for role in roles_found if role}
    return not quantities.isdisjoint(_SCORES) and quantities.isdisjoint(_SIGNS_OF_TRAINING)
