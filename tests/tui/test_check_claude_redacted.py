"""`check --claude --redact`: no user, host or path is sent, and citations still hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.tui.cli import main
from mltd.tui.headless import ALARM
from tests.diagnosis.messages_server import MessagesServer, answer, texts_of, tool
from tests.diagnosis.second_opinions import SECRETS, log_citation, submission, write_log

from .pty_terminal import Terminal

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        running.point(monkeypatch)
        yield running


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(write_log(tmp_path / "train.log"))


def _write_names(log: str) -> list[str]:
    """Lines that tell who trains where, and what must not be sent of them."""
    where = "step 1 done: saved /home/mkovacs/runs/best.pt on gpu-node-17"
    with open(log, "a", encoding="utf-8") as out:
        out.write(f"user=mkovacs host=gpu-node-17 ssh mkovacs@gpu-node-17\n{where}\n")
    os.utime(log, (1_700_000_000, 1_700_000_000))
    return ["mkovacs", "gpu-node-17", os.path.dirname(log)]


def test_names_are_masked_on_demand_and_what_is_cited_of_them_still_holds(
    server: MessagesServer, log: str, capfd: Capture
) -> None:
    names = _write_names(log)
    last = len(Path(log).read_text().splitlines())
    look = tool("read_lines", artifact="run1/train.log", first=last - 1, last=last)
    quote = "best.pt on host-1"
    cause = {
        "issue": "The learning rate is too high",
        "failure_mode": "lr_too_high",
        "severity": "critical",
        "explains": ["nan_loss"],
        "explanation": "",
        "evidence": [log_citation(last, quote)],
        "against": [],
        "confidence": 0.6,
        "basis": "inference",
    }
    server.script = [answer(look), answer(submission(root_causes=[cause]))]
    assert main(["check", log, "--claude", "--yes", "--redact"]) == ALARM
    (line,) = [one for one in capfd.readouterr().out.splitlines() if quote in one]
    assert "(confirmed" in line
    assert main(["pack", log, "--tokens", "24000", "--redact"]) == 0
    sent = server.messages[0][0]["content"]
    pack = capfd.readouterr().out
    assert pack.strip() == "".join(block["text"] for block in sent).strip()
    assert "best.pt on host-1" in texts_of(server.messages[1][-1:])
    for request in server.requests:
        assert not [name for name in (*names, *SECRETS) if name in request.raw]


def test_the_question_says_that_names_are_masked(server: MessagesServer, log: str) -> None:
    _write_names(log)
    terminal = Terminal("check", log, "--claude", "--redact")
    terminal.wait_for("[y/N] ")
    terminal.press("n\n")
    assert terminal.end()[0] == ALARM
    seen = " ".join(terminal.seen.split())
    assert "names users, hosts and paths are masked" in seen
    assert "--tokens 24000 --redact" in seen
