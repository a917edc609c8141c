from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from mltd.tui.log.open_log import OpenLog
from mltd.tui.log.reader import LogReader
from tests.waiting import PATIENCE


def test_the_end_is_shown_before_its_lines_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"".join(b"%09d\n" % n for n in range(300_000)))

    async def main() -> None:
        reader = LogReader()
        counted = asyncio.Event()
        reader.listen(lambda _path: counted.set())
        window = await reader.ask(str(path), lambda log: log.at_end(2))
        assert [line.line.data for line in window.lines] == [b"000299998", b"000299999"]
        assert [line.number for line in window.lines] == [None, None]
        async with asyncio.timeout(PATIENCE):
            while not window.is_counted:
                counted.clear()
                await counted.wait()
                window = await reader.ask(str(path), lambda log: log.at_end(2))
        assert [line.number for line in window.lines] == [299_999, 300_000]
        reader.close()

    asyncio.run(main())


def test_counting_gives_way_to_questions(tmp_path: Path) -> None:
    """A question is answered between two slices of a count that never ends."""
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * 99 + b"\n")

    begun, may_end = threading.Semaphore(0), threading.Semaphore(0)

    class EndlessLog(OpenLog):
        slices = 0

        def work(self) -> bool:
            EndlessLog.slices += 1
            begun.release()
            assert may_end.acquire(timeout=PATIENCE)
            return True

    async def main() -> None:
        reader = LogReader(EndlessLog)
        await reader.ask(str(path), lambda log: log.at_end(1))
        for slices in range(1, 6):
            assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE)
            question = asyncio.ensure_future(reader.ask(str(path), lambda log: log.at_end(1)))
            await asyncio.sleep(0)
            # Put while a slice is counted, it is answered before the next one.
            may_end.release()
            await question
            assert EndlessLog.slices <= slices + 1
        may_end.release()
        reader.close()

    asyncio.run(main())


def test_a_dead_file_server_blocks_nobody(tmp_path: Path) -> None:
    answers, has_answered = threading.Event(), threading.Event()

    class DeadLog(OpenLog):
        def __init__(self, path: str, root: str) -> None:
            answers.wait(30)
            has_answered.set()
            super().__init__(path, root)

    async def main() -> None:
        reader = LogReader(DeadLog)
        question = asyncio.ensure_future(reader.ask("dead", lambda log: log.at_end(1)))
        await asyncio.sleep(0)
        reader.close()
        assert not has_answered.is_set(), "nobody waited for it"
        assert not question.done()
        answers.set()
        await question

    asyncio.run(main())


def test_a_failing_question_is_the_askers_trouble(tmp_path: Path) -> None:
    async def main() -> None:
        reader = LogReader()
        with pytest.raises(ZeroDivisionError):
            await reader.ask(str(tmp_path), lambda log: 1 // 0)
        assert (await reader.ask(str(tmp_path), lambda log: log.at_end(1))).lines == ()
        reader.close()

    asyncio.run(main())


def test_a_line_by_number(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"a\n\nb\nc")
    log = OpenLog(str(path))
    window, place = log.around_line(3, 1, 1)
    assert place == 3
    assert [(line.line.data, line.number) for line in window.lines] == [(b"", 2), (b"b", 3)]
    assert log.around_line(99, 1, 1)[1] == 5, "behind the end is the last line"
    assert log.number_of(5) == 4
    log.close()


def test_lines_that_came_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"a\n")
    log = OpenLog(str(path))
    log.at_end(1)
    with path.open("ab") as file:
        file.write(b"b\nc\nd")
    window, count = log.growth(2)
    assert (window.size, count) == (7, 2)
    log.close()


def test_a_prepared_end_is_there_at_once_and_only_once(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"line {n}\n" for n in range(500)))
    reader = LogReader()

    async def scene() -> None:
        reader.prepare(str(path))
        # Questions are answered in their order.
        await reader.ask(str(path), lambda log: None)

    asyncio.run(scene())
    window = reader.take_prepared(str(path))
    assert window is not None
    assert window.lines[-1].line.data == b"line 499"
    assert reader.take_prepared(str(path)) is None
    reader.close()
