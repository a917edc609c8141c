"""Answers that a broken or hostile host gives: any bytes are read, or refused in a sentence."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mltd.runs.errors import MltdError
from mltd.runs.remote import far_side
from mltd.runs.remote.address import Address
from mltd.runs.remote.backfill import Backfill
from mltd.runs.remote.explore import RemoteTree
from mltd.runs.remote.far_checkpoint import checkpoint_at
from mltd.runs.remote.far_host import FarHost
from mltd.runs.remote.far_numbers import LARGEST_FILE, LATEST_TIME, whole_number
from mltd.runs.remote.fetching import fetch_whole
from mltd.runs.remote.heads import fetch
from mltd.runs.remote.listing import read_listing
from mltd.runs.remote.marks import Mark
from mltd.runs.remote.mirrored_file import MirroredFile
from mltd.runs.remote.polling import Digest, Poller
from mltd.runs.remote.problems import LinkLost, explain
from mltd.runs.remote.stamp import Stamp
from mltd.runs.remote.stat_lines import Entry, read_line
from mltd.runs.remote.wishes import Wish
from tests.runs.remote.remote_names import HOST

NUMBERS = st.sampled_from(
    [
        b"0", b"7", b"-1", b"+1", b" 1", b"1_000", b"1.5", b"1e400", b"nan", b"inf", b"", b"\0",
        "٣".encode(), b"9" * 18, b"9" * 19, b"9" * 20, b"9" * 400, b"9" * 5000, b"0x10",
        b"1700000000", b"18446744073709551615",
    ]
)  # fmt: skip
ANY = st.binary(max_size=20) | NUMBERS


def joined(separator: bytes, *parts: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.tuples(*parts).map(separator.join)


STAMPS = (
    joined(b"/", ANY, NUMBERS, NUMBERS, NUMBERS)
    | joined(b"/", ANY, ANY)
    | joined(
        b"/", ANY, NUMBERS, NUMBERS, NUMBERS, ANY | st.just(b"2026-11-16 18:58:03.9999 +0000"), ANY
    )
)
STAT_LINES = (
    joined(b" ", st.sampled_from([b"81a4", b"41ed", b"ffffffff", b"0"]), *[NUMBERS] * 4)
    | joined(b" ", NUMBERS, st.just(b"-rw-r--r-- 1 0 0"), NUMBERS, st.just(b"Feb 99"), NUMBERS)
    | st.sampled_from(
        [
            b"1 -rw-r--r-- 1 0 0 5 Jan 1 0000 x",
            b"1 -rw-r--r-- 1 0 0 5 Feb 99 99:99 x",
            b"1 -rw-r--r-- 1 0 0 99999999999999999999 Feb 1 9999 x",
        ]
    )
    | ANY
)


@given(STAMPS)
@example(b"1:2/" + b"9" * 5000 + b"/1")
def test_a_stamp_is_read_or_not(text: bytes) -> None:
    stamp = Stamp.of(tuple(text.split(b" ")))
    if stamp is not None:
        assert 0 <= stamp.size <= LARGEST_FILE
        assert stamp.modified is None or 0 <= stamp.modified <= LATEST_TIME + 1


@given(STAT_LINES)
def test_a_line_of_stat_is_read_or_not(line: bytes) -> None:
    entry = read_line(line, 1_700_000_000.0)
    if entry is not None:
        assert 0 <= entry.size <= LARGEST_FILE
        assert 0 <= entry.modified <= LATEST_TIME


@given(ANY)
def test_a_number_is_plain_digits(text: bytes) -> None:
    number = whole_number(text)
    assert number is None or (text.isdigit() and number == int(text.lstrip(b"0") or b"0"))


NAMES = st.sampled_from([b"./train.log", b"./config.json", b"./..", b".", b"./a/b", b"/far", b""])
PATHS = st.sampled_from([b"/far", b"/far/run", b"", b"far", b"/far/../..", b"/far/train.log"])
LISTS = st.lists(NAMES, max_size=3).map(
    lambda names: b"\0".join([b"%d" % len(names), *names]) + b"\0"
)
LINES = st.lists(STAT_LINES, max_size=3).map(lambda lines: b"".join(line + b"\n" for line in lines))
TOKENS = st.lists(
    joined(b"\0", st.sampled_from([b"F", b"C", b"G", b"P", b"W", b"D", b"O", b"U"]), PATHS)
    | joined(b"\0", st.just(b"Q"), NUMBERS)
    | joined(b"\0", st.just(b"K"), st.sampled_from([b"folder", b"file", b"pattern", b"?", b"\xff"]))
    | joined(b"\0", st.sampled_from([b"N", b"L"]), LISTS).map(lambda text: text[:-1])
    | joined(b"\0", st.sampled_from([b"N", b"L"]), NUMBERS)
    | joined(b"\0", st.just(b"S"), LINES, st.just(b"0"))
    | joined(b"\0", st.just(b"R"), LINES)
    | joined(b"\0", st.just(b"B"), NUMBERS, PATHS)
    | joined(b"\0", st.just(b"X"), PATHS, ANY)
    | joined(b"\0", st.just(b"M"), PATHS, ANY, ANY)
    | ANY,
    max_size=8,
).map(lambda tokens: b"".join(token + b"\0" for token in tokens))
ONE_FILE = b"".join(
    part + b"\0"
    for part in (b"K", b"folder", b"W", b"/far", b"F", b"/far", b"N", b"2", b"./train.log",
                 b"./model.pt", b"S", b"81a4 %b %b 1 2\n81a4 %b %b 1 3\n", b"0")
)  # fmt: skip
LISTINGS = TOKENS | st.tuples(*[NUMBERS] * 4).map(lambda numbers: ONE_FILE % numbers)


@given(LISTINGS)
def test_a_listing_is_read_or_refused_in_a_sentence(text: bytes) -> None:
    with suppress(LinkLost):
        assert 0 <= read_listing([text]).now <= max(LATEST_TIME, time.time())


class ForgedHost:
    """A host that answers the same, whatever it is asked."""

    def __init__(self, answer: Sequence[bytes | Mark], home: bytes = b"/far") -> None:
        self.home = home
        self._answer = answer

    def ask(self, script: bytes, *_: float, **__: float) -> Sequence[bytes | Mark]:
        return self._answer


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(LISTINGS, st.booleans(), NUMBERS)
def test_no_listing_of_a_host_breaks_a_look_at_it(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, is_packed: bool, clock: bytes
) -> None:
    answer: list[bytes | Mark] = [text]
    if is_packed:
        answer = [Mark((b"packed",)), gzip.compress(text)]
    skew = FarHost(ForgedHost([b"/far\n", Mark((b"time", clock))]))
    assert skew.home == b"/far"
    mirror = tmp_path_factory.mktemp("mirror")
    tree = RemoteTree(HOST, ForgedHost(answer), mirror)
    for path in (b"/far", b"/far/train.log", b"/far/*"):
        with suppress(MltdError):
            tree.explore(Address(HOST, path), skew=skew.skew)
        with suppress(MltdError):
            checkpoint_at(ForgedHost(answer), path, "far:", needs_values=True)
    assert [path.name for path in mirror.iterdir()] in ([], [HOST.folder])


@given(st.lists(st.binary(max_size=40) | st.just(b"/home\0x\n"), max_size=3), NUMBERS)
def test_a_forged_greeting_is_a_home_or_a_sentence(said: list[bytes], clock: bytes) -> None:
    host = FarHost(ForgedHost([*said, Mark((b"time", clock)), Mark((b"time",))]))
    try:
        home = host.home
    except MltdError:
        return
    assert home.startswith(b"/")
    assert b"\0" not in home
    assert abs(host.skew) <= 2 * LATEST_TIME


@given(st.lists(ANY, min_size=1, max_size=4), st.binary(max_size=30))
def test_forged_heads_are_those_of_files_that_were_asked_for(
    numbers: list[bytes], content: bytes
) -> None:
    entry = Entry(0o100644, 10, 0, 1, 2)
    wishes = [Wish(b"/far/a", entry, 10), Wish(b"/far/b", entry, 10)]

    class Host(ForgedHost):
        def ask(self, script: bytes, *_: float, **__: float) -> Sequence[bytes | Mark]:
            sign = script.partition(b"sign=")[2].partition(b"\n")[0]
            return [b"".join(b"\n%b %b\n%b" % (sign, number, content) for number in numbers)]

    found = fetch(Host([]), wishes)
    assert set(found) <= {b"/far/a", b"/far/b"}
    assert all(len(head) <= 10 for head in found.values())


WORDS = st.lists(
    st.sampled_from([b"file", b"end", b"trouble", b"head", b"data", b"part", b"refused", b"hello"])
    | st.sampled_from([b"on", b"old", b"copy", b"fresh", b"empty", b"raw", b"gzip", b"none"])
    | st.sampled_from([b"1:2/5/1700000000/1", b"1:2/" + b"9" * 18 + b"/1/1"])
    | NUMBERS
    | STAMPS,
    min_size=1,
    max_size=5,
)
MARKS = WORDS.map(lambda words: Mark(tuple(words)))
FRESH = st.tuples(
    st.sampled_from([b"on", b"fresh", b"copy", b"old", b"empty", b"?"]), NUMBERS, NUMBERS
).map(
    lambda given: [
        Mark((b"file", b"1", given[0], b"1:2/%b/1/1" % given[1])),
        Mark((b"data", given[2], b"raw")),
        b"text",
        Mark((b"end", b"1", b"1:2/%b/1/1" % given[1])),
    ]
)
PACKED = st.binary(max_size=20).map(gzip.compress) | st.just(gzip.compress(b"\0" * 1_000_000))
ANSWERS = FRESH | st.lists(MARKS | st.binary(min_size=1, max_size=30) | PACKED, max_size=8)


@pytest.fixture
def file(tmp_path: Path) -> MirroredFile:
    return MirroredFile(b"/far/train.log", tmp_path / "copy" / "train.log")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(ANSWERS)
def test_any_answer_to_a_look_is_taken_in_or_a_lost_link(
    file: MirroredFile, answer: list[bytes | Mark]
) -> None:
    file.rests_until = 0.0
    digest = Digest({1: file}, 0.0)
    with suppress(LinkLost):
        for item in answer:
            digest.take(item)
    assert file.modified is None or file.modified <= LATEST_TIME + 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANSWERS)
def test_any_answer_to_a_copy_is_a_file_or_a_sentence(
    tmp_path: Path, answer: list[bytes | Mark]
) -> None:
    with suppress(MltdError):
        assert fetch_whole(lambda script: answer, b"/far/config", tmp_path / "x", 100) <= 100


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANSWERS)
def test_any_answer_to_a_part_leaves_the_copy_whole(
    tmp_path: Path, answer: list[bytes | Mark]
) -> None:
    start = far_side.HOLE_BYTES
    file = MirroredFile(b"/far/train.log", tmp_path / "copy")
    file.begin(start, b"the end")

    class Talk:
        def ask(self, script: bytes, **_: object) -> Iterator[bytes | Mark]:
            return iter(answer)

    backfill = Backfill(lambda: [file])
    with suppress(LinkLost):
        backfill.step(Talk())  # type: ignore[arg-type]
    assert (file.start, file.copy.read(start, 100)) == (start, b"the end")


@given(st.lists(ANY, max_size=3))
def test_any_clock_over_there_is_compared(words: list[bytes]) -> None:
    class Talk:
        def define(self, script: bytes) -> None:
            pass

        def ask(self, script: bytes, **_: object) -> Iterator[bytes | Mark]:
            return iter([Mark((b"hello", *words))])

    poller = Poller(Talk())  # type: ignore[arg-type]
    poller.look([], 0.0, 1_700_000_000.0)
    assert abs(poller.clock_lead) <= LATEST_TIME


@given(st.binary(max_size=200), st.integers(-15, 255))
def test_whatever_ssh_says_is_explained(said: bytes, code: int) -> None:
    assert explain(said, HOST, code=code).message.isprintable()
