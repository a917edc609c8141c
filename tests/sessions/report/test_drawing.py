"""Which charts are shown as text, which as pictures, and which as both."""

from __future__ import annotations

from mltd.sessions.masking import Masker
from mltd.sessions.report.chart import Chart, Trace
from mltd.sessions.report.drawing import Gallery
from mltd.sessions.report.pen import Pen

ROLES = ("train/loss", "val/loss", "grad_norm", "lr", "", "train/loss", "grad_norm")


def shown(folder: str, *, is_inside: bool = False) -> tuple[list[str], Gallery]:
    """How each chart is shown: p as a picture, t as text."""
    gallery = Gallery(Pen(Masker(False, (), ())), folder, is_inside=is_inside)
    trace = Trace("x", (((0.0, 1.0, 2.0), (1.0, 1.5, 2.5)),), first=1.0, last=2.5)
    ways = []
    for role in ROLES:
        blocks = list(
            gallery.show(Chart(role or "own", role or "own", "step", (trace,), role=role))
        )
        ways.append("".join(
            sign for start, sign in (("![", "p"), ("```", "t"))
            if any(block.startswith(start) for block in blocks)
        ))  # fmt: skip
    return ways, gallery


def test_with_pictures_only_loss_and_gradient_norm_are_also_text() -> None:
    ways, gallery = shown("r-files")
    assert ways == ["pt", "p", "pt", "p", "p", "p", "p"]
    assert len(gallery.pictures) == len(ROLES)


def test_without_pictures_everything_is_text() -> None:
    ways, gallery = shown("")
    assert ways == ["t"] * len(ROLES)
    assert not gallery.pictures


def test_beside_json_there_are_only_the_pictures_that_it_names() -> None:
    ways, gallery = shown("d.json-files", is_inside=True)
    assert ways == ["pt", "t", "pt", "t", "t", "t", "t"]
    assert list(gallery.pictures) == ["d.json-files/train-loss.svg", "d.json-files/grad-norm.svg"]
    assert gallery.by_role == {"train/loss": "d.json-files/train-loss.svg",
                               "grad_norm": "d.json-files/grad-norm.svg"}  # fmt: skip
