"""Configuration files of one run that contradict each other, or the saved weights."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import combinations

from mltd.runs.checkpoints import TensorInfo, weights_of
from mltd.runs.config.stored import StoredConfig, stored_configs
from mltd.runs.roles import normalise

from ..core.finding import Evidence, EvidenceKind
from ..core.settings_lookup import Setting, Settings, spellings
from ..core.view import RunView
from .disagreement import Disagreement, is_same

_COMPARED = (
    "lr", "batch_size", "weight_decay", "seed", "optimizer", "dropout", "hidden", "layers",
    "vocab_size", "classes", "epochs", "max_steps", "momentum", "activation", "features", "model",
)  # fmt: skip
_OVERRIDDEN = (
    "lr", "weight_decay", "optimizer", "dropout", "hidden", "layers", "momentum", "activation",
)  # fmt: skip
"""What a log prints as it was used; seeds and batches are those of one process, steps may be what
is left of them."""
_FEATURES = ["num features", "in channels", "in features", "input dim", "feature dim", "in dim"]
_HEAD = re.compile(r"(?:^|\.)(?:head|classifier|lm_head|fc|output|out|cls)(?:\.\w+)?\.weight$")
_TABLE = re.compile(
    r"(?:^|\.)(?:wte|tok\w*emb\w*|word_embeddings?|embed_tokens|embedding|emb)\.weight$"
)
_PADDING = 512
"""Rows that an embedding may have beyond the vocabulary, so that its size divides well."""


def file_claims(view: RunView) -> Iterator[Disagreement]:
    """What two files of the same folder say differently, and weights that fit neither."""
    told: set[str] = set()
    files = [f for f in stored_configs(view.run) if _is_compared(f.path)]
    for first, second in combinations(files, 2):
        if os.path.dirname(first.path) == os.path.dirname(second.path):
            for found in _between(first, second):
                if found.about not in told:
                    told.add(found.about)
                    yield found
    if view.run.printed and len(files) == 1:
        # One log beside one file; of several files some may belong to other stages.
        for found in _between(files[0], StoredConfig("the log", view.run.printed), _OVERRIDDEN):
            if found.about not in told:
                told.add(found.about)
                yield found
    yield from _weights(view)


def _is_compared(path: str) -> bool:
    name = os.path.basename(path).lower()
    # Dumps of code are one per launch; the tracker's metadata are no settings.
    return not name.endswith(".py") and name != "wandb-metadata.json"


def _by_name(config: StoredConfig) -> dict[str, Setting]:
    """Settings by the last part of their name, where that is unique."""
    found: dict[str, list[Setting]] = {}
    for setting in Settings(config.settings):
        found.setdefault(normalise(setting.path.rpartition(".")[2]), []).append(setting)
    return {name: settings[0] for name, settings in found.items() if len(settings) == 1}


def _between(
    first: StoredConfig, second: StoredConfig, compared: tuple[str, ...] = _COMPARED
) -> Iterator[Disagreement]:
    ours, theirs = _by_name(first), _by_name(second)
    for meaning in compared:
        for name in spellings().get(meaning, _FEATURES):
            one, other = ours.get(name), theirs.get(name)
            if one is None or other is None or _agree(one, other):
                continue
            files = os.path.basename(first.path), os.path.basename(second.path)
            yield Disagreement(
                meaning,
                f"{one.path} is {one.value} in {files[0]} but {other.value} in {files[1]}",
                (_stated(files[0], one), _stated(files[1], other)),
                0.93,
            )
            break


def _agree(one: Setting, other: Setting) -> bool:
    if one.number is not None and other.number is not None:
        return is_same(one.number, other.number)
    if not isinstance(one.value, str) or not isinstance(other.value, str):
        return True
    return one.text == other.text


def _stated(file: str, setting: Setting) -> Evidence:
    return Evidence(EvidenceKind.CONFIG, f"{file}:{setting.path}", f"{setting.value}"[:200])


def _weights(view: RunView) -> Iterator[Disagreement]:
    """Rows of the embedding and of the output layer against the config's sizes."""
    vocabulary, classes = view.settings.get("vocab_size"), view.settings.get("classes")
    if vocabulary is None and classes is None:
        return
    weights = weights_of(view.run)
    if weights is None:
        return
    file = os.path.basename(weights.path)
    for tensor in weights.tensors:
        if len(tensor.shape) != 2:
            continue
        place = Evidence(EvidenceKind.CHECKPOINT, file, f"{tensor.name}: {tensor.shape}")
        rows = tensor.shape[0]
        for about, setting, fits in (
            ("vocab_size", vocabulary, _fits_vocabulary(tensor, vocabulary)),
            ("classes", classes, _fits_classes(tensor, classes)),
        ):
            if setting is not None and not fits:
                sentence = f"{setting.path} is {setting.value} but {tensor.name} has {rows} rows"
                yield Disagreement(about, sentence, (setting.evidence, place))


def _fits_vocabulary(tensor: TensorInfo, setting: Setting | None) -> bool:
    words = setting.number if setting is not None else None
    if not words or not _TABLE.search(tensor.name):
        return True
    return words <= tensor.shape[0] <= words + _PADDING


def _fits_classes(tensor: TensorInfo, setting: Setting | None) -> bool:
    """Only rows that are too few are sure to be wrong: detectors have more per class."""
    count = setting.number if setting is not None and _is_class_count(setting) else None
    if not count or not _HEAD.search(tensor.name) or (count == 2 and tensor.shape[0] == 1):
        return True
    return tensor.shape[0] >= count


def _is_class_count(setting: Setting) -> bool:
    return "class" in normalise(setting.path) or "label" in normalise(setting.path)
