"""Where the files of a session are, and what they are called."""

from __future__ import annotations

import re
import secrets
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

from ..errors import StorageError

JOURNAL = "journal.jsonl"
LOCK = "lock"
SUMMARY = "summary.json"

LONGEST_SLUG = 24
LONGEST_TITLE = 200
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_READABLE_ID = re.compile(r"(\d{8}-\d{4})-(?:(.+)-)?[0-9a-f]{4}")


def new_id(title: str, at: datetime) -> str:
    """A name that a person can read and type: when, what, and something to tell twins apart."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = _cut(re.sub(r"[^a-z0-9]+", "-", plain).strip("-")) or "session"
    return f"{at.astimezone():%Y%m%d-%H%M}-{slug}-{secrets.token_hex(2)}"


def _cut(slug: str) -> str:
    """As many whole words as there is room for; the beginning of a single long one."""
    if len(slug) <= LONGEST_SLUG:
        return slug
    return slug[: LONGEST_SLUG + 1].rpartition("-")[0] or slug[:LONGEST_SLUG]


def twin_mark(id: str) -> str:  # noqa: A002 - what it is
    """What tells a session from others of the same minute and title; empty if its id has none."""
    return id.rpartition("-")[2] if _READABLE_ID.fullmatch(id) else ""


def is_id(name: str) -> bool:
    """True if a name can be that of a session: it never leads out of the folder."""
    return _ID.fullmatch(name) is not None and ".." not in name


def folder_of(sessions: Path, id: str) -> Path:  # noqa: A002 - what it is
    """The folder of a session; `StorageError` for a name that no session can have."""
    if not is_id(id):
        raise StorageError(
            f"{id[:80]!r} is no name of a session",
            hint="letters, digits, dots and dashes; `mltd-tui sessions` lists them",
        )
    return sessions / id


def clean_title(title: str) -> str:
    """A title on one line, without anything that does not print."""
    shown = "".join(letter if letter.isprintable() else " " for letter in title)
    return " ".join(shown.split())[:LONGEST_TITLE].rstrip() or "untitled"


def title_in(id: str) -> str:  # noqa: A002 - what it is
    """What the name of a folder tells about the title."""
    found = _READABLE_ID.fullmatch(id)
    return (found[2] or "").replace("-", " ") if found and found[2] else id


def moment_in(id: str) -> datetime | None:  # noqa: A002 - what it is
    """What the name of a folder tells about when the session was begun."""
    found = _READABLE_ID.fullmatch(id)
    try:
        moment = datetime.strptime(found[1], "%Y%m%d-%H%M") if found else None  # noqa: DTZ007
        return moment.astimezone(UTC) if moment else None
    except (ValueError, OverflowError, OSError):
        return None


def is_ours(name: str) -> bool:
    """True for the name of a file that we make in the folder of a session."""
    return (
        name in (JOURNAL, LOCK, SUMMARY)
        or name.startswith(("journal.", f"{LOCK}."))
        or re.fullmatch(r"\.summary-\w+", name) is not None
    )
