"""Characters as numbers: the source of Python's standard library, and little sums."""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

CHARACTERS = (
    "\n !\"#%'()*+,-./0123456789:;<=>@ABCDEFGHIJKLMNOPRSTUVWXY[]_abcdefghijklmnopqrstuvwxyz{}"
)
VOCABULARY = len(CHARACTERS) + 1
"""All of them, and zero for any other."""
_NUMBERS = {character: place + 1 for place, character in enumerate(CHARACTERS)}


def encode(text: str) -> Tensor:
    """Numbers of a text."""
    return torch.tensor([_NUMBERS.get(character, 0) for character in text])


def decode(numbers: Sequence[int]) -> str:
    """The text of numbers."""
    return "".join(CHARACTERS[number - 1] if number else "?" for number in numbers)


@cache
def library_text(*modules: str) -> Tensor:
    """The source of some modules, one after the other."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    return encode("".join((folder / f"{name}.py").read_text("utf-8") for name in modules))


def sums_text(count: int, seed: int) -> Tensor:
    """Questions about little sums, with answers."""
    rng = np.random.default_rng(seed)
    lines = []
    for first, second in rng.integers(1, 60, (count, 2)):
        is_sum = (first + second) % 2 == 0
        answer = first + second if is_sum else first - second
        lines.append(f"Q: {first}{'+' if is_sum else '-'}{second} A: {answer}\n")
    return encode("".join(lines))
