"""What the header says about the host that a run is on."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from mltd.tui.engine.protocol import Link

from .test_run_header import HOSTILE, RUNNING, WIDTHS, meanings, shown

REMOTE = RUNNING._replace(link=Link("login01", heard_at=999.0))


def test_a_connected_host_is_named_where_the_mode_stands() -> None:
    assert "ssh login01" in shown(REMOTE)[1]
    assert "stale" not in meanings(REMOTE, 1000.0)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_lost_host_is_told_with_the_age_of_what_is_shown(width: int) -> None:
    lost = Link("login01", "reconnecting", 966.0, "Connection reset by peer")
    row = shown(REMOTE._replace(link=lost), width)[1]
    assert "reconnecting to login01, data 34 s old" in row
    assert len(row) == width


def test_a_host_that_refuses_says_why_and_what_to_do() -> None:
    link = Link("login01", "failed", 880.0, "Permission denied (publickey)", "log in again")
    row = shown(REMOTE._replace(link=link), 120)[1]
    assert "login01 lost, data 2 min old: Permission denied (publickey); log in again" in row
    assert "severity-critical" in meanings(REMOTE._replace(link=link), 1000.0)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_ssh_says_cannot_break_the_header(text: str) -> None:
    for state in ("connecting", "reconnecting", "failed"):
        link = Link(text or "h", state, 990.0, text, text)
        for width in WIDTHS:
            assert cell_len(shown(REMOTE._replace(link=link), width)[1]) == width
