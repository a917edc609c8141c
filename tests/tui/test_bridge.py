from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mltd.tui.bridge import Bridge
from mltd.tui.engine.curve_protocol import CurveRequest, Curves
from mltd.tui.engine.protocol import Diagnosed, Grew, News, Open, RunsFound, StatusChanged
from tests.waiting import PATIENCE


class Ear:
    """Collects news; `until` awaits the one that makes a condition true."""

    def __init__(self) -> None:
        self.news: list[News] = []
        self.deaths: list[bool] = []
        self._changed = asyncio.Event()

    def hear(self, news: News) -> None:
        self.news.append(news)
        self._changed.set()

    def died(self, is_restarted: bool) -> None:
        # What the dead one had said, often several times, does not count; what its successor
        # says may come before anybody who waits has noticed the death.
        self.news.clear()
        self.deaths.append(is_restarted)
        self._changed.set()

    async def until(self, is_reached: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not is_reached():
                self._changed.clear()
                await self._changed.wait()

    def count(self, kind: type[News]) -> int:
        return sum(isinstance(news, kind) for news in self.news)


def write_log(path: Path, count: int = 40) -> None:
    path.write_text("".join(f"step {n} loss: {3 - n / 50:.3f}\n" for n in range(count)))


def test_news_come_from_a_process_of_its_own_and_growth_is_told_at_once(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    write_log(log)

    async def scene() -> Ear:
        ear = Ear()
        bridge = Bridge(Open((str(log),)))
        listening = asyncio.create_task(bridge.listen(ear.hear, ear.died))
        await ear.until(lambda: ear.count(Diagnosed))
        before = ear.count(Grew)
        with log.open("a") as file:
            file.write("step 40 loss: 2.0\n")
        await ear.until(lambda: ear.count(Grew) > before)
        await ear.until(
            lambda: any(isinstance(n, StatusChanged) and n.status.step == 40 for n in ear.news)
        )
        bridge.close()
        await listening
        return ear

    ear = asyncio.run(scene())
    assert ear.deaths == []


def test_modules_in_the_users_folder_are_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "train.log"
    write_log(log)
    for name in ("numpy", "orjson", "mltd"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    monkeypatch.chdir(tmp_path)

    async def scene() -> Ear:
        ear = Ear()
        bridge = Bridge(Open((str(log),)))
        listening = asyncio.create_task(bridge.listen(ear.hear, ear.died))
        await ear.until(lambda: ear.count(Diagnosed) or ear.deaths)
        bridge.close()
        await listening
        return ear

    assert asyncio.run(scene()).deaths == []


def test_an_engine_that_dies_is_started_again_with_the_same_wishes(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    write_log(log)

    async def scene() -> Ear:
        ear = Ear()
        bridge = Bridge(Open((str(log),)))
        listening = asyncio.create_task(bridge.listen(ear.hear, ear.died))
        bridge.send(CurveRequest(5, ((0, "unknown"),)))
        await ear.until(lambda: ear.count(Diagnosed) and ear.count(Curves))
        os.kill(bridge._process.pid, signal.SIGKILL)
        await ear.until(lambda: ear.deaths)
        await ear.until(lambda: ear.count(Diagnosed) and ear.count(Curves))
        bridge.close()
        await listening
        return ear

    assert asyncio.run(scene()).deaths == [True]


def test_runs_that_were_named_later_keep_their_numbers_over_a_death(tmp_path: Path) -> None:
    names = [tmp_path / name / "train.log" for name in "abc"]
    for log in names:
        log.parent.mkdir()
        write_log(log)

    def rows(ear: Ear) -> list[str]:
        found = [news for news in ear.news if isinstance(news, RunsFound)]
        return [row.logs[0] for row in found[-1].rows] if found else []

    async def scene() -> list[str]:
        ear = Ear()
        bridge = Bridge(Open((str(names[0]),)))
        listening = asyncio.create_task(bridge.listen(ear.hear, ear.died))
        for log in names[1:]:
            bridge.send(Open((str(log),), is_survey=True))
        await ear.until(lambda: len(rows(ear)) == 3)
        os.kill(bridge._process.pid, signal.SIGKILL)
        await ear.until(lambda: ear.deaths)
        await ear.until(lambda: len(rows(ear)) == 3)
        bridge.close()
        await listening
        return rows(ear)

    assert asyncio.run(scene()) == [str(log) for log in names]


def test_the_engine_ends_when_its_screen_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    write_log(log)
    script = f"""
import sys, time
from mltd.tui.bridge import start_process
from mltd.tui.engine.protocol import Open
process = start_process(Open(({str(log)!r},)))
print(process.pid, flush=True)
process.stdout.read(1)
print("up", flush=True)
time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as screen:
        assert screen.stdout is not None
        engine = int(screen.stdout.readline())
        assert screen.stdout.readline() == "up\n"
        descriptor = os.pidfd_open(engine)
        screen.kill()
        screen.wait()
    try:
        readable = asyncio.run(_wait_readable(descriptor))
    finally:
        os.close(descriptor)
    assert readable


async def _wait_readable(descriptor: int) -> bool:
    """A process descriptor becomes readable when its process has ended."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(descriptor, ended.set)
    async with asyncio.timeout(PATIENCE):
        await ended.wait()
    asyncio.get_running_loop().remove_reader(descriptor)
    return True


def test_the_screen_needs_no_numpy_to_understand_a_verdict(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "".join(f"step {n} loss: {'nan' if n > 30 else 3 - n / 50}\n" for n in range(60))
    )
    script = f"""
import asyncio, sys
from mltd.tui.bridge import Bridge
from mltd.tui.engine.protocol import Diagnosed, Open, SeriesChanged, CurveRequest, Curves
async def scene():
    bridge = Bridge(Open(({str(log)!r},)))
    wanted = [SeriesChanged, Diagnosed, Curves]
    done = asyncio.Event()
    def hear(news):
        if isinstance(news, SeriesChanged) and news.series:
            bridge.send(CurveRequest(1, ((0, news.series[0].key),)))
        if type(news) in wanted:
            wanted.remove(type(news))
        if not wanted:
            done.set()
    task = asyncio.create_task(bridge.listen(hear, print))
    await done.wait()
    bridge.close()
    await task
asyncio.run(scene())
print([name for name in ("numpy", "pandas", "torch", "anthropic") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout == "[]\n"
