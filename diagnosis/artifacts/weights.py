"""The tensors of a checkpoint, from its headers alone, within a time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

from .artifact import Artifact
from .belonging import opened
from .errors import ArtifactError
from .timely import ask_process

WEIGHTS_SECONDS = 3.0
_PROCESS = "mltd.diagnosis.artifacts.weights_process"


class Tensor(NamedTuple):
    """Name, shape and element type; the values are never read."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    storage: str = ""
    """Tensors with the same storage share their values: tied weights."""
    file: str = ""
    """Name of the artifact that holds it."""


def tensors_of(
    files: Sequence[Artifact], seconds: float = WEIGHTS_SECONDS
) -> tuple[list[Tensor], list[str]]:
    """The tensors in some files, and a sentence for each file that could not be read."""
    with ExitStack() as stack:
        descriptors = [stack.enter_context(opened(file)) for file in files]
        said = ask_process(_PROCESS, descriptors, [], seconds)
    if said is None:
        names = ", ".join(file.name for file in files[:3])
        raise ArtifactError(f"the description in {names} took too long to read and was given up")
    tensors: list[Tensor] = []
    problems: list[str] = []
    for file, descriptor, line in zip(files, descriptors, said.splitlines(), strict=False):
        found = json.loads(line)
        if "problem" in found:
            problems.append(_sentence(found, descriptor, file))
            continue
        for name, shape, dtype, storage in found["tensors"]:
            tensors.append(
                Tensor(name, tuple(shape), dtype, storage and f"{file.name}:{storage}", file.name)
            )
    return tensors, problems


def _sentence(found: dict[str, str], descriptor: int, file: Artifact) -> str:
    """The problem with the name of the file, which the process did not know."""
    name = os.path.basename(file.name)
    number = rf"(?:/proc/self/fd/)?\b{descriptor}\b"
    told = re.sub(number, lambda _: name, found["problem"], count=1)
    return f"{told}; {found['hint']}" if found["hint"] else told
