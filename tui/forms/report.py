"""A report: which one, into which file, and what is left out of it."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from .field import Field, Kind, Values
from .form import Form, Reading, Unfit


class ReportKind(StrEnum):
    """How much a report says."""

    FULL = "full"
    BRIEF = "brief"
    JSON = "json"


class ReportWish(NamedTuple):
    """A report that is to be written."""

    path: Path
    kind: ReportKind = ReportKind.FULL
    is_redacted: bool = False
    may_overwrite: bool = False


_KINDS = (
    (ReportKind.FULL, "everything, as Markdown with curves"),
    (ReportKind.BRIEF, "five lines: error, root cause, evidence, fix, prevention"),
    (ReportKind.JSON, "the diagnosis, for programs"),
)
_NO_YES = (("no", "no"), ("yes", "yes"))


def report_form(path: str, folder: str) -> Form[ReportWish]:
    """Where to and how much; a name without a folder belongs into `folder`.

    It looks at no disk itself: give `look_at_target` as what to attempt.
    """

    def read(values: Values) -> ReportWish:
        reading = Reading(values)
        return ReportWish(
            Path(folder) / os.path.expanduser(reading.text("path")),
            ReportKind(reading.text("kind") or ReportKind.FULL),
            reading.text("redact") == "yes",
            reading.text("overwrite") == "yes",
        )

    return Form(
        "Write a report",
        (
            Field("path", "File", path, hint=f"below {folder}, or a whole path", is_required=True),
            Field("kind", "Report", ReportKind.FULL.value, Kind.CHOICE,
                  choices=tuple((kind.value, kind.value) for kind, _ in _KINDS), hint=_meaning),
            Field("redact", "Redact", "no", Kind.CHOICE, choices=_NO_YES,
                  hint="hide users, hosts and paths; keys and passwords always are"),
            Field("overwrite", "Overwrite", "no", Kind.CHOICE, choices=_NO_YES,
                  hint="replace the file if there is one"),
        ),
        read,
        accept_label="Write",
    )  # fmt: skip


def look_at_target(wish: ReportWish) -> None:
    """Raise what keeps a report from being written there; this looks at the disk."""
    said = ""
    if wish.path.is_dir():
        said = f"{wish.path} is a folder: give the name of a file in it"
    elif not wish.path.parent.is_dir():
        said = f"there is no folder {wish.path.parent}"
    elif wish.path.exists() and not wish.may_overwrite:
        said = "there is such a file: choose another name, or say yes to overwrite"
    if said:
        raise Unfit({"path": said})


def _meaning(values: Values) -> str:
    return next((words for kind, words in _KINDS if kind.value == values.get("kind")), "")
