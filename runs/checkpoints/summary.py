"""The weights of a run's newest checkpoint, looked at once per state of the file."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import MltdError
from .shapes import tensor_shapes
from .tensor_info import TensorInfo

if TYPE_CHECKING:
    from ..run import Run

MOST_SHARDS = 64
_READABLE = re.compile(r".*\.(?:pt|pth|ckpt|safetensors|bin)", re.IGNORECASE)
NOT_WEIGHTS = re.compile(
    r"(?:.*[-_.])?(?:optimi[sz]er|optim|scheduler|scaler|rng|random_states|training_args|sched|"
    r"events)[-_.\w]*",
    re.IGNORECASE,
)
"""Names of what is saved beside weights."""
_SHARD = re.compile(r"(.*)-\d{5}-of-(\d{5})(\.\w+)")
_STATE = re.compile(
    r"(?:^|\.)(?:optimi[sz]ers?(?:_states?)?|optim|exp_avg(?:_sq)?|scheduler|lr_schedulers?|scaler|"
    r"callbacks|loops|rng_state|momentum_buffer)(?:\.|$)",
    re.IGNORECASE,
)
_COPIES = re.compile(r"^(?:ema|model_ema|ema_model|teacher|target|averaged)\b", re.IGNORECASE)
_WHOLE_NUMBERS = ("int", "uint", "bool", "i", "u")
_BUFFERS = re.compile(r"(?:running_mean|running_var|num_batches_tracked|\.mask|inv_freq)$")


@dataclass(frozen=True, slots=True)
class Weights:
    """The trained parameters in one checkpoint; tied ones are counted once."""

    path: str
    tensors: tuple[TensorInfo, ...]

    @property
    def total(self) -> int:
        """How many parameters there are."""
        return sum(tensor.elements for tensor in self.tensors)


def weights_of(run: Run) -> Weights | None:
    """The parameters in the newest checkpoint that can be read; None if there is none."""
    candidates: list[tuple[int, str, str]] = []
    for artifact in run.artifacts:
        if artifact.kind != "checkpoint":
            continue
        for path in _files(artifact.path):
            try:
                candidates.append((os.stat(path).st_mtime_ns, path, artifact.root))
            except (OSError, ValueError):
                continue
    for stamp, path, root in sorted(candidates, reverse=True)[:3]:
        if (found := _read(path, root, stamp)) is not None:
            return found
    return None


def _files(path: str) -> list[str]:
    """A checkpoint's weight files; it may be a folder."""
    if not os.path.isdir(path):
        name = os.path.basename(path)
        return [path] if _READABLE.fullmatch(name) and not NOT_WEIGHTS.fullmatch(name) else []
    try:
        names = sorted(os.listdir(path))[:1000]
    except OSError:
        return []
    return [
        os.path.join(path, name)
        for name in names
        if _READABLE.fullmatch(name) and not NOT_WEIGHTS.fullmatch(name)
    ]


@lru_cache(maxsize=256)
def _read(path: str, root: str, stamp: int) -> Weights | None:
    """The stamp is part of the key, so a file that changed is read again."""
    try:
        tensors = [tensor for part in _shards(path) for tensor in tensor_shapes(part, root)]
    except MltdError:
        return None
    kept = _parameters(tensors)
    return Weights(path, tuple(kept)) if kept else None


def _shards(path: str) -> list[str]:
    folder, name = os.path.split(path)
    found = _SHARD.fullmatch(name)
    if found is None or int(found[2]) > MOST_SHARDS:
        return [path]
    count = int(found[2])
    parts = [f"{found[1]}-{i:05d}-of-{count:05d}{found[3]}" for i in range(1, count + 1)]
    paths = [os.path.join(folder, part) for part in parts]
    return paths if all(os.path.isfile(part) for part in paths) else [path]


def _parameters(tensors: list[TensorInfo]) -> list[TensorInfo]:
    """Without optimizer state, buffers, averaged copies, and second names of tied weights."""
    own = [
        t
        for t in tensors
        if not _STATE.search(t.name)
        and not _BUFFERS.search(t.name)
        and not t.dtype.startswith(_WHOLE_NUMBERS)
    ]
    originals = [t for t in own if not _COPIES.match(t.name)]
    kept: dict[str, TensorInfo] = {}
    for tensor in originals or own:
        key = f"{tensor.storage}{tensor.shape}" if tensor.storage else tensor.name
        kept.setdefault(key, tensor)
    return list(kept.values())
