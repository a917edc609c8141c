from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mltd.runs.sources.line_scan import Conditions
from mltd.tui.log import scan_process
from mltd.tui.log.scanner import LineScanner
from tests.waiting import PATIENCE


class Watched:
    """A scanner and a way to wait for it."""

    def __init__(self, path: Path, conditions: Conditions) -> None:
        self._news = asyncio.Event()
        self.scanner = LineScanner(conditions, self._news.set)
        self.path = path

    async def start(self, near: int = 0) -> None:
        descriptor = os.open(self.path, os.O_RDONLY)
        await self.scanner.start(descriptor, 0, self.path.stat().st_size, near)

    async def until(self, is_true: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not is_true():
                self._news.clear()
                await self._news.wait()

    async def all(self) -> list[int]:
        await self.start()
        await self.until(lambda: self.scanner.is_done)
        hits = list(self.scanner.hits)
        await self.scanner.closed()
        return hits


def write_log(path: Path, lines: int) -> bytes:
    data = b"".join(
        b"step %d loss %.4f%s\n" % (n, 10 / (n + 1), b" ERROR" if n % 97 == 0 else b"")
        for n in range(lines)
    )
    path.write_bytes(data)
    return data


@pytest.mark.parametrize("pattern", ["error", "step 1.*7 ", "[^0-9]5 loss", "nothing", "4999"])
def test_every_matching_line_of_a_big_file_is_found(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "a.log"
    data = write_log(path, 120_000)
    assert len(data) > 2 * scan_process.BLOCK_BYTES
    hits = asyncio.run(Watched(path, Conditions(find=pattern)).all())
    compiled = re.compile(pattern.encode(), re.IGNORECASE)
    expected, offset = [], 0
    for line in data.splitlines(keepends=True):
        if compiled.search(line.rstrip(b"\n")):
            expected.append(offset)
        offset += len(line)
    assert hits == expected


def test_blocks_near_the_view_come_first() -> None:
    size = scan_process.BLOCK_BYTES
    order = list(scan_process.blocks(0, 5 * size + 1, 4 * size))
    assert order[0] == (4 * size, 5 * size)
    assert {low for low, _high in order[1:3]} == {3 * size, 5 * size}
    assert sorted(order)[0][0] == 0
    assert sum(high - low for low, high in order) == 5 * size + 1


def test_what_is_appended_is_searched_too(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one\nfoo\nunfinished fo")

    async def main() -> list[int]:
        watched = Watched(path, Conditions(find="foo$"))
        await watched.start()
        await watched.until(lambda: watched.scanner.is_done)
        assert list(watched.scanner.hits) == [4]
        with path.open("ab") as file:
            file.write(b"o\nfoo\nbar\n")
        watched.scanner.extend(path.stat().st_size)
        assert not watched.scanner.is_done
        await watched.until(lambda: watched.scanner.is_done)
        hits = list(watched.scanner.hits)
        await watched.scanner.closed()
        return hits

    assert asyncio.run(main()) == [4, 8, 23]


def test_a_catastrophic_pattern_gives_up_its_line_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"aaa\n" + b"a" * 60 + b"b\n" + b"aa\n")

    async def main() -> tuple[list[int], str]:
        watched = Watched(path, Conditions(find="^(a+)+$"))
        hits = await watched.all()
        return hits, watched.scanner.problem

    hits, problem = asyncio.run(main())
    assert hits == [0, 66]
    assert problem == "the pattern is too slow for 1 lines"


def test_a_search_under_way_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes((b"a" * 60 + b"b\n") * 100)

    async def main() -> int | None:
        watched = Watched(path, Conditions(find="^(a+)+$"))
        await watched.start()
        process = watched.scanner._process
        async with asyncio.timeout(PATIENCE):
            await watched.scanner.closed()
        assert process is not None
        return process.returncode

    assert asyncio.run(main()) == -9


def test_places_of_a_match_within_lines_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x\n")

    async def main() -> object:
        watched = Watched(path, Conditions(find=r"l\w+s"))
        await watched.start()
        spans = await watched.scanner.spans(["loss lass", "none"])
        await watched.scanner.closed()
        return spans

    assert asyncio.run(main()) == [[[0, 4], [5, 9]], []]


def test_a_scanner_that_was_stopped_starts_no_process(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x\n")

    async def main() -> bool:
        watched = Watched(path, Conditions(find="x"))
        watched.scanner.stop()
        await watched.start()
        return watched.scanner.is_running

    assert not asyncio.run(main())


def test_the_process_loads_nothing_heavy() -> None:
    code = "import sys, mltd.tui.log.scan_process; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"textual", "rich", "numpy", "asyncio", "dataclasses", "inspect", "subprocess"}
    assert not heavy & set(loaded)


def test_the_process_ends_with_whoever_started_it(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x\n")
    with path.open("rb") as file:
        command = [sys.executable, "-m", "mltd.tui.log.scan_process", str(file.fileno()), "0"]
        process = subprocess.run(
            [*command, '["x"]'], stdin=subprocess.DEVNULL, pass_fds=[file.fileno()], timeout=60
        )
    assert process.returncode == 0
