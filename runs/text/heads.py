"""Forms at the head of a text that tell where in training it was printed."""

from __future__ import annotations

import re

from . import precedence
from .numbers import FILLER, FRACTION, NUMBER
from .passage import Passage

_STEP_KIND_VALUE = re.compile(r"\s*(?P<step>\d+)\s+(?P<kind>[^\W\d]\w*)\s+(?P<value>\S+)\s*$")
"""`0 train 11.22`, and nothing else."""
_TAG = re.compile(r"[^\w\[]*\[(?P<tag>[^\]\d]{2,40})\]\s*")
"""`[Epoch Metrics]`, maybe behind a pictogram."""
_WORD_CHARACTER = re.compile(r"\w")
_EPOCH_AND_BATCH = re.compile(
    r"\s*\[\s*(?P<epoch>\d+)\s*,\s*(?P<inner>\d+)\s*\](?:\s*+:)?\s++(?=[^\W\d])"
)
"""`[1, 2000] loss: 2.17`."""
_GLUED_BATCHES = re.compile(r"\s*(?P<epoch>\d+)epoch:train:\d+-(?P<inner>\d+)batch\b\S*")
"""`3epoch:train:1-100batch: loss=90.2`."""
_OF_EPOCHS = re.compile(r"\s?epochs?\b(?!\s?[:=|-]?\s?\d)", re.IGNORECASE)
"""Behind `3/20`: `3/20epoch started`, but not `3/20 epoch 1`."""
_GLUED_EPOCH = re.compile(r"\s*(?P<epoch>\d+)\s?epoch\b\S*")
"""`3epoch:train: loss=90.2`."""
_ORDINAL = re.compile(
    r"""第\s*(?P<n>\d+)\s*(?:/\s*(?P<total>\d+)\s*)?个?\s*
    (?:(?P<epoch>轮|輪|回合|周期|[eE]poch|エポック)|(?P<step>步|次迭代|step|iter|ステップ)
    |(?P<inner>批次?|batch|バッチ))""",
    re.VERBOSE,
)
"""`第3轮，第20/50批`, anywhere in a line."""
_GLUED_PLACE = re.compile(
    r"""\W{0,3}(?:ep|epoch|e)_?(?P<epoch>\d+)
    [-_/., :|]{1,3}(?:it|iter|iteration|step|batch|s|b|i)_?(?P<inner>\d+)(?![\w.%])""",
    re.VERBOSE | re.IGNORECASE,
)
"""`ep3-it40 loss 2.1`, `[E3/B40] loss: 2.1`."""
_GLUED_EPOCH_ALONE = re.compile(r"\W{0,3}(?:ep|epoch)_?(?P<epoch>\d+)(?![\w.%])", re.IGNORECASE)
"""`ep3 val_loss 2.1`."""
_LETTER_AND_EPOCH = re.compile(
    r"E(?P<epoch>\d{1,4})\b[:|]?\s++(?=[^\W\d][\w./-]{0,20}\s?[=:]?\s?[-+]?\.?\d)"
)
"""`E12  tl 2.363  vl 2.274`; a logger's `E1117 22:15:58` has no name behind it."""
_SPLIT_EPOCH_AND_BATCH = re.compile(
    r"""\s*(?P<split>[^\W\d]+)\s?:?\s?\[\s*(?P<epoch>\d+)\s*\]
    \s?\[\s*(?P<inner>\d+)\s*/\s*(?P<total>\d+)\s*\]""",
    re.VERBOSE,
)
"""`Train: [3][50/100] loss 2.1`."""
_SPLIT_BATCH_OF_EPOCH = re.compile(
    r"\s*(?P<split>TRAIN|CV) Batch (?P<epoch>\d+)/(?P<inner>\d+)(?P<total>)\s"
)
"""WeNet's `TRAIN Batch 3/100 loss 2.1`, where 3 is the epoch."""
_SPLIT_AND_STEP = re.compile(
    r"\s*(?P<split>[^\W\d]+)\s++(?P<step>\d+)\s++(?=[^\W\d][\w./-]{0,40}\s?[=:]\s?[-+]?\.?\d)"
)
"""`TRN  400  loss=2.1`."""
_HASH_STEP = re.compile(r"\W*\#\s?(?P<step>\d+)\b:?\s++(?=[^\W\d])")
"""`#100 loss=2.1`."""
_BARE_STEP = re.compile(r"\s*(?P<step>\d+)\s++(?=[^\W\d][\w./ -]{0,40}[=:]\s?[-+]?\.?\d)")
"""`100 loss=2.1`."""
_BRACKETED_STEP = re.compile(r"\s*\[\s*(?P<step>\d+)\s*\]:?\s+(?=[^\W\d])")
"""`[100] train-rmse:0.5`."""
_NUMBERED_LINE = re.compile(r"\s*(?P<step>\d+)\s*:\s+(?=[^\W\d])")
"""`12: loss 2.1`."""
_COUNTERS = (
    (_EPOCH_AND_BATCH, precedence.HEAD),
    (_GLUED_BATCHES, precedence.HEAD),
    (_GLUED_EPOCH, precedence.HEAD),
    (_GLUED_PLACE, precedence.HEAD),
    (_GLUED_EPOCH_ALONE, precedence.HEAD),
    (_LETTER_AND_EPOCH, precedence.HEAD),
    (_BRACKETED_STEP, precedence.BRACKETED_HEAD),
    (_HASH_STEP, precedence.BRACKETED_HEAD),
    (_NUMBERED_LINE, precedence.NUMBERED_HEAD),
    (_BARE_STEP, precedence.NUMBERED_HEAD),
)
"""Patterns whose groups are called like the axes they count on."""
_MAX_FRACTIONS = 3
_KERAS_TIME = re.compile(r"\s*-\s+\d+(?:ms|s|us)\b")
"""` - 0s`, behind Keras' count of the steps of the epoch: `4/4 - 0s - 85ms/step - loss: 1.05`."""


