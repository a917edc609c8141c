"""The session itself: its title, who answers for it, and another place to keep it."""

from __future__ import annotations

import os
from pathlib import Path

from mltd.sessions.actions.records import Rename, SetOwner

from .field import Field, Values
from .form import Form, Reading


def rename_form(title: str) -> Form[Rename]:
    """Another title."""

    def read(values: Values) -> Rename:
        return Rename(title=Reading(values).text("title"))

    hint = "what one would say about it in a corridor"
    return Form(
        "Rename the session",
        (Field("title", "Title", title, hint=hint, is_required=True),),
        read,
        accept_label="Rename",
    )


def owner_form(owner: str) -> Form[SetOwner]:
    """Who answers for the incident; nobody, if it stays empty."""

    def read(values: Values) -> SetOwner:
        return SetOwner(owner=Reading(values).text("owner"))

    hint = "who answers for it: a name or a team; empty: nobody yet"
    return Form("Owner", (Field("owner", "Owner", owner, hint=hint),), read, accept_label="Set")


def save_elsewhere_form(folder: str, trouble: str = "") -> Form[Path]:
    """A folder to keep the session in when its own cannot be written; `trouble` says why."""

    def read(values: Values) -> Path:
        reading = Reading(values)
        path = Path(os.path.expanduser(reading.text("folder")))
        if not path.is_absolute():
            reading.fault("folder", "give the whole path, beginning with / or ~")
        reading.finish()
        return path

    hint = "on another disk, e.g. /tmp/triage; it is made if it is not there"
    return Form(
        "Save the session elsewhere",
        (Field("folder", "Folder", folder, hint=hint, is_required=True),),
        read,
        note=trouble,
    )
