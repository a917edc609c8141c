"""A journal that was made shorter says the same, and undo does the same in what was kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mltd.sessions.actions.records import Rename
from mltd.sessions.storage.compacting import KEPT, compacted, is_long, whole_journal
from mltd.sessions.storage.journal import read_journal
from mltd.sessions.triage import Triage

from .making import ID, WISHES, hypothesis, note, triage_of, wish_for


def _again(data: bytes) -> Triage:
    journal = read_journal(data, ID)
    assert not journal.notices
    return journal.triage


@given(WISHES, st.integers(0, 12))
def test_compaction_never_changes_the_session(wishes: list[object], kept: int) -> None:
    triage = triage_of(*wishes)  # type: ignore[arg-type]
    short, data = compacted(triage, kept)
    again = _again(data)
    assert short.session == triage.session == again.session
    assert (
        again.entries == short.entries == triage.entries[len(triage.entries) - len(short.entries) :]
    )
    assert len(short.entries) >= min(kept, len(triage.entries))
    for letter in "HENR":
        assert again.new_id(letter) == triage.new_id(letter)


@given(WISHES, st.integers(1, 12), WISHES)
def test_undo_and_redo_do_the_same_in_what_was_kept(
    wishes: list[object], kept: int, more: list[object]
) -> None:
    triage = triage_of(*wishes)  # type: ignore[arg-type]
    short = _again(compacted(triage, kept)[1])
    there = {entry.n for entry in short.entries}
    while triage.undoable:
        undone = triage.undo()
        assert undone is not None
        if undone.of not in there:
            assert short.undo() is None
            return
        again = short.undo()
        assert again is not None
        assert again.of == undone.of
        assert short.session == triage.session
    while triage.redoable:
        redone = triage.redo()
        again = short.redo()
        if again is None:
            return
        assert redone is not None
        assert again.of == redone.of
        assert short.session == triage.session
    wish_for(triage, *more)  # type: ignore[arg-type]
    wish_for(short, *more)  # type: ignore[arg-type]
    assert len(short.session.notes) == len(triage.session.notes)


def test_a_base_that_undo_made_new_again_hides_no_numbers() -> None:
    short = _again(compacted(triage_of(Rename(title="other"), "undo", note(1)), 1)[1])
    assert [entry.n for entry in short.entries] == [3]


def test_what_was_added_up_cannot_be_undone() -> None:
    short = _again(compacted(triage_of(note(1), note(2), note(3)), 1)[1])
    assert short.undo() is not None
    assert short.undo() is None
    assert [one.id for one in short.session.notes] == ["N1", "N2"]


def test_numbers_go_on_where_they_were() -> None:
    short = _again(compacted(triage_of(*(note(n) for n in range(1, 11))), 3)[1])
    assert short.do(note(11)).n == 11
    assert _again(whole_journal(short)).session == short.session


def test_an_id_is_never_given_away_twice() -> None:
    triage = triage_of(hypothesis(1), hypothesis(2), "undo", note(1), note(2), note(3))
    short = _again(compacted(triage, 1)[1])
    assert short.new_id("H") == "H3"
    assert _again(compacted(short, 0)[1]).new_id("H") == "H3"


def test_only_endless_undo_and_redo_still_leaves_something_to_go_on_from() -> None:
    triage = triage_of(note(1), note(2), *["undo", "redo"] * 50)
    short = _again(compacted(triage, 10)[1])
    assert short.session == triage.session
    assert short.undo() is not None


def test_a_journal_is_long_by_its_entries_or_its_bytes() -> None:
    some = read_journal(whole_journal(triage_of(*(note(n % 9) for n in range(KEPT + 150)))), ID)
    assert not is_long(some, 1000)
    assert is_long(some, 5 * 2**20)
    few = read_journal(whole_journal(triage_of(note(1))), ID)
    assert not is_long(few, 5 * 2**20)  # nothing could go
    many = read_journal(whole_journal(triage_of(*(note(n % 9) for n in range(2001)))), ID)
    assert is_long(many, 1000)
