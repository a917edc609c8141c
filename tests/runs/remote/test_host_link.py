"""A link to a host: it follows, is cut and comes back, and says how it is doing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from mltd.runs.errors import InputError
from mltd.runs.remote.backoff import Backoff
from mltd.runs.remote.conversation import Mark
from mltd.runs.remote.host_link import HostLink
from mltd.runs.remote.link_state import LinkPhase
from mltd.runs.remote.polling import Poller
from mltd.runs.remote.problems import LinkError, LinkKind
from mltd.runs.sources.pieces import FollowState
from tests.runs.remote.link_parts import NearConnection, StandingClock, await_that, children

LINES = b"".join(b"step %d loss 0.%d\n" % (step, step * 7919 % 100003) for step in range(90000))
MakeLink = Callable[..., HostLink]


@pytest.fixture
def make_link() -> Iterator[MakeLink]:
    """Makes links that are closed in the end, and leave nothing behind."""
    before = children(), set(threading.enumerate())
    made: list[HostLink] = []

    def make(connection: NearConnection, **options: object) -> HostLink:
        made.append(HostLink(connection, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for link in made:
        link.close()
    assert children() <= before[0]
    assert set(threading.enumerate()) <= before[1]


def is_connected(link: HostLink) -> bool:
    return link.state.kind is LinkPhase.CONNECTED


def test_a_file_is_followed_from_its_first_byte_on(make_link: MakeLink, tmp_path: Path) -> None:
    far = tmp_path / "train.log"
    link = make_link(NearConnection())
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    assert link.follow(os.fsencode(far), tmp_path / "copy") is file
    await_that(lambda: file.is_looked_at, link)
    assert file.status.state is FollowState.MISSING
    far.write_bytes(b"one\n")
    await_that(lambda: file.size == 4, link)
    with far.open("ab") as log:
        log.write(b"two\n")
    await_that(lambda: file.size == 8, link)
    assert file.local.read_bytes() == b"one\ntwo\n"
    link.unfollow(file)
    assert link.files == []


def test_a_big_file_is_complete_after_a_while(make_link: MakeLink, tmp_path: Path) -> None:
    far = tmp_path / "train.log"
    far.write_bytes(LINES)
    link = make_link(NearConnection())
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    link.prefer(os.fsencode(far))
    await_that(lambda: file.is_complete, link)
    assert file.local.read_bytes() == LINES


def test_a_file_of_a_new_wish_is_looked_at_at_once(make_link: MakeLink, tmp_path: Path) -> None:
    link = make_link(NearConnection(), clock=StandingClock())
    await_that(lambda: is_connected(link), link)
    (tmp_path / "far").write_bytes(b"text")
    file = link.follow(os.fsencode(tmp_path / "far"), tmp_path / "copy")
    await_that(lambda: file.size == 4, link)


def test_looks_are_rare_while_nothing_happens(make_link: MakeLink, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.write_bytes(b"1")
    clock = StandingClock()
    link = make_link(NearConnection(), clock=clock)
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    await_that(lambda: file.size == 1 and is_connected(link), link)
    for _ in range(3):
        clock.advance(400)  # so long that the next looks are five seconds apart
        link.ask(b"true")
        link.ask(b"true")
    far.write_bytes(b"12")
    clock.advance(4)
    link.ask(b"true")
    link.ask(b"true")
    assert file.size == 1
    clock.advance(1.5)
    await_that(lambda: file.size == 2, link)
    link.ask(b"true")  # so that the look is over
    far.write_bytes(b"123")
    clock.advance(1.1)
    await_that(lambda: file.size == 3, link)


def test_a_machine_that_slept_looks_at_once(make_link: MakeLink, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.write_bytes(b"1")
    clock = StandingClock()
    link = make_link(NearConnection(), clock=clock)
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    await_that(lambda: file.size == 1 and is_connected(link), link)
    link.ask(b"true")
    far.write_bytes(b"12")
    clock.sleep(3600)
    await_that(lambda: file.size == 2, link)


def test_questions_are_answered_between_looks(make_link: MakeLink) -> None:
    link = make_link(NearConnection())
    await_that(lambda: is_connected(link), link)
    assert list(link.ask(b"printf hello; say so")) == [b"hello", Mark((b"so",))]
    with pytest.raises(LinkError, match="no answer within") as late:
        link.ask(b"sleep 0.5", timeout=0.05)
    assert late.value.kind is LinkKind.TIMEOUT
    assert list(link.ask(b"printf 'and on'")) == [b"and on"]


def test_without_a_connection_there_is_no_answer(make_link: MakeLink, tmp_path: Path) -> None:
    connection = NearConnection()
    connection.problems = [LinkError("Permission denied", kind=LinkKind.AUTHENTICATION)]
    link = make_link(connection)
    await_that(lambda: link.state.kind is LinkPhase.FAILED, link)
    with pytest.raises(LinkError, match="Permission denied"):
        link.ask(b"true")
    with pytest.raises(LinkError, match="Permission denied"):
        link.fetch(b"/x", tmp_path / "x", 10)


@pytest.mark.parametrize("size", [0, 10, 2_000_000])
def test_a_small_file_is_fetched_whole(make_link: MakeLink, tmp_path: Path, size: int) -> None:
    link = make_link(NearConnection())
    await_that(lambda: is_connected(link), link)
    far = tmp_path / "config.yaml"
    far.write_bytes(LINES[:size])
    os.utime(far, (1_600_000_000, 1_600_000_000))
    assert link.fetch(os.fsencode(far), tmp_path / "a" / "copy", size) == size
    assert (tmp_path / "a" / "copy").read_bytes() == LINES[:size]
    assert (tmp_path / "a" / "copy").stat().st_mtime == 1_600_000_000


def test_what_cannot_be_fetched_is_told(make_link: MakeLink, tmp_path: Path) -> None:
    link = make_link(NearConnection())
    await_that(lambda: is_connected(link), link)
    (tmp_path / "long").write_bytes(b"x" * 11)
    (tmp_path / "file").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    for name, local, reason in (
        ("long", "copy", "longer than 10 bytes"),
        ("none", "copy", "no such file"),
        (".", "copy", "not a regular file"),
        ("pipe", "copy", "not a regular file"),
        ("file", "file/below", "cannot be copied here"),
    ):
        with pytest.raises(InputError, match=reason):
            link.fetch(os.fsencode(tmp_path / name), tmp_path / local, 10)
    assert not (tmp_path / "copy").exists()


def test_a_lost_link_is_made_anew_and_goes_on(make_link: MakeLink, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.write_bytes(b"1")
    connection = NearConnection()
    link = make_link(connection, backoff=Backoff(0.01, 0.01))
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    await_that(lambda: file.size == 1, link)
    phases: list[LinkPhase] = []
    link.on_change(lambda: phases.append(link.state.kind))
    conversation = link._conversation
    assert conversation is not None
    os.kill(conversation.pid, signal.SIGKILL)
    far.write_bytes(b"12")
    await_that(lambda: file.size == 2, link)
    assert file.local.read_bytes() == b"12"
    assert file.generation == 0
    assert connection.opened == 2
    assert LinkPhase.RECONNECTING in phases
    heard_at = link.state.heard_at
    assert heard_at is not None
    assert abs(heard_at - far.stat().st_ctime) < 60


def test_a_stalled_link_is_noticed(make_link: MakeLink, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.write_bytes(b"1")
    link = make_link(NearConnection(), backoff=Backoff(0.01, 0.01), patience=1.0)
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    await_that(lambda: file.is_complete, link)
    messages: set[str] = set()
    link.on_change(lambda: messages.add(link.state.message))
    conversation = link._conversation
    assert conversation is not None
    os.kill(conversation.pid, signal.SIGSTOP)
    far.write_bytes(b"12")
    await_that(lambda: file.size == 2, link)
    assert any("no answer for" in message for message in messages), messages


def test_a_stall_of_what_is_long_is_noticed_too(make_link: MakeLink, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.write_bytes(LINES)
    connection = NearConnection(lambda number: ["sleep", "1000"] if number == 2 else ["sh"])
    link = make_link(connection, backoff=Backoff(0.01, 0.01), patience=1.0)
    messages: set[str] = set()
    link.on_change(lambda: messages.add(link.state.message))
    file = link.follow(os.fsencode(far), tmp_path / "copy")
    await_that(lambda: file.is_complete, link)
    assert any("no answer for" in message for message in messages), messages
    assert connection.opened == 2


def test_a_host_that_allows_one_session_is_enough(make_link: MakeLink, tmp_path: Path) -> None:
    refusal = ["sh", "-c", "echo 'Session open refused by peer' >&2; exit 255"]
    connection = NearConnection(lambda number: ["sh"] if number == 1 else refusal)
    link = make_link(connection)
    (tmp_path / "far").write_bytes(LINES)
    (tmp_path / "config").write_bytes(b"lr: 1")
    file = link.follow(os.fsencode(tmp_path / "far"), tmp_path / "copy")
    await_that(lambda: file.is_complete, link)
    assert file.local.read_bytes() == LINES
    assert link.fetch(os.fsencode(tmp_path / "config"), tmp_path / "settings", 10) == 5
    assert connection.opened == 1


def test_waits_grow_from_try_to_try_and_the_next_is_told(make_link: MakeLink) -> None:
    clock = StandingClock()
    connection = NearConnection()
    refused = LinkError("Connection refused", hint="is it up?", kind=LinkKind.REFUSED)
    connection.problems = [refused] * 8
    link = make_link(connection, clock=clock, backoff=Backoff(chance=lambda: 1.0))
    for tries, wait in enumerate((0.5, 1, 2, 4, 8, 16, 30, 30), 1):
        retry_at = clock.wall() + wait
        await_that(partial(_is_to_retry, link, retry_at))
        assert link.state.kind is LinkPhase.RECONNECTING
        assert (link.state.message, link.state.hint) == ("Connection refused", "is it up?")
        clock.advance(wait - 0.1)
        assert connection.opened == tries
        clock.advance(0.2)
    await_that(lambda: is_connected(link), link)
    assert link.state.message == ""


def _is_to_retry(link: HostLink, moment: float) -> bool:
    return link.state.retry_at == pytest.approx(moment)


def test_a_machine_that_slept_connects_at_once(make_link: MakeLink) -> None:
    clock = StandingClock()
    connection = NearConnection()
    connection.problems = [LinkError("No route to host", kind=LinkKind.UNREACHABLE)]
    link = make_link(connection, clock=clock, backoff=Backoff(30, 30, lambda: 1.0))
    await_that(lambda: link.state.kind is LinkPhase.RECONNECTING, link)
    link.on_change(lambda: None)
    await_that(lambda: _slept(clock) or is_connected(link))


def _slept(clock: StandingClock) -> bool:
    clock.sleep(60)
    return False


def test_what_will_not_pass_is_tried_again_only_on_demand(make_link: MakeLink) -> None:
    clock = StandingClock()
    connection = NearConnection()
    connection.problems = [LinkError("Host key changed", kind=LinkKind.HOST_KEY)]
    link = make_link(connection, clock=clock)
    await_that(lambda: link.state.kind is LinkPhase.FAILED, link)
    assert link.state.retry_at is None
    clock.advance(10_000)
    clock.sleep(10_000)
    with pytest.raises(LinkError, match="Host key changed"):
        link.ask(b"true")
    assert connection.opened == 1
    link.retry()
    await_that(lambda: is_connected(link), link)
    assert connection.opened == 2


def test_a_connection_that_is_open_is_not_opened_again(make_link: MakeLink) -> None:
    connection = NearConnection()
    connection.is_open = True
    link = make_link(connection, backoff=Backoff(0.01, 0.01))
    await_that(lambda: is_connected(link), link)
    assert connection.opened == 0
    assert link._conversation is not None
    os.kill(link._conversation.pid, signal.SIGKILL)
    await_that(lambda: connection.opened == 1 and is_connected(link), link)


AT_ONCE = [kind for kind in LinkKind if not LinkError("", kind=kind).is_refusal]


@pytest.mark.parametrize("kind", AT_ONCE)
def test_no_problem_after_a_first_success_is_for_ever(make_link: MakeLink, kind: LinkKind) -> None:
    connection = NearConnection()
    link = make_link(connection, backoff=Backoff(0.01, 0.01))
    await_that(lambda: is_connected(link), link)
    connection.problems = [LinkError("ssh gave no reason", kind=kind)] * 2
    assert link._conversation is not None
    os.kill(link._conversation.pid, signal.SIGKILL)
    await_that(lambda: connection.opened == 4 and is_connected(link), link)


@pytest.mark.parametrize("kind", [LinkKind.AUTHENTICATION, LinkKind.HOST_KEY])
def test_a_refusal_after_a_first_success_is_tried_again_after_minutes(
    make_link: MakeLink, kind: LinkKind
) -> None:
    clock = StandingClock()
    connection = NearConnection()
    link = make_link(connection, clock=clock)
    await_that(lambda: is_connected(link), link)
    connection.problems = [LinkError("Permission denied", kind=kind)]
    pauses: list[float] = []

    def note_pause() -> None:
        state = link.state
        if state.kind is LinkPhase.FAILED and state.retry_at is not None:
            pauses.append(state.retry_at - clock.wall())

    link.on_change(note_pause)
    assert link._conversation is not None
    os.kill(link._conversation.pid, signal.SIGKILL)
    await_that(lambda: pauses or _passes(clock, 2.0))
    assert 60 <= pauses[0] <= 120
    assert connection.opened == 2
    clock.advance(121)
    await_that(lambda: is_connected(link), link)
    assert connection.opened == 3


def _passes(clock: StandingClock, seconds: float) -> bool:
    clock.advance(seconds)
    return False


def test_a_mistake_in_our_own_code_does_not_end_the_link(
    make_link: MakeLink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "far").write_bytes(b"1")
    link = make_link(NearConnection(), backoff=Backoff(0.01, 0.01))
    await_that(lambda: is_connected(link), link)
    look = Poller.look

    def look_once_in_vain(*given: object, **options: object) -> object:
        monkeypatch.setattr(Poller, "look", look)
        raise OverflowError("too large")

    monkeypatch.setattr(Poller, "look", look_once_in_vain)
    messages: set[str] = set()
    link.on_change(lambda: messages.add(link.state.message))
    file = link.follow(os.fsencode(tmp_path / "far"), tmp_path / "copy")
    await_that(lambda: file.size == 1, link)
    assert "the host's answer cannot be read: OverflowError: too large" in messages


def test_a_new_wish_does_not_shorten_the_wait(make_link: MakeLink, tmp_path: Path) -> None:
    connection = NearConnection()
    connection.problems = [LinkError("No route to host", kind=LinkKind.UNREACHABLE)]
    link = make_link(connection, clock=StandingClock(), backoff=Backoff(30, 30, lambda: 1.0))
    await_that(lambda: link.state.kind is LinkPhase.RECONNECTING, link)
    for number in range(5):
        link.follow(b"/log", tmp_path / f"{number}")
        with pytest.raises(LinkError, match="No route"):
            link.ask(b"true")
    assert connection.opened == 1


def test_closing_ends_what_is_under_way(make_link: MakeLink, tmp_path: Path) -> None:
    connection = NearConnection()
    link = make_link(connection)
    (tmp_path / "far").write_bytes(LINES)
    link.follow(os.fsencode(tmp_path / "far"), tmp_path / "copy")
    await_that(lambda: is_connected(link), link)
    problems: list[LinkError] = []

    def ask() -> None:
        try:
            link.ask(b"say begun; sleep 1000")
        except LinkError as problem:
            problems.append(problem)

    asking = threading.Thread(target=ask)
    asking.start()
    link.close()
    asking.join(60)
    assert problems
    assert connection.is_closed
    with pytest.raises(LinkError):
        link.ask(b"true")
    link.close()


def test_a_command_that_cannot_be_started_is_told(make_link: MakeLink, tmp_path: Path) -> None:
    link = make_link(NearConnection(lambda number: [str(tmp_path / "no-ssh")]))
    await_that(lambda: "No such file" in link.state.message, link)
    assert link.state.kind is LinkPhase.RECONNECTING


def test_waits_are_never_in_step_with_others() -> None:
    chances = iter([0.0, 0.25, 1.0, 1.0])
    backoff = Backoff(0.5, 30, lambda: next(chances))
    assert [backoff.next() for _ in range(3)] == [0.0, 0.25, 2.0]
    backoff.reset()
    assert backoff.next() == 0.5
