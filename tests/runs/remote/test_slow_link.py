"""A link of 200 ms and 1 Mbit/s: what people wait for comes first; and a network that goes away."""

from __future__ import annotations

import itertools
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.runs.remote.address import Host
from mltd.runs.remote.backoff import Backoff
from mltd.runs.remote.connection import Connection
from mltd.runs.remote.host_link import HostLink
from mltd.runs.remote.link_state import LinkPhase
from tests.runs.remote.conftest import Configure
from tests.runs.remote.link_parts import await_that
from tests.runs.remote.slow_proxy import SlowProxy, slow_proxy
from tests.runs.sources.sshd_server import SshdServer

LOG_BYTES = 20_000_000


def training_log(length: int) -> bytes:
    """Lines as a training prints them, in which only the numbers change."""
    chance = random.Random(7)
    lines = (
        f"[2026-01-01 {n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}] step {n} | "
        f"loss {2 + chance.random():.4f} | grad_norm {chance.random():.3f} | lr 3.0e-4\n"
        for n in itertools.count()
    )
    text = []
    while length > 0:
        text.append(next(lines))
        length -= len(text[-1])
    return "".join(text).encode()


@pytest.fixture
def proxy(sshd: SshdServer) -> Iterator[SlowProxy]:
    with slow_proxy(sshd.port) as made:
        yield made


@pytest.fixture
def slow_host(proxy: SlowProxy, configure: Configure) -> Host:
    configure(f"Host mltd-test\n    Port {proxy.port}\n    Compression no\n")
    return Host("mltd-test")


def test_the_end_of_a_long_log_is_there_long_before_the_rest(
    slow_host: Host, proxy: SlowProxy, tmp_path: Path
) -> None:
    far = tmp_path / "train.log"
    text = training_log(LOG_BYTES)
    far.write_bytes(text)
    connection = Connection(slow_host)
    connection.open(interactive=False)
    figures: dict[str, float] = {}
    began = time.monotonic()
    with HostLink(connection) as link:
        file = link.follow(os.fsencode(far), tmp_path / "copy")
        await_that(lambda: file.is_caught_up, link)
        figures["first_screen_seconds"] = round(time.monotonic() - began, 2)
        assert file.start > LOG_BYTES * 0.95
        assert file.local.read_bytes()[file.start :] == text[file.start :]
        start = file.start
        await_that(lambda: file.start < start - 600_000, link)
        # News come while the rest is under way.
        with far.open("ab") as log:
            log.write(b"news\n")
        wrote = time.monotonic()
        await_that(lambda: file.size == len(text) + 5, link)
        figures["news_seconds"] = round(time.monotonic() - wrote, 2)
        assert 0 < file.start < start, "the rest is still under way"
        assert file.local.read_bytes()[file.start :] == text[file.start :] + b"news\n"
        figures["carried"] = proxy.carried
        figures["copied"] = file.size - file.start
    sys.stdout.write(f"{figures}\n")


def test_a_network_that_goes_away_is_noticed_and_comes_back(
    slow_host: Host, proxy: SlowProxy, tmp_path: Path
) -> None:
    proxy.delay, proxy.bytes_per_second = 0.0, 1e9
    far = tmp_path / "train.log"
    far.write_bytes(b"before\n")
    with HostLink(Connection(slow_host), backoff=Backoff(0.05, 0.1), patience=1.5) as link:
        file = link.follow(os.fsencode(far), tmp_path / "copy")
        await_that(lambda: file.size == 7 and link.state.kind is LinkPhase.CONNECTED, link)
        proxy.stall()
        with far.open("ab") as log:
            log.write(b"after\n")
        await_that(lambda: link.state.kind is LinkPhase.RECONNECTING, link)
        # Our own patience, not that of ssh.
        assert "no answer for" in link.state.message
        proxy.heal()
        await_that(lambda: file.size == 13, link)
    assert file.local.read_bytes() == b"before\nafter\n"
