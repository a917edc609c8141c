"""`mltd-tui check --claude`: consent, what is sent, what is printed, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.diagnosis.citations import Check
from mltd.diagnosis.client import access
from mltd.sessions.actions.records import AddRun, PutNote
from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.prints import print_of
from mltd.sessions.storage.store import SessionStore
from mltd.sessions.triage import now
from mltd.tui.cli import main
from mltd.tui.complaint import UNUSABLE
from mltd.tui.headless import ALARM
from tests.diagnosis.messages_server import (
    KEY,
    Forever,
    MessagesServer,
    answer,
    fault,
    sse,
    start,
    stream,
    text,
    texts_of,
    tool,
)
from tests.diagnosis.sdk_profiles import Profiles
from tests.diagnosis.second_opinions import (
    BAD_LINE,
    INVENTED,
    SECRETS,
    submission,
    write_log,
)

from .pty_terminal import Terminal

LOOK = tool("read_lines", artifact="run1/train.log", first=101, last=103)
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "so "}}
OPEN = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        running.point(monkeypatch)
        yield running


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(write_log(tmp_path / "train.log"))


def test_a_no_sends_nothing_and_keeps_the_verdict(server: MessagesServer, log: str) -> None:
    terminal = Terminal("check", log, "--claude")
    terminal.wait_for("[y/N] ")
    terminal.press("n\n")
    code, out = terminal.end()
    assert code == ALARM
    assert server.requests == []
    assert "nan_loss" in out
    assert "Second opinion" not in out
    seen = " ".join(terminal.seen.split())
    assert f"sent to {server.url.removeprefix('http://')}, for claude-sonnet" in seen
    assert re.search(r"[\d,]+ characters of evidence", seen)
    assert re.search(r"tokens about [\d,]+", seen)
    assert re.search(r"cost about \$0\.\d+ to send; .* up to about \$2", seen)
    assert re.search(r"secrets [4-9] masked", seen)
    assert "sections Task and constraints" in seen
    assert "left out nothing" in seen
    assert "mltd-tui pack " in seen
    assert "Nothing was sent." in seen
    assert not [secret for secret in SECRETS if secret in seen]


@pytest.mark.parametrize("is_agreed", [False, True])
def test_the_host_of_a_profile_is_named_before_anything_goes_there(
    is_agreed: bool,
    server: MessagesServer,
    log: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profiles = Profiles(tmp_path / "anthropic")
    profiles("work", server.url)
    profiles.select(monkeypatch, "work")
    server.script = [answer(submission())]
    terminal = Terminal("check", log, "--claude", *(["--yes"] if is_agreed else []))
    if not is_agreed:
        terminal.wait_for("[y/N] ")
        terminal.press("n\n")
    assert terminal.end()[0] == ALARM
    place = server.url.removeprefix("http://")
    said = f"Sending to {place}," if is_agreed else f"This would be sent to {place},"
    assert said in terminal.seen
    assert len(server.requests) == int(is_agreed)


@pytest.mark.parametrize("key", ["\x03", "\x04", "\n", "nay\n"])
def test_anything_but_a_yes_is_a_no(key: str, server: MessagesServer, log: str) -> None:
    terminal = Terminal("check", log, "--claude")
    terminal.wait_for("[y/N] ")
    terminal.press(key)
    assert terminal.end()[0] == (130 if key == "\x03" else ALARM)
    assert server.requests == []


def test_a_yes_before_the_question_agrees_to_nothing(server: MessagesServer, log: str) -> None:
    terminal = Terminal("check", log, "--claude")
    terminal.press("y\ny\n")
    terminal.wait_for("[y/N] ")
    terminal.press("\n")
    assert terminal.end()[0] == ALARM
    assert server.requests == []


def test_a_yes_streams_looks_and_words_and_tells_what_it_took(
    server: MessagesServer, log: str
) -> None:
    server.script = [answer(text("I look\x1b[2J first."), LOOK), answer(submission())]
    terminal = Terminal("check", log, "--claude", "--model", "claude-future-9")
    terminal.wait_for("[y/N] ")
    assert "cost unknown" in " ".join(terminal.seen.replace("cost      ", "").split())
    terminal.press("y\n")
    code, out = terminal.end()
    assert code == ALARM
    assert server.requests[0].body["model"] == "claude-future-9"
    assert "says: I look" in terminal.seen
    assert "\x1b" not in terminal.seen, "words of a model are no commands to a terminal"
    (look,) = [line for line in terminal.seen.splitlines() if "looks: read_lines" in line]
    assert "run1/train.log" in look
    assert re.search(r"Claude: 200 tokens in, 40 out, cost unknown, \d+\.\d s", terminal.seen)
    assert "Second opinion by Claude (claude-future-9)" in out


def test_ctrl_c_ends_it_at_once_and_keeps_what_came(server: MessagesServer, log: str) -> None:
    server.script = [stream(start(), OPEN, Forever(sse(DELTA)))]
    terminal = Terminal("check", log, "--claude", "--yes", "--json")
    terminal.wait_for("so so ")
    terminal.press("\x03")
    code, out = terminal.end()
    assert code == 130
    assert server.is_client_gone.wait(60)
    (document,) = map(json.loads, out.splitlines())
    assert document["claude"]["is_cancelled"]
    assert document["claude"]["text"].startswith("so so ")
    assert document["claude"]["error"] is None
    assert "cancelled" in terminal.seen


def test_ctrl_c_while_citations_are_looked_up_keeps_the_answer(
    server: MessagesServer, log: str, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(check: Check) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Check, "run", interrupted)
    server.script = [answer(submission())]
    assert main(["check", log, "--claude", "--yes", "--json"]) == 130
    document = json.loads(capfd.readouterr().out)["claude"]
    assert document["is_cancelled"]
    (cause,) = document["root_causes"]
    assert cause["confidence"] == 0.5
    assert "the check was stopped" in document["opinion"]["notes"][0]


def test_without_a_terminal_and_a_yes_nothing_is_sent(
    server: MessagesServer, log: str, capfd: Capture
) -> None:
    assert main(["check", log, "--claude"]) == UNUSABLE
    said = capfd.readouterr()
    assert server.requests == []
    assert "no terminal to ask on" in said.err
    assert "--yes" in said.err
    assert "nan_loss" in said.out


def _keep_session_about(log: str) -> None:
    with SessionStore().create("NaN at step 100") as opened:
        ref = RunRef(id="R1", location=log, files=(print_of(log),), added=now())
        opened.do(AddRun(run=ref))
        opened.do(PutNote(id="N1", text="the data of shard 7 are broken"))
        opened.flush()


@pytest.mark.parametrize("has_session", [False, True])
def test_what_is_sent_is_what_pack_shows_and_holds_no_secret(
    has_session: bool, server: MessagesServer, log: str, capfd: Capture
) -> None:
    if has_session:
        _keep_session_about(log)
    called = "R1" if has_session else "run1"
    look = tool("read_lines", artifact=f"{called}/train.log", first=101, last=103)
    server.script = [answer(look), answer(submission())]
    os.utime(log, (1_700_000_000, 1_700_000_000))  # else it says how many seconds ago it grew
    assert main(["check", log, "--claude", "--yes"]) == ALARM
    capfd.readouterr()
    assert main(["pack", log, "--tokens", "24000"]) == 0
    pack = capfd.readouterr().out
    sent = server.messages[0][0]["content"]
    assert pack.strip() == "".join(block["text"] for block in sent).strip()
    assert ("the data of shard 7 are broken" in pack) is has_session
    assert BAD_LINE in texts_of(server.messages[1][-1:]), "the look came back with the line"
    assert len(server.requests) == 2
    for request in server.requests:
        assert not [secret for secret in SECRETS if secret in request.raw]


def test_a_false_citation_is_struck(server: MessagesServer, log: str, capfd: Capture) -> None:
    server.script = [answer(submission())]
    assert main(["check", log, "--claude", "--yes"]) == ALARM
    said = capfd.readouterr()
    verdict, heading, opinion = said.out.partition("## Second opinion by Claude")
    assert "nan_loss" in verdict
    assert heading
    lines = opinion.splitlines()
    assert [line for line in lines if BAD_LINE in line and "(confirmed" in line]
    (struck,) = [line for line in lines if INVENTED in line]
    assert "~~" in struck
    assert "(wrong: " in struck
    assert "Claude: 100 tokens in" in said.err
    assert "says:" not in said.err, "nobody watches a pipe"


def test_json_has_the_opinion_beside_the_verdict(
    server: MessagesServer, log: str, capfd: Capture
) -> None:
    server.script = [answer(text("Hm\ud800."), submission())]
    assert main(["check", log, "--claude", "--yes", "--json"]) == ALARM
    (document,) = map(json.loads, capfd.readouterr().out.splitlines())
    assert main(["check", log, "--json"]) == ALARM
    (plain,) = map(json.loads, capfd.readouterr().out.splitlines())
    assert set(document) - set(plain) == {"claude"}
    claude = document["claude"]
    assert claude["error"] is None
    assert claude["is_checked"]
    assert claude["model"].startswith("claude-sonnet")
    assert set(claude["usage"]) == {"input", "output", "cached", "dollars", "seconds"}
    assert claude["text"] == "Hm?.", "half a character does no harm"
    (cause,) = claude["root_causes"]
    assert cause["id"] == "lr_too_high"
    assert [one["quote"] for one in cause["evidence"]] == [BAD_LINE], "what is false is none"
    verdicts = [one["verdict"] for one in claude["opinion"]["causes"][0]["evidence"]]
    assert verdicts == ["confirmed", "wrong"]


def test_a_wrong_key_is_a_sentence_and_the_verdict_stands(
    server: MessagesServer, log: str, capfd: Capture
) -> None:
    server.script = [fault(401, "authentication_error", "invalid x-api-key")] * 2
    assert main(["check", log, "--claude", "--yes"]) == UNUSABLE
    said = capfd.readouterr()
    assert "nan_loss" in said.out
    assert "ANTHROPIC_API_KEY" in said.err
    assert KEY not in said.err
    assert "Traceback (" not in said.err
    assert main(["check", log, "--claude", "--yes", "--json"]) == UNUSABLE
    (document,) = map(json.loads, capfd.readouterr().out.splitlines())
    assert document["findings"]
    assert document["claude"]["error"]["kind"] == "unauthorized"
    assert not document["claude"]["is_checked"]


def test_a_wait_is_told_even_if_nobody_watches(
    server: MessagesServer, log: str, capfd: Capture
) -> None:
    server.script = [fault(529, "overloaded_error", retry_after="0"), answer(submission())]
    assert main(["check", log, "--claude", "--yes"]) == ALARM
    said = capfd.readouterr()
    assert re.search(r"  waits \d+ s: ", said.err)
    assert "## Second opinion by Claude" in said.out


def test_words_before_a_failure_are_kept(server: MessagesServer, log: str, capfd: Capture) -> None:
    server.script = [
        answer(text("The loss is nan\nfrom step 100."), LOOK),
        fault(403, "permission_error"),
    ]
    assert main(["check", log, "--claude", "--yes"]) == UNUSABLE
    said = capfd.readouterr().out
    assert "(not checked)\n\n> The loss is nan\n> from step 100.\n" in said


def _forbid(home: Path) -> None:
    folder = home / ".config" / "mltd"
    folder.mkdir()
    (folder / "config.toml").write_text("[claude]\nenabled = false\n")


@pytest.mark.parametrize("way", ["flag", "file", "extra", "key"])
def test_what_stands_in_the_way_is_said_and_nothing_is_sent(
    way: str,
    server: MessagesServer,
    log: str,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: Capture,
) -> None:
    expected = "switched off here"
    options = ["--no-claude"] if way == "flag" else []
    if way == "file":
        _forbid(own_home)
    elif way == "extra":
        monkeypatch.setattr(access, "is_installed", lambda: False)
        expected = "pip install 'mltd-tui[claude]'"
    elif way == "key":
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        expected = "export ANTHROPIC_API_KEY="
    assert main(["check", log, "--claude", "--yes", *options]) == UNUSABLE
    said = capfd.readouterr()
    assert expected in said.err
    assert "nan_loss" in said.out
    assert server.requests == []


def test_each_run_is_asked_about_and_more_than_three_are_too_many(
    server: MessagesServer, tmp_path: Path, capfd: Capture
) -> None:
    logs = []
    for name in "abcd":
        (tmp_path / name).mkdir()
        logs.append(str(write_log(tmp_path / name / "train.log")))
    assert main(["check", *logs, "--claude", "--yes"]) == UNUSABLE
    said = capfd.readouterr()
    assert "These are 4 runs" in said.err
    assert said.out.count("nan_loss") >= 4
    assert server.requests == []
    server.script = [answer(submission()), answer(submission())]
    assert main(["check", *logs[:2], "--claude", "--yes"]) == ALARM
    assert capfd.readouterr().out.count("## Second opinion by Claude") == 2
    assert len(server.requests) == 2


def test_a_pipe_can_be_asked_about(server: MessagesServer, log: str) -> None:
    server.script = [answer(LOOK), answer(submission())]
    report = subprocess.run(
        [sys.executable, "-m", "mltd.tui.cli", "check", "-", "--claude", "--yes", "--json"],
        input=Path(log).read_bytes(),
        capture_output=True,
        check=False,
    )
    assert report.returncode == ALARM, report.stderr
    claude = json.loads(report.stdout)["claude"]
    assert claude["error"] is None
    assert not [secret for secret in SECRETS for sent in server.requests if secret in sent.raw]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--claude", "--follow"], "--follow has no end"),
        (["--yes"], "add --claude"),
        (["--model", "claude-opus-5-5"], "add --claude"),
        (["--redact"], "add --claude"),
    ],
)
def test_options_that_contradict_are_refused(
    options: list[str], sentence: str, server: MessagesServer, log: str, capfd: Capture
) -> None:
    assert main(["check", log, *options]) == UNUSABLE
    assert sentence in capfd.readouterr().err
    assert server.requests == []


def test_a_plain_check_loads_nothing_of_this(log: str) -> None:
    program = (
        "import sys; from mltd.tui.cli import main; main(sys.argv[1:]);"
        "print(*sys.modules, file=sys.stderr)"
    )
    report = subprocess.run(
        [sys.executable, "-c", program, "check", log, "--no-claude"],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = report.stderr.split()
    assert "mltd.tui.headless" in loaded
    unwanted = ("anthropic", "mltd.diagnosis", "mltd.tui.claude_")
    assert [name for name in loaded if name.startswith(unwanted)] == []
