"""Asking a shell: content comes back as it is, marks apart from it, and an end is noticed."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mltd.runs.remote.conversation import Conversation, Mark
from mltd.runs.remote.marks import MarkReader
from mltd.runs.remote.problems import LinkKind, LinkLost
from mltd.runs.remote.quoting import sh_quote
from tests.runs.remote.link_parts import await_that

NONCE = b"0123456789abcdef" * 2
SH = ["sh"]


def join(items: list[bytes | Mark]) -> list[bytes | Mark]:
    """Neighbouring content as one, since its pieces depend on how it arrives."""
    joined: list[bytes | Mark] = []
    for item in items:
        last = joined[-1] if joined else None
        if isinstance(item, bytes) and isinstance(last, bytes):
            joined[-1] = last + item
        else:
            joined.append(item)
    return joined


CONTENT = st.lists(
    st.sampled_from([b"\n", b"a", b"\n" + NONCE[:7], NONCE, b" ", b"\0\xff", b"\n" + NONCE]),
    min_size=1,
    max_size=6,
).map(b"".join)
WORDS = st.lists(st.sampled_from([b"file", b"7", b"\xff", b"a:b/c"]), min_size=1, max_size=3)


@given(
    st.lists(CONTENT | WORDS.map(lambda words: Mark(tuple(words))), max_size=6),
    st.lists(st.integers(1, 9), min_size=1),
)
def test_marks_are_found_however_the_bytes_arrive(
    items: list[bytes | Mark], lengths: list[int]
) -> None:
    # Content cannot hold the number, which nobody can guess.
    kept = [*join(items), Mark((b"end",))]
    assume(not any(isinstance(i, bytes) and b"\n" + NONCE + b" " in i + b" " for i in kept))
    stream = b"".join(
        b"\n" + NONCE + b" " + b" ".join(item.words) + b"\n" if isinstance(item, Mark) else item
        for item in kept
    )
    reader = MarkReader(NONCE)
    found: list[bytes | Mark] = []
    position = turn = 0
    while position < len(stream):
        length = lengths[turn % len(lengths)]
        reader.feed(stream[position : position + length])
        while (item := reader.take()) is not None:
            found.append(item)
        position, turn = position + length, turn + 1
    assert join(found) == kept


def test_a_script_gives_content_and_marks_in_order() -> None:
    with Conversation(SH) as talk:
        answer = join(list(talk.ask(b"printf one; say first 1; printf 'two\\n'; say last")))
        assert answer == [b"one", Mark((b"first", b"1")), b"two\n", Mark((b"last",))]
        assert list(talk.ask(b"printf again")) == [b"again"]


def test_content_that_looks_like_a_mark_is_content() -> None:
    with Conversation(SH) as talk:
        assert join(list(talk.ask(b"printf '\\n. 1\\n\\n%s . 1\\n' " + NONCE))) == [
            b"\n. 1\n\n" + NONCE + b" . 1\n"
        ]


def test_what_a_log_in_prints_by_itself_is_not_content() -> None:
    with Conversation(["sh", "-c", "echo Welcome to login01; exec sh"]) as talk:
        assert list(talk.ask(b"printf ready")) == [b"ready"]


def test_a_script_reads_no_input_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with Conversation(SH) as talk:
        assert list(talk.ask(b"cat; x=1; cd " + sh_quote(os.fsencode(tmp_path)))) == []
        assert list(talk.ask(b'printf %s "$x"; exit 3')) == []
        assert list(talk.ask(b"printf 'still here'")) == [b"still here"]


def test_what_is_defined_stays() -> None:
    with Conversation(SH) as talk:
        talk.define(b"name='a b'\necho unheard")
        assert list(talk.ask(b'printf %s "$name"')) == [b"a b"]


def test_an_answer_that_was_not_read_is_drained() -> None:
    with Conversation(SH) as talk:
        unread = talk.ask(b"say begin; dd if=/dev/zero bs=65536 count=40 2>/dev/null")
        assert next(unread) == Mark((b"begin",))
        assert list(talk.ask(b"printf next")) == [b"next"]
        assert list(unread) == []


def content(items: Iterator[bytes | Mark]) -> bytes:
    return b"".join(item for item in items if isinstance(item, bytes))


def test_several_may_be_asked_before_the_first_is_read() -> None:
    with Conversation(SH) as talk:
        answers = [talk.ask(b"printf %d" % number) for number in range(5)]
        assert [content(answer) for answer in answers] == [b"0", b"1", b"2", b"3", b"4"]


def test_a_script_longer_than_any_pipe_gets_there() -> None:
    text = os.urandom(200_000).hex().encode()
    with Conversation(SH) as talk:
        assert content(talk.ask(b"printf %s " + text)) == text


def test_silence_ends_the_conversation() -> None:
    with Conversation(SH, patience=0.2) as talk:
        with pytest.raises(LinkLost, match="no answer") as lost:
            list(talk.ask(b"sleep 60"))
        assert lost.value.kind is LinkKind.TIMEOUT
        assert lost.value.may_pass
        with pytest.raises(LinkLost):
            talk.ask(b"true")


class StepClock:
    """More than half of all patience goes by whenever something arrives, and none besides."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now


@pytest.fixture
def slow_talk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Conversation]:
    """A conversation over a link on which every arrival takes more than half of all patience."""
    clock = StepClock()
    monkeypatch.setattr("mltd.runs.remote.conversation.time", clock)
    with Conversation(SH, patience=1.0) as talk:
        feed = talk._marks.feed

        def feed_late(data: bytes) -> None:
            feed(data)
            clock.now += 0.6

        monkeypatch.setattr(talk._marks, "feed", feed_late)
        yield talk


