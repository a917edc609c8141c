"""Material for packs, made from a log that a test writes."""

from __future__ import annotations

from pathlib import Path

from mltd.analyzers.diagnosis import diagnose
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.pack import EvidencePack, PackConstraints, PackMaterial, build_pack
from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from mltd.runs.run import Run
from mltd.sessions.masking import Masker
from mltd.sessions.model.session import Session

TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
  File "train.py", line 2, in main
    raise ValueError("labels are out of range")
ValueError: labels are out of range
"""
SOURCE = "def main():\n    raise ValueError('labels are out of range')\nmain()\n"


def diverging(head: str = "", tail: str = "", steps: int = 400) -> str:
    """A log whose loss is NaN from step 300 on."""
    lines = [head] if head else []
    for step in range(1, steps + 1):
        loss = "nan" if step >= 300 else f"{2.5 - step / 200:.4f}"
        norm = "inf" if step >= 300 else f"{0.4 + (step % 7) / 50:.3f}"
        lines.append(f"step {step} loss {loss} grad_norm {norm} lr 0.003")
    return "\n".join(lines) + "\n" + tail


def read(path: Path) -> Run:
    (files,) = discover(str(path))
    return load(files).run


def material(*paths: Path, session: Session | None = None, masker: Masker | None = None,
             constraints: PackConstraints | None = None) -> PackMaterial:  # fmt: skip
    runs = {f"R{number}": read(path) for number, path in enumerate(paths, start=1)}
    return PackMaterial(
        runs=runs,
        diagnoses={key: diagnose(run) for key, run in runs.items()},
        book=ArtifactBook(runs, session, masker=masker),
        session=session,
        constraints=constraints or PackConstraints(),
    )


def packed(
    *paths: Path, tokens: int = 20_000, session: Session | None = None, redact: bool = False
) -> EvidencePack:
    masker = Masker(redact, [str(path) for path in paths])
    made = material(*paths, session=session, masker=masker)
    return build_pack(made, budget_tokens=tokens, masker=masker)


def section(pack: EvidencePack, title: str) -> str:
    return next((one.text for one in pack.sections if one.title == title), "")
