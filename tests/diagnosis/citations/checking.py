"""Runs with files, and citations checked against them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mltd.diagnosis.answer import parse_opinion
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import CheckedCitation, CheckedOpinion, check

from ..answer.answers import answer, cause
from ..artifacts.making import book_of

LINES = [
    *(f"step {n} loss {3 - n / 200:.4f} grad_norm {1 + n / 50:.3f}" for n in range(300)),
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "\x1b[31mERROR\x1b[0m  rank 3   stopped, exit code -9",
]
CONFIG = """\
optimizer:
  name: AdamW
  lr: 1.0e-2
  betas: [0.9, 0.95]
amp: true
warmup: null
layers:
  - {units: 64}
"""


def book_in(folder: Path, **more: Any) -> ArtifactBook:
    log = "\n".join(LINES) + "\n"
    return book_of(folder, {"train.log": log, "config.yaml": CONFIG}, **more)


def checked(book: ArtifactBook, *evidence: Any, **more: Any) -> CheckedOpinion:
    return check(parse_opinion(answer(cause(*evidence, confidence=0.85))), book, **more)


def verdict(book: ArtifactBook, citation: Any, **more: Any) -> CheckedCitation:
    (found,) = checked(book, citation, **more).citations
    return found
