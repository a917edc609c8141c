"""Damage to a journal never changes what was written in it without a notice."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.sessions.storage.compacting import compacted, whole_journal
from mltd.sessions.storage.journal import Journal, read_journal
from mltd.sessions.storage.lines import entry_line
from mltd.sessions.storage.store import SessionStore

from .making import ID, hypothesis, note, put_journal, triage_of, without_checksums

DONE = triage_of(note(1), hypothesis(1, "the rate is 3e-4"), note(2, "step 1000"), "undo")
WHOLE = whole_journal(DONE)
SHORT = compacted(triage_of(*(note(n) for n in range(1, 5))), 2)[1]
"""A journal that begins with what older entries added up to."""
JOURNALS = {"with a header": WHOLE, "with a base": SHORT}


def _check(damaged: bytes, data: bytes) -> Journal:
    """Nothing that was not written is read, and nothing that was written is missing in silence."""
    before, after = read_journal(data, ID), read_journal(damaged, ID)
    for entry in after.entries:
        assert entry in before.entries, damaged
    if not after.notices and not after.torn_notice:
        assert after.base == before.base, damaged
        assert after.entries == before.entries[: len(after.entries)], damaged
        if len(after.entries) < len(before.entries):
            assert damaged.rstrip(b"\n\0\t\r ").endswith(b"}"), damaged
    return after


@pytest.mark.parametrize("data", JOURNALS.values(), ids=JOURNALS)
@pytest.mark.parametrize("bit", range(8))
def test_no_flipped_bit_changes_anything_in_silence(data: bytes, bit: int) -> None:
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << bit
        after = _check(bytes(flipped), data)
        is_quiet = not after.notices and not after.torn_notice
        assert not is_quiet or len(after.entries) == len(read_journal(data, ID).entries), place


@given(st.sampled_from(sorted(JOURNALS)), st.data())
def test_no_lost_doubled_or_foreign_bytes_change_anything_in_silence(
    name: str, draw: st.DataObject
) -> None:
    data = JOURNALS[name]
    start = draw.draw(st.integers(0, len(data) - 1))
    end = draw.draw(st.integers(start, min(len(data), start + 300)))
    other = draw.draw(st.integers(0, len(data)))
    kinds = {
        "deleted": data[:start] + data[end:],
        "doubled": data[:end] + data[start:],
        "moved": data[:start] + data[other : other + end - start] + data[end:],
        "inserted": data[:start] + draw.draw(st.binary(max_size=40)) + data[start:],
        "overwritten": data[:start] + draw.draw(st.binary(max_size=40)) + data[end:],
        "zeroed": data[:start] + bytes(end - start) + data[end:],
    }
    _check(kinds[draw.draw(st.sampled_from(sorted(kinds)))], data)


@given(st.sampled_from(sorted(JOURNALS)), st.randoms(use_true_random=False))
def test_lines_in_another_order_are_noticed(name: str, random: Random) -> None:
    lines = JOURNALS[name].splitlines(keepends=True)
    mixed = list(lines)
    random.shuffle(mixed)
    after = _check(b"".join(mixed), JOURNALS[name])
    assert mixed == lines or after.notices


def test_a_line_that_was_taken_out_is_noticed() -> None:
    lines = WHOLE.splitlines(keepends=True)
    del lines[2]
    journal = read_journal(b"".join(lines), ID)
    assert journal.notices == ("1 entry is missing from the middle of the journal",)


def test_a_changed_entry_is_skipped_and_kept_and_the_rest_applied() -> None:
    changed = WHOLE.replace(b"3e-4", b"3e-1")
    journal = read_journal(changed, ID)
    assert journal.notices == ("1 line is damaged and skipped: 3 of the journal",)
    assert journal.damaged == changed.splitlines(keepends=True)[2]
    assert [entry.n for entry in journal.entries] == [1, 3, 4]


def test_a_changed_first_line_is_used_with_a_notice(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    folder = put_journal(store, SHORT.replace(b"note 1", b"nope 1"))
    with store.open(ID) as opened:
        assert any("first line of the journal is damaged" in one for one in opened.notices)
        assert len(opened.session.notes) == 4
        opened.do(note(5))
    kept = next(folder.glob("journal.damaged-*")).read_bytes()
    assert kept == SHORT.replace(b"note 1", b"nope 1").splitlines(keepends=True)[0]
    assert len(store.load(ID).session.notes) == 5


def test_a_journal_without_checksums_goes_on_with_them(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    old = without_checksums(WHOLE)
    folder = put_journal(store, old)
    with store.open(ID) as opened:
        assert opened.notices == ()
        assert opened.session == DONE.session
        opened.do(note(7))
        expected = opened.session
    data = (folder / "journal.jsonl").read_bytes()
    assert data.startswith(old)
    assert data[len(old) :].count(b'"crc":"') == 1
    journal = read_journal(data, ID)
    assert (journal.triage.session, journal.notices) == (expected, ())
    assert read_journal(data.replace(b"note 7", b"note 8"), ID).notices


def test_what_an_older_version_added_to_it_counts() -> None:
    journal = read_journal(WHOLE, ID)
    entry = journal.triage.do(note(5))
    again = read_journal(WHOLE + without_checksums(entry_line(entry)), ID)
    assert again.entries[-1] == entry
    assert again.notices == ()


def test_a_number_skipped_after_an_entry_of_another_version_is_no_gap() -> None:
    data = WHOLE + b'{"n":9,"at":"2026-11-16T17:45:12Z","action":{"op":"paint"}}\n'
    entry = read_journal(data, ID).triage.do(note(5))
    assert entry.n == 10
    assert read_journal(data, ID).notices == read_journal(data + entry_line(entry), ID).notices
