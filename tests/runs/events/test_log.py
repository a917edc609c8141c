"""Repetitions are counted, whoever repeats and in whatever order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.event import Event, EventKind, Frame
from mltd.runs.events import EventLog


def exception(rank: int, line: int, pid: int = 7, kind: str = "ValueError") -> Event:
    return Event(
        EventKind.EXCEPTION,
        f"{kind}: worker {pid} died",
        line,
        last_line=line + 5,
        text=f"rank {rank} at 0x{pid:x}",
        ranks=(rank,),
        exception=kind,
        message=f"worker {pid} died at 0x{pid:x} on rank {rank}",
        frames=(Frame("train.py", 3, "main"),),
    )


def test_ranks_pids_and_addresses_do_not_make_a_difference() -> None:
    log = EventLog([exception(0, 10, pid=111), exception(3, 20, pid=222), exception(1, 30, pid=3)])
    (event,) = log
    assert (event.count, event.ranks) == (3, (0, 1, 3))
    assert (event.line, event.last_line) == (10, 35)


def test_other_exceptions_and_other_places_do() -> None:
    moved = exception(0, 30)
    moved.frames = (Frame("train.py", 4, "main"),)
    log = EventLog([exception(0, 10), exception(0, 20, kind="KeyError"), moved])
    assert [event.count for event in log] == [1, 1, 1]


EVENTS = st.lists(
    st.builds(
        exception,
        st.integers(0, 7),
        st.integers(1, 1000),
        st.integers(1, 10**6),
        st.sampled_from(["ValueError", "KeyError"]),
    ),
    max_size=12,
)


@given(EVENTS.flatmap(lambda events: st.tuples(st.just(events), st.permutations(events))))
def test_the_order_in_which_ranks_report_does_not_matter(
    orders: tuple[list[Event], list[Event]],
) -> None:
    one, other = (sorted(map(repr, EventLog(events))) for events in orders)
    assert one == other


def test_the_caller_keeps_its_event_unchanged() -> None:
    first = exception(0, 10)
    log = EventLog([first])
    log.add(exception(1, 20))
    assert (first.count, first.ranks) == (1, (0,))


def test_warnings_are_counted_by_text() -> None:
    events = [Event(EventKind.WARNING, f"disk {n}% full", n) for n in (90, 95, 99)]
    (event,) = EventLog(events)
    assert (event.count, event.title, event.last_line) == (3, "disk 90% full", 99)


def test_steps_that_overflow_are_kept_apart() -> None:
    scales = [64.0, 32.0, 32.0]
    events = [
        Event(EventKind.OVERFLOW, f"scale {scale}", 10 * n) for n, scale in enumerate(scales, 1)
    ]
    assert len(EventLog(events)) == 3
    copies = [Event(EventKind.OVERFLOW, "scale 64.0", line) for line in (10, 11, 12)]
    assert [event.count for event in EventLog(copies)] == [3]


def test_saving_and_saved_are_one_checkpoint() -> None:
    saving = Event(EventKind.CHECKPOINT, "Checkpoint saved: a.pt", 1, text="Saving", message="a.pt")
    saved = Event(EventKind.CHECKPOINT, "Checkpoint saved: a.pt", 3, text="Saved", message="a.pt")
    again = Event(EventKind.CHECKPOINT, "Checkpoint saved: a.pt", 13, text="Saving", message="a.pt")
    assert [event.line for event in EventLog([saving, saved, again])] == [1, 13]


def test_loading_what_was_just_saved_is_another_event() -> None:
    saved = Event(EventKind.CHECKPOINT, "Checkpoint saved: a.pt", 1, text="Saved", message="a.pt")
    loading = Event(
        EventKind.CHECKPOINT, "Checkpoint loaded: a.pt", 4, text="loading", message="a.pt"
    )
    loaded = Event(
        EventKind.CHECKPOINT, "Checkpoint loaded: a.pt", 6, text="loaded", message="a.pt"
    )
    assert [event.line for event in EventLog([saved, loading, loaded])] == [1, 4]


def test_a_flood_of_different_events_is_bounded() -> None:
    log = EventLog()
    for number in range(5000):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        log.add(Event(EventKind.WARNING, word, number + 1))
    assert len(log) == 2000
    assert sum(event.count for event in log) == 5000