DRIP = b"for i in 1 2 3 4 5; do sleep 0.1; printf %s; done"


def test_slow_bytes_are_not_silence(slow_talk: Conversation) -> None:
    assert join(list(slow_talk.ask(DRIP % (b"x" * 64)))) == [b"x" * 320]


def test_a_dot_now_and_then_is_silence(slow_talk: Conversation) -> None:
    with pytest.raises(LinkLost, match="no answer for 1 s") as lost:
        list(slow_talk.ask(DRIP % b"."))
    assert lost.value.kind is LinkKind.TIMEOUT


def test_marks_that_never_end_are_given_up(slow_talk: Conversation) -> None:
    with pytest.raises(LinkLost, match="did not end within") as lost:
        list(slow_talk.ask(b"while :; do sleep 0.1; say beat; done", seconds=3.0))
    assert lost.value.kind is LinkKind.TIMEOUT


ENDLESS = {
    "content": b"cat /dev/zero",
    "marks": b"while :; do say beat; done",
    "a mark": b"printf '\n%s' \"$(say x | sed -n 's/ .*//p')\"; yes | tr -d '\n'",
}


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
def test_an_endless_answer_is_given_up_after_what_was_asked_for(script: bytes) -> None:
    with Conversation(SH) as talk:
        items: list[bytes | Mark] = []
        with pytest.raises(LinkLost, match="cannot be read") as lost:
            items.extend(talk.ask(script, most=100_000))
        assert len(content(iter(items))) <= 100_000
        assert lost.value.kind is LinkKind.GARBLED
        assert talk.is_over


def test_each_answer_has_a_limit_of_its_own() -> None:
    with Conversation(SH) as talk:
        answers = [talk.ask(b"printf %090d 1", most=140) for _ in range(3)]
        assert [len(content(answer)) for answer in answers] == [90, 90, 90]


def test_a_greeting_without_end_is_given_up() -> None:
    with (
        Conversation(["sh", "-c", "exec yes"]) as talk,
        pytest.raises(LinkLost, match="the log-in shell prints text without end"),
    ):
        list(talk.ask(b"true"))


@pytest.mark.parametrize("end", [b"say .", b"say . x", b"say . 7", b"say . ready", b"say . 1_0"])
def test_a_forged_end_of_an_answer_is_an_answer_that_cannot_be_read(end: bytes) -> None:
    with Conversation(SH) as talk:
        with pytest.raises(LinkLost, match="cannot be read"):
            list(talk.ask(end))
        assert talk.is_over


def test_an_end_is_told_in_the_words_of_the_one_that_ended() -> None:
    argv = ["sh", "-c", "echo 'Connection to login01 timed out' >&2; exit 255"]
    with Conversation(argv) as talk, pytest.raises(LinkLost, match="login01 timed out"):
        list(talk.ask(b"true"))


def test_a_shell_that_dies_of_a_script_is_an_end() -> None:
    with Conversation(SH) as talk, pytest.raises(LinkLost, match=r"(?i)syntax error"):
        list(talk.ask(b"if then fi ("))


def test_closing_from_another_thread_wakes_the_reader_and_leaves_no_process() -> None:
    talk = Conversation(SH)
    answer = talk.ask(b"say begin; sleep 600", patience=300)
    assert next(answer) == Mark((b"begin",))
    problems: list[LinkLost] = []

    def read() -> None:
        try:
            list(answer)
        except LinkLost as problem:
            problems.append(problem)

    reader = threading.Thread(target=read)
    reader.start()
    talk.close()
    reader.join(60)
    assert problems
    # What it had started was killed with it, and is buried by somebody else.
    await_that(lambda: not has_group(talk.pid))
    talk.close()


def test_who_closes_late_writes_into_nobody_elses_file(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Conversation(SH)
    other = threading.Thread(target=talk.close)
    opened: list[int] = []
    write = os.write

    def write_late(descriptor: int, data: bytes) -> int:
        if data == b"!" and threading.current_thread() is not other:
            # The other one goes first if nothing holds it, and its numbers are given out anew.
            other.start()
            other.join(0.3)
            for _ in range(4):
                opened.extend(os.pipe())
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", write_late)
    talk.close()
    other.join()
    try:
        readable, _, _ = select.select(opened[::2], [], [], 0)
        assert opened
        assert not readable
    finally:
        for descriptor in opened:
            os.close(descriptor)


def has_group(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_only_a_program_that_exists_can_be_spoken_with(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Conversation([str(tmp_path / "no-ssh")])


NAMES = (
    st.binary(min_size=1, max_size=30)
    .map(lambda name: name.replace(b"\0", b"").replace(b"/", b""))
    .filter(lambda name: name not in (b"", b".", b".."))
)
NASTY = [
    b"a b",
    b"'\"",
    b"$(touch x)",
    b"`touch x`",
    b"-rf",
    b"a\n",
    b"\n",
    b"\xff\xfe",
    b"*",
    b"~",
]


@given(NAMES | st.sampled_from(NASTY))
def test_a_name_goes_there_and_back_as_it_is(name: bytes) -> None:
    with Conversation(SH) as talk:
        printed = talk.ask(b"say name; printf %s " + sh_quote(name) + b"; say end")
        assert join(list(printed)) == [Mark((b"name",)), name, Mark((b"end",))]
