"""Whatever became of the bytes, everything that still makes sense is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.sessions.errors import StorageError
from mltd.sessions.storage.compacting import compacted, whole_journal
from mltd.sessions.storage.journal import read_journal
from mltd.sessions.storage.lines import entry_line
from mltd.sessions.triage import Triage

from .making import ID, MOMENT, WISHES, hypothesis, note, run, triage_of

DONE = triage_of(
    note(1), hypothesis(1, "the rate is too high"), note(2, 'é "quoted"\n'), "undo", "redo",
    hypothesis(2), "undo", run(1, "/runs/a.log"),
)  # fmt: skip
DATA = whole_journal(DONE)


def test_a_journal_is_read_back_as_it_was_written() -> None:
    journal = read_journal(DATA, ID)
    assert journal.triage.session == DONE.session
    assert journal.entries == tuple(DONE.entries)
    assert (journal.notices, journal.torn_notice, journal.damaged) == ((), "", b"")
    assert journal.end == len(DATA)


@given(WISHES)
def test_any_session_is_read_back_equal(wishes: list[object]) -> None:
    triage = triage_of(*wishes)  # type: ignore[arg-type]
    again = read_journal(whole_journal(triage), ID)
    assert again.triage.session == triage.session
    assert again.entries == tuple(triage.entries)
    assert again.triage.undoable == triage.undoable
    assert again.triage.redoable == triage.redoable
    assert not again.notices


def test_cut_off_at_any_byte_it_gives_all_whole_lines() -> None:
    for end in range(len(DATA)):
        cut = DATA[:end]
        journal = read_journal(cut, ID)
        # A line is whole with its last brace; the end of line may be missing.
        whole = sum(_is_json(line) for line in cut.split(b"\n")[1:])
        assert len(journal.entries) == whole, end
        session = journal.triage.session
        assert session == Triage(journal.base, DONE.entries[:whole]).session, end
        assert (session.id, session.title) == (ID, "loss explodes"), end
        assert bool(journal.torn_notice) is bool(journal.torn), end
        assert cut[: journal.end] + journal.torn == cut, end


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@given(st.integers(0, len(DATA) - 1), st.binary(min_size=1, max_size=30))
def test_no_scribble_stops_it(place: int, scribble: bytes) -> None:
    journal = read_journal(DATA[:place] + scribble + DATA[place + len(scribble) :], ID)
    assert journal.triage.session.id


@given(st.binary(max_size=300))
def test_any_bytes_in_the_folder_of_a_session_can_be_opened(data: bytes) -> None:
    assert read_journal(data, ID).triage.session.title == "loss explodes"


def test_a_damaged_line_in_the_middle_is_skipped_and_the_rest_applied() -> None:
    lines = DATA.split(b"\n")
    lines[1] = lines[1][:20] + b"\xff\xfe" + lines[1][22:]
    journal = read_journal(b"\n".join(lines), ID)
    assert [one.text for one in journal.triage.session.notes] == ['é "quoted"\n']
    assert journal.damaged == lines[1] + b"\n"
    assert journal.notices == ("1 line is damaged and skipped: 2 of the journal",)


def test_zeros_at_the_end_are_dropped() -> None:
    journal = read_journal(DATA + b"\0" * 4096, ID)
    assert journal.triage.session == DONE.session
    assert "4,096 zero bytes" in journal.torn_notice
    assert journal.end == len(DATA)


def test_zeros_before_a_line_do_not_cost_the_line() -> None:
    head, _, rest = DATA.partition(b"\n")
    journal = read_journal(head + b"\n" + b"\0" * 512 + rest, ID)
    assert journal.entries == tuple(DONE.entries)


def test_an_empty_file_is_a_session_without_anything() -> None:
    journal = read_journal(b"", ID)
    assert journal.triage.session.title == "loss explodes"
    assert journal.triage.session.created.astimezone().strftime("%Y%m%d-%H%M") == ID[:13]
    assert "the beginning of the journal is lost" in journal.notices[0]


def test_without_its_header_the_entries_still_count() -> None:
    journal = read_journal(DATA.partition(b"\n")[2], ID)
    assert journal.entries == tuple(DONE.entries)
    assert journal.triage.session.hypotheses == DONE.session.hypotheses
    assert "is lost" in journal.notices[0]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"hello\n", b"\0" * 100, b"[1, 2]\n", b"{}\n"])
def test_a_file_that_has_nothing_to_do_with_sessions_is_refused(data: bytes) -> None:
    with pytest.raises(StorageError, match="no session in it"):
        read_journal(data)


@pytest.mark.parametrize("schema", ['"1"', "null", "true", "-1", "1.5", "[]", "1e400"])
def test_a_schema_that_is_no_number_is_a_damaged_header(schema: str) -> None:
    data = DATA.replace(b'"schema":1', b'"schema":' + schema.encode(), 1)
    journal = read_journal(data, ID)
    assert journal.entries == tuple(DONE.entries)
    assert journal.why_read_only == ""


def test_a_line_that_was_written_twice_counts_once() -> None:
    line = entry_line(DONE.entries[-1])
    journal = read_journal(DATA + line + b'{"n":8,"at"\n' + line, ID)
    assert journal.entries == tuple(DONE.entries)
    assert len(journal.notices) == 1  # of the garbage, not of the repetition


def test_a_number_that_was_taken_already_is_skipped_and_kept() -> None:
    other = DONE.entries[-1].model_copy(update={"action": note(9)})
    journal = read_journal(DATA + entry_line(other), ID)
    assert journal.entries == tuple(DONE.entries)
    assert journal.damaged == entry_line(other)


def test_undo_of_a_lost_entry_is_left_out() -> None:
    lines = DATA.split(b"\n")
    del lines[3]  # the note that is undone and redone
    journal = read_journal(b"\n".join(lines), ID)
    assert [entry.n for entry in journal.entries] == [1, 2, 6, 7, 8]
    assert any("undo of 3" in one for one in journal.notices)
    assert journal.triage.undoable == triage_of(hypothesis(1, "the rate is too high")).undoable


def test_an_entry_of_an_unknown_kind_is_skipped_and_kept() -> None:
    line = b'{"n":9,"at":"2026-11-16T17:45:12Z","action":{"op":"paint","colour":"red"}}\n'
    journal = read_journal(DATA + line, ID)
    assert journal.triage.session == DONE.session
    assert journal.damaged == line
    assert "(paint)" in journal.notices[0]
    assert len(journal.notices) == 1


@pytest.mark.parametrize(
    "line",
    [b"[" * 100_000, b'{"a":' * 100_000, b'{"n":' + b"9" * 10_000 + b"}", b"null", b"3"],
    ids=["deep list", "deep object", "huge number", "null", "number"],
)
def test_hostile_json_is_only_a_damaged_line(line: bytes) -> None:
    journal = read_journal(DATA + line + b"\n", ID)
    assert journal.triage.session == DONE.session
    assert len(journal.notices) == 1


def test_moments_without_a_zone_are_read() -> None:
    line = b'{"n":9,"at":"2026-11-16T17:45:12","action":{"op":"put_note","id":"N9","text":"x"}}\n'
    assert read_journal(DATA + line, ID).entries[-1].at.replace(tzinfo=MOMENT.tzinfo) < MOMENT


def test_what_comes_after_a_dropped_undo_is_read_again() -> None:
    lines = whole_journal(triage_of(note(1), note(2), "undo")).split(b"\n")
    lines[2] = b"\0" * len(lines[2])
    _goes_on(b"\n".join(lines), 4)


@pytest.mark.parametrize(
    "rest",
    [b'"action":{"op":"paint"}}', b'"kind":"dream"}', b'"action":{"op":"put_note","id":[]}}'],
    ids=["unknown action", "unknown kind", "fields of another version"],
)
def test_the_number_of_an_entry_for_another_version_stays_its_own(rest: bytes) -> None:
    head = whole_journal(triage_of(note(1)))
    _goes_on(head + b'{"n":5,"at":"2026-11-16T17:45:12Z",' + rest + b"\n", 6)


def test_a_journal_with_nothing_left_but_its_base_goes_on_counting() -> None:
    data = compacted(triage_of(*(note(n) for n in range(1, 11))), 3)[1]
    _goes_on(data.partition(b"\n")[0] + b"\n", 8)


def test_an_absurd_number_in_a_damaged_line_means_nothing() -> None:
    _goes_on(whole_journal(triage_of(note(1))) + b'{"n":99999999999999999999}\n', 2)


def _goes_on(data: bytes, n: int) -> None:
    """What is done next has that number, and is there when the journal is read again."""
    before = read_journal(data, ID)
    entries = [before.triage.do(note(77))]
    assert entries[0].n == n
    again = read_journal(data + entry_line(entries[0]), ID)
    assert again.entries == (*before.entries, *entries)
    assert again.damaged == before.damaged


@given(st.integers(0, len(DATA) - 1), st.binary(min_size=1, max_size=200))
def test_after_any_scribble_what_is_done_next_is_read_again(place: int, scribble: bytes) -> None:
    data = DATA[:place] + scribble + DATA[place + len(scribble) :]
    before = read_journal(data, ID)
    entry = before.triage.do(note(77))
    again = read_journal(data[: before.end].rstrip(b"\n") + b"\n" + entry_line(entry), ID)
    assert again.entries[-1] == entry
