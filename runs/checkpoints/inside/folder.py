"""A folder that is a checkpoint: weights, optimizer, and what the trainer wrote beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from ...errors import InputError, MltdError
from ...remote.names import shown
from ..checkpoint_summary import Position
from ..limits import Limits
from .content import Content, plain_settings, read_settings
from .deepspeed import add_deepspeed, is_deepspeed
from .distributed import add_distributed, is_distributed
from .leaf import text
from .opening import open_file
from .shard_index import add_shards

WEIGHTS = (
    "model.safetensors", "pytorch_model.bin", "adapter_model.safetensors", "adapter_model.bin",
    "diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.bin", "model.pt", "model.pth",
    "consolidated.safetensors",
)  # fmt: skip
PARTS = {
    "optimizer": re.compile(r"optimi[sz]er(?:_\d+)?\.(?:pt|bin|pth)"),
    "scheduler": re.compile(r"scheduler(?:_\d+)?\.(?:pt|bin|pth)"),
    "scaler": re.compile(r"scaler\.pt"),
}
LISTED = re.compile(r"rng_state.*|random_states.*|training_args\.bin|sampler.*")
READABLE = re.compile(r".*\.(?:pt|pth|ckpt|safetensors|bin|npz)", re.IGNORECASE)
INNER = re.compile(r"global_?step\d+|.*_\d+|.*model_fsdp.*|optimizer.*")
"""Folders inside in which DeepSpeed and FSDP keep their shards."""
SETTINGS = ("config.json", "adapter_config.json")
TRAINER = "trainer_state.json"
MOST_ENTRIES = 20_000
_BATCH = "train_batch_size"
_TOLD_SETTINGS = ("architectures", "model_type", "peft_type", "torch_dtype", "dtype")


def open_folder(path: str, limits: Limits, *, needs_values: bool, root: str) -> Content:
    """Everything in a folder that belongs to its checkpoint."""
    names = listed(path)
    if is_distributed(names):
        content = Content("distributed", "fsdp", root)
        add_distributed(content, path, names, limits)
    elif is_deepspeed(names):
        content = Content("deepspeed", "deepspeed", root)
        add_deepspeed(content, path, names, limits, needs_values=needs_values)
    else:
        content = Content("folder", root=root)
        _add_plain(content, path, names, limits, needs_values=needs_values)
        _add_inner(content, path, names, limits, needs_values=needs_values)
    _add_trainer(content, path, names)
    if not content.parts:
        raise InputError(
            f"{shown(path)} holds no checkpoint that can be read",
            hint="name a file of torch.save or safetensors, or the folder that holds it",
        )
    return content


def listed(path: str) -> list[str]:
    """Names in a folder, sorted; never more than a checkpoint can have."""
    try:
        with os.scandir(path) as entries:
            names = [entry.name for _, entry in zip(range(MOST_ENTRIES), entries, strict=False)]
    except OSError as error:
        raise InputError(f"cannot read {shown(path)}: {error.strerror}") from None
    return sorted(names)


def _add_plain(
    content: Content, path: str, names: list[str], limits: Limits, *, needs_values: bool
) -> None:
    """The weights by the names that Hugging Face gives them, or the only file that there is."""
    indexes = [name for name in names if name.endswith(".index.json")]
    weights = [name for name in WEIGHTS if name in names]
    if weights:
        file = os.path.join(path, weights[0])
        content.take(open_file(file, limits, needs_values=needs_values, root=content.root))
    elif indexes:
        content.layout = "sharded"
        index = os.path.join(path, indexes[0])
        add_shards(content, index, limits, needs_values=needs_values)
    else:
        special = [*PARTS.values(), LISTED]
        others = [
            n for n in names if READABLE.fullmatch(n) and not any(p.fullmatch(n) for p in special)
        ]
        if len(others) > 1:
            raise InputError(
                f"{shown(path)} holds {len(others):,} checkpoints",
                hint=f"name one of them: {', '.join(text(name, 60) for name in others[:6])}",
            )
        for name in others:
            file = os.path.join(path, name)
            content.take(open_file(file, limits, needs_values=needs_values, root=content.root))
    for section, pattern in PARTS.items():
        for name in filter(pattern.fullmatch, names):
            _add_part(content, os.path.join(path, name), section, limits, needs_values)
    for name in filter(LISTED.fullmatch, names):
        content.list_file(os.path.join(path, name), "other")


def _add_part(
    content: Content, path: str, section: str, limits: Limits, needs_values: bool
) -> None:
    """An optimizer that cannot be read does not hide the weights."""
    try:
        loaded = open_file(path, limits, needs_values=needs_values, root=content.root)
    except MltdError as problem:
        content.list_file(path, section)
        content.notes.append(str(problem))
        return
    content.take(loaded, "optimizer" if section == "optimizer" else "state", section)


def _add_inner(
    content: Content, path: str, names: list[str], limits: Limits, *, needs_values: bool
) -> None:
    """Folders inside in which DeepSpeed and FSDP keep their shards."""
    for name in names:
        inner = os.path.join(path, name)
        if not INNER.fullmatch(name):
            continue
        if not os.path.isdir(inner):
            continue
        held = listed(inner)
        has_weights = bool(content.parts)
        if is_deepspeed(held):
            content.layout, content.framework = "deepspeed", "deepspeed"
            add_deepspeed(
                content, inner, held, limits, needs_values=needs_values, is_extra=has_weights
            )
        elif is_distributed(held):
            content.layout, content.framework = "distributed", "fsdp"
            add_distributed(content, inner, held, limits, is_extra="optim" in name)


def _add_trainer(content: Content, path: str, names: list[str]) -> None:
    """Step and epoch from the trainer's own file; the architecture from the model's."""
    if TRAINER in names:
        file = os.path.join(path, TRAINER)
        state = read_settings(file, content.root)
        step, epoch = state.get("global_step"), state.get("epoch")
        content.position = Position(
            step if isinstance(step, int) and 0 <= step < 1 << 53 else None,
            float(epoch) if isinstance(epoch, int | float) else None,
            TRAINER,
        )
        content.list_file(file, "state")
        content.framework = content.framework or "huggingface"
        content.settings += plain_settings({_BATCH: state.get(_BATCH)})
    add_settings(content, path, names)


def add_settings(content: Content, path: str, names: Collection[str]) -> None:
    """What Hugging Face writes about the model beside its weights."""
    for name in SETTINGS:
        if name in names:
            settings = read_settings(os.path.join(path, name), content.root)
            content.list_file(os.path.join(path, name), "settings")
            if "architectures" in settings or "model_type" in settings or "peft_type" in settings:
                content.framework = content.framework or "huggingface"
            told = [(key, settings[key]) for key in _TOLD_SETTINGS if settings.get(key)]
            content.extras += [(f"{name}: {key}", text(value, 80)) for key, value in told]
            content.settings += plain_settings(settings)