def read_ordinals(passage: Passage) -> None:
    """Read the places that are counted in characters, and hide them from later readers."""
    for found in _ORDINAL.finditer(passage.text) if "第" in passage.text else ():
        axis = found.lastgroup or "step"
        total = found.span("total") if found["total"] else None
        passage.add_coordinate(axis, found.span("n"), precedence.HEAD, total)
        passage.blank(found.span())


def read_head(passage: Passage) -> int:
    """Read the head, if it has one of the known forms; where the rest begins."""
    for read in (
        _read_step_kind_value,
        _read_split_and_epoch,
        _read_split_and_step,
        _read_tag,
        _read_counters,
        _read_fractions,
    ):
        if (end := read(passage)) is not None:
            return end
    return 0


def _read_step_kind_value(passage: Passage) -> int | None:
    found = _STEP_KIND_VALUE.match(passage.text)
    number = NUMBER.fullmatch(passage.text, *found.span("value")) if found else None
    if found is None or number is None:
        return None
    passage.add_coordinate("step", found.span("step"), precedence.STEP_KIND_VALUE)
    passage.add_slot(found["kind"], number, is_known=True)
    return len(passage.text)


def _read_split_and_step(passage: Passage) -> int | None:
    found = _SPLIT_AND_STEP.match(passage.text)
    if found is None or not passage.roles.is_split(found["split"]):
        return None
    passage.add_head_words(found["split"])
    passage.add_coordinate("step", found.span("step"), precedence.NUMBERED_HEAD)
    return found.end()


def _read_split_and_epoch(passage: Passage) -> int | None:
    text = passage.text
    found = _SPLIT_EPOCH_AND_BATCH.match(text) or _SPLIT_BATCH_OF_EPOCH.match(text)
    if found is None or not passage.roles.split_of(found["split"]):
        return None
    passage.add_head_words(found["split"])
    passage.add_coordinate("epoch", found.span("epoch"), precedence.HEAD)
    total = found.span("total") if found["total"] else None
    passage.add_coordinate("inner", found.span("inner"), precedence.HEAD, total)
    return found.end()


def _read_tag(passage: Passage) -> int | None:
    found = _TAG.match(passage.text)
    if found is None:
        return None
    name = found["tag"].strip()
    if found.end() == len(passage.text) or not _WORD_CHARACTER.search(name):
        return 0
    if passage.roles.axis_of(name) is not None:
        return 0
    passage.context = f"[{name}]"
    passage.add_head_words(name)
    return found.end()


def _read_counters(passage: Passage) -> int | None:
    for pattern, rank in _COUNTERS:
        if found := pattern.match(passage.text):
            for axis in pattern.groupindex:
                passage.add_coordinate(axis, found.span(axis), rank)
            return found.end()
    return None


def _read_fractions(passage: Passage) -> int | None:
    """`[3/20][100/600]` counts epochs and what is inside them, a single `3/20` steps."""
    fractions = _leading_fractions(passage.text)
    if not fractions:
        return None
    end = fractions[-1].end()
    axes = ["epoch", "inner"]
    if len(fractions) == 1:
        # `[70/79]` says how far a loop is, and loops are run again and again.
        is_inner = passage.text.lstrip().startswith("[") or _KERAS_TIME.match(passage.text, end)
        named = "epoch" if _OF_EPOCHS.match(passage.text, end) else "step"
        axes = ["inner" if is_inner else named]
    for axis, fraction in zip(axes, fractions, strict=False):
        passage.add_coordinate(axis, fraction.span("n"), precedence.HEAD, fraction.span("total"))
    return end


def _leading_fractions(text: str) -> list[re.Match[str]]:
    fractions: list[re.Match[str]] = []
    found = FRACTION.match(text)
    # `9/10.5` and `9/10%` are no counts.
    if found is None or text[found.end() : found.end() + 1] in (".", "%", FILLER):
        return fractions
    while found is not None and len(fractions) < _MAX_FRACTIONS:
        fractions.append(found)
        found = FRACTION.match(text, found.end())
    return fractions
