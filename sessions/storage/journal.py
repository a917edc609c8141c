"""A journal as it is read: everything in it that still makes sense, and what does not."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import ValidationError

from ..errors import StorageError
from ..model.session import SCHEMA, Session
from ..triage import Entry, Triage, now
from .lines import (
    ENTRY_KEYS,
    HEADER_KEYS,
    UnknownKindError,
    entry_in,
    is_intact,
    object_in,
    object_line,
)
from .places import clean_title, moment_in, title_in
from .schema import can_migrate, migrated

HIGHEST = 2**40
"""No session has that many entries: such a number in a damaged line means nothing."""


class Journal(NamedTuple):
    """What the bytes of a journal say."""

    base: Session
    entries: tuple[Entry, ...]
    spent: tuple[str, ...]
    schema: int
    notices: tuple[str, ...]
    """What a person should know about the state of the file."""
    damaged: bytes
    """Lines that cannot be applied, to be kept aside."""
    torn: bytes
    """What stands after the last whole line."""
    end: int
    """Where the torn part begins, and the next line goes."""
    is_ragged: bool
    """The last line is whole, but for its end of line."""
    last: int
    """The highest number in it, even if only of an entry that was left out."""

    @property
    def triage(self) -> Triage:
        """The session as the entries add up."""
        return Triage(self.base, self.entries, spent=self.spent, last=self.last)

    @property
    def torn_notice(self) -> str:
        """What to say of the torn part; empty if there is none worth a word."""
        if not self.torn.strip():
            return ""
        what = "bytes" if self.torn.strip(b"\0") else "zero bytes"
        return f"the last line of the journal is torn: {len(self.torn):,} {what} were dropped"

    @property
    def why_read_only(self) -> str:
        """Why this version must not write to it; empty if it may."""
        if self.schema > SCHEMA:
            return (
                f"it was written by a newer version of mltd-tui (schema {self.schema}, this one "
                f"knows {SCHEMA}): update mltd-tui to change it"
            )
        if not can_migrate(self.schema):
            return (
                f"it was written by an older version of mltd-tui (schema {self.schema}) that "
                "this one cannot convert"
            )
        return ""


def read_journal(data: bytes, name: str = "") -> Journal:
    """Everything that can be read; `StorageError` only if there is nothing to go by.

    `name` is that of the session's folder: it stands in for a header that is lost.
    """
    lines = data.split(b"\n")
    reader = _Reader()
    for number, line in enumerate(lines[:-1], start=1):
        reader.take(line, number)
    torn, is_ragged = lines[-1], False
    if torn and reader.take(torn, len(lines), is_last=True):
        torn, is_ragged = b"", True
    end = len(data) - len(torn)
    return reader.result(name)._replace(torn=torn, end=end, is_ragged=is_ragged)


class _Reader:
    """Takes in line after line."""

    def __init__(self) -> None:
        self.header: dict[str, Any] | None = None
        self.schema = SCHEMA
        self.entries: list[Entry] = []
        self.notices: list[str] = []
        self.damaged: list[tuple[int, bytes]] = []
        self.unknown: dict[str, int] = {}
        self.aside: list[bytes] = []
        """Lines that are whole, but cannot be applied."""
        self.older: list[dict[str, Any]] = []
        """All objects of a journal in an older schema."""
        self.last = 0
        """Number of the last entry that was taken in: the next one must be higher."""
        self.highest = 0
        """The same, with those of lines that only another version may be able to read."""
        self.missing = 0
        """How many entries were removed from between others, by their numbers."""
        self._has_skipped = False
        """A line after the last entry was skipped, which explains a missing number."""

    def take(self, line: bytes, number: int, *, is_last: bool = False) -> bool:
        """Take in a line; False if it makes no sense, which in the last one is no damage."""
        # After a power failure some file systems leave zeros where data should be.
        text = line.strip(b"\0 \t\r")
        if not text and not line.strip(b" \t\r"):
            return not is_last
        intact = is_intact(text)
        is_fine = bool(text) and (
            self._take_header(text, intact) or (intact is not False and self._take_entry(text))
        )
        if not is_fine and not is_last:
            self.damaged.append((number, line))
            self._has_skipped = True
            if intact is not False:
                self._count(text)
        return is_fine

    def _take_header(self, text: bytes, intact: bool | None) -> bool:
        if self.header is not None or self.entries or b'"schema"' not in text:
            return False
        values = object_in(text)
        schema = values.get("schema") if values is not None else None
        if values is None or type(schema) is not int or schema < 0:
            return False
        is_foreign = schema == SCHEMA and not HEADER_KEYS.issuperset(values)
        if intact is False or (intact is None and is_foreign):
            # Better than nothing: all that was added up when the journal was made shorter is here.
            self.notices.append(
                "the first line of the journal is damaged: the title and what was kept in that "
                "line may be wrong"
            )
            self.aside.append(text)
        self.header, self.schema = values, schema
        n = values.get("n")
        self.last = n if type(n) is int and n < HIGHEST else 0
        if self._is_older:
            self._keep_older(values)
        return True

    def _keep_older(self, values: dict[str, Any]) -> None:
        values.pop("crc", None)
        self.older.append(values)

    @property
    def _is_older(self) -> bool:
        return self.schema < SCHEMA and can_migrate(self.schema)

    def _take_entry(self, text: bytes) -> bool:
        if self._is_older:
            values = object_in(text)
            if values is not None:
                self._keep_older(values)
            return values is not None
        try:
            entry = entry_in(text)
        except UnknownKindError as problem:
            kind = str(problem)
            self.unknown[kind] = self.unknown.get(kind, 0) + 1
            self.aside.append(text)
            self._has_skipped = True
            self._count(text)
            return True
        except ValueError:
            return False
        if is_intact(text) is None and not ENTRY_KEYS.issuperset(object_in(text) or ()):
            # Its checksum cannot be recognised as one.
            return False
        if entry.n <= self.last:
            # Written twice, because the first attempt seemed to have failed.
            return bool(self.entries) and self.entries[-1] == entry
        before = entry.n - 1
        if not self._has_skipped and before != self.highest:
            self.missing += before - self.last
        self.entries.append(entry)
        self.last, self._has_skipped = entry.n, False
        return True

    def _count(self, text: bytes) -> None:
        n = (object_in(text) or {}).get("n")
        if type(n) is int and n < HIGHEST:
            self.highest = max(self.highest, n)

    def result(self, name: str) -> Journal:
        """What all lines add up to."""
        if self.older:
            return self._migrated(name)
        base, spent = self._base(name)
        self._drop_dangling()
        self._tell()
        aside = (*(line for _, line in self.damaged), *self.aside)
        damaged = b"".join(line + b"\n" for line in aside)
        entries, notices = tuple(self.entries), tuple(self.notices)
        last = max(self.last, self.highest)
        return Journal(base, entries, spent, self.schema, notices, damaged, b"", 0, False, last)

    def _migrated(self, name: str) -> Journal:
        reader = _Reader()
        for number, values in enumerate(migrated(self.older, self.schema), start=1):
            reader.take(object_line(values).removesuffix(b"\n"), number)
        reader.notices[:0] = self.notices
        reader.aside[:0] = [line for _, line in self.damaged]
        return reader.result(name)._replace(schema=self.schema)

    def _base(self, name: str) -> tuple[Session, tuple[str, ...]]:
        header = self.header or {}
        known = header.get("base", header)
        spent = header.get("spent")
        ids = tuple(str(one) for one in spent) if isinstance(spent, list) else ()
        try:
            return Session.model_validate(known), ids
        except ValidationError:
            if not name and not self.entries and not header:
                raise StorageError(
                    "there is no session in it",
                    hint="a session is a folder with a journal.jsonl, or such a file",
                ) from None
        self.notices.append(
            "the beginning of the journal is lost: what was kept there is gone, and the title "
            "is taken from the name of the folder"
        )
        first = self.entries[0].at if self.entries else now()
        title = header.get("title")
        title = title if isinstance(title, str) else title_in(name)
        created = moment_in(name) or first
        return Session(id=name or "recovered", title=clean_title(title), created=created), ids

    def _drop_dangling(self) -> None:
        """An undo of something that is not there would cost the user a keystroke for nothing."""
        known: set[int] = set()
        kept = []
        for entry in self.entries:
            known |= {entry.n} if entry.kind == "do" else set()
            if entry.kind == "do" or entry.of in known:
                kept.append(entry)
            else:
                said = f"entry {entry.n} ({entry.kind} of {entry.of}) has nothing to act on"
                self.notices.append(said)
        self.entries = kept

    def _tell(self) -> None:
        if self.missing:
            what = "entry is" if self.missing == 1 else "entries are"
            self.notices.append(f"{self.missing:,} {what} missing from the middle of the journal")
        if self.unknown:
            count = sum(self.unknown.values())
            kinds = ", ".join(sorted(self.unknown))
            self.notices.append(
                f"{count} {'entry is' if count == 1 else 'entries are'} of a kind that this "
                f"version does not know ({kinds}), and skipped"
            )
        if self.damaged:
            numbers = [str(number) for number, _ in self.damaged]
            shown = ", ".join(numbers[:5]) + (", ..." if len(numbers) > 5 else "")
            what = "line is" if len(numbers) == 1 else "lines are"
            self.notices.append(
                f"{len(numbers)} {what} damaged and skipped: {shown} of the journal"
            )
