"""A checked opinion as Markdown in which nothing that was said is more than text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mltd.sessions.masking import Masker
from mltd.sessions.report.markdown import document
from mltd.sessions.report.opinion import OpinionWriter
from mltd.sessions.report.pen import Pen

from ..citations.checked import CheckedOpinion

if TYPE_CHECKING:
    from ..citations.desk import Cleaner


def markdown(
    checked: CheckedOpinion, *, level: int = 2, model: str = "", masker: Cleaner | None = None
) -> str:
    """The opinion with Claude named as its source; citations that failed are struck through."""
    pen = Pen(masker or Masker())
    level = max(1, min(level, 5))
    by = f" ({pen.text(model, 80)})" if model else ""
    # As the session keeps it and the report writes it: the two never read differently.
    writer = OpinionWriter(checked.model_dump(mode="json"), pen, level)
    return document(
        [
            f"{'#' * level} Second opinion by Claude{by}",
            "What a language model answered; a program looked up each of its citations: "
            f"{checked.tally}. Struck through is what is not there.",
            *writer.blocks(),
        ]
    )
