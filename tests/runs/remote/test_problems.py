"""From ssh's words to a sentence that says what to do."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.errors import InputError
from mltd.runs.remote.address import Host
from mltd.runs.remote.problems import (
    LONGEST,
    LinkError,
    LinkKind,
    LinkLost,
    command,
    explain,
    not_installed,
    too_late,
)

ANNA = Host("login01", "anna")
CHANGED = """\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
The fingerprint for the ED25519 key sent by the remote host is
SHA256:0123456789abcdef.
Please contact your system administrator.
Add correct host key in /home/anna/.ssh/known_hosts to get rid of this message.
Offending ECDSA key in /home/anna/.ssh/known_hosts:7
Host key for login01 has changed and you have requested strict checking.
Host key verification failed.
"""
OPEN_KEY = """\
@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @
Permissions 0644 for '/home/anna/.ssh/id_ed25519' are too open.
This private key will be ignored.
Load key "/home/anna/.ssh/id_ed25519": bad permissions
anna@login01: Permission denied (publickey).
"""
JUMP_DENIED = """\
anna@jump: Permission denied (publickey,password).
kex_exchange_identification: Connection closed by remote host
Connection closed by UNKNOWN port 65535
"""
BANNER = """\
******************************************************
* Access is restricted; connection attempts are logged.
******************************************************
Warning: Permanently added 'login01' (ED25519) to the list of known hosts.
"""


@pytest.mark.parametrize(
    ("said", "kind", "may_pass", "message", "hint"),
    [
        ("anna@login01: Permission denied (publickey,password).", "authentication", False,
         ": anna@login01: Permission denied (publickey,password)", "from the start"),
        (BANNER + "anna@login01: Permission denied (publickey).\n", "authentication", False,
         "Permission denied (publickey)", "ssh-add -l"),
        ("login01: Permission denied (publickey,gssapi-keyex,gssapi-with-mic).", "authentication",
         False, "gssapi", "kinit"),
        (OPEN_KEY, "authentication", False, "bad permissions", "chmod 600"),
        ('sign_and_send_pubkey: signing failed for ED25519 "k" from agent: agent refused operation'
         "\nanna@login01: Permission denied (publickey).", "authentication", False,
         "agent refused operation", "unlock"),
        ("Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\n"
         "Disconnected from 10.0.0.1 port 22", "authentication", False, "Too many",
         "IdentitiesOnly"),
        (JUMP_DENIED, "authentication", False, "anna@jump: Permission denied", "from the start"),
        (CHANGED, "host key", False,
         "has changed (Offending ECDSA key in /home/anna/.ssh/known_hosts:7)", "administrators"),
        ("No ED25519 host key is known for login01 and you have requested strict checking.\n"
         "Host key verification failed.", "host key", False, "not known here",
         "`ssh anna@login01` once"),
        ("ssh: Could not resolve hostname login01: Name or service not known", "unknown host", True,
         "Could not resolve hostname login01", "./NAME"),
        ("ssh: Could not resolve hostname login01: Temporary failure in name resolution",
         "unknown host", True, "Temporary failure", "online"),
        ("ssh: connect to host login01 port 22: Connection refused", "refused", True,
         "Connection refused", "port"),
        ("channel 0: open failed: connect failed: Connection refused\nstdio forwarding failed\n"
         "Connection closed by UNKNOWN port 65535", "refused", True, "Connection refused", "port"),
        ("ssh: connect to host login01 port 22: Connection timed out", "timeout", True,
         "timed out", "VPN"),
        ("ssh: connect to host login01 port 22: Operation timed out", "timeout", True,
         "timed out", "VPN"),
        ("Connection timed out during banner exchange\nConnection to 10.0.0.1 port 22 timed out",
         "timeout", True, "banner exchange", "VPN"),
        ("ssh: connect to host login01 port 22: No route to host", "unreachable", True,
         "No route", "VPN"),
        ("ssh: connect to host login01 port 22: Network is unreachable", "unreachable", True,
         "unreachable", "online"),
        ("kex_exchange_identification: read: Connection reset by peer\n"
         "Connection reset by 10.0.0.1 port 22", "refused", True, "reset", "later"),
        ("Connection closed by 10.0.0.1 port 22", "refused", True, "closed", "later"),
        ("Unable to negotiate with 10.0.0.1 port 22: no matching host key type found. "
         "Their offer: ssh-rsa,ssh-dss", "negotiation", False, "Their offer: ssh-rsa", "config"),
        ("/home/anna/.ssh/config: line 3: Bad configuration option: hots\n"
         "/home/anna/.ssh/config: terminating, 1 bad configuration options", "configuration",
         False, "bad configuration option", "config"),
        ("Bad owner or permissions on /home/anna/.ssh/config", "configuration", False,
         "Bad owner", "config"),
        ("mux_client_request_session: session request failed: Session open refused by peer\n"
         "kex_exchange_identification: Connection closed by remote host\n"
         "Connection closed by UNKNOWN port 65535", "refused", True, "Session open refused",
         "sessions"),
        ("mux_client_request_session: read from master failed: Broken pipe", "lost", True,
         "master", ""),
        ("kex_exchange_identification: Connection closed by remote host\n"
         "Connection closed by UNKNOWN port 65535", "lost", True, "the connection is gone", ""),
        ("Timeout, server login01 not responding.", "lost", True, "not responding", ""),
        ("client_loop: send disconnect: Broken pipe", "lost", True, "Broken pipe", ""),
        ('"System is booting up. Unprivileged users are not permitted to log in yet."\n'
         "Connection closed by 10.0.0.1 port 22", "refused", True, "booting up", "later"),
        ("Something nobody has heard of", "other", False, "Something nobody",
         "`ssh anna@login01` works"),
        (BANNER, "other", False, "Access is restricted", ""),
        ("", "other", False, "ssh gave no reason", ""),
    ],
)  # fmt: skip
def test_words_of_ssh(said: str, kind: str, may_pass: bool, message: str, hint: str) -> None:
    problem = explain(said.encode(), ANNA)
    assert (problem.kind, problem.may_pass) == (kind, may_pass)
    assert problem.message.startswith("no link to anna@login01: ")
    assert message in problem.message
    assert hint in problem.hint
    assert "{" not in problem.hint


def test_after_a_log_in_with_questions_nobody_is_sent_to_log_in() -> None:
    denied = b"anna@login01: Permission denied (publickey,password)."
    assert "from the start" not in explain(denied, ANNA, is_asking=True).hint


@pytest.mark.parametrize(
    "said",
    [
        b"This account is currently not available.",
        b"rbash: line 1: exec: restricted",
        b"This service allows sftp connections only.",
        b"Connection refused by your quota",
    ],
)
def test_a_log_in_that_fails_by_itself_has_no_shell(said: bytes) -> None:
    problem = explain(said, ANNA, code=1)
    assert (problem.kind, problem.may_pass) == (LinkKind.NO_SHELL, False)
    assert said.decode().rstrip(".") in problem.message


@given(said=st.binary(max_size=400), code=st.sampled_from([255, 1, None, -9]))
def test_whatever_ssh_says_is_one_harmless_line(said: bytes, code: int | None) -> None:
    problem = explain(said, ANNA, code=code)
    assert str(problem).isprintable()


def test_long_words_are_cut() -> None:
    assert len(explain(b"x" * 10_000, ANNA).message) < LONGEST + 50


def test_escape_codes_do_not_hide_words() -> None:
    said = b"\x1b[31manna@login01: Permission \x1b]0;title\x07denied (publickey).\x1b[0m\r\n"
    assert explain(said, ANNA).message.endswith(": Permission denied (publickey)")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (Host("login01"), "ssh login01"),
        (ANNA, "ssh anna@login01"),
        (Host("login01", "anna", 2222), "ssh -p 2222 anna@login01"),
        (Host("::1"), "ssh ::1"),
    ],
)
def test_the_command_that_a_person_types(host: Host, words: str) -> None:
    assert command(host) == words


def test_a_missing_client_and_one_that_cannot_be_started_are_told_apart() -> None:
    missing = not_installed("ssh", FileNotFoundError(2, "No such file or directory"))
    assert "install" in missing.hint
    broken = not_installed("/opt/ssh", PermissionError(13, "Permission denied"))
    assert broken.message == "/opt/ssh cannot be started: Permission denied"
    busy = not_installed("ssh", BlockingIOError(11, "Resource temporarily unavailable"))
    assert [problem.may_pass for problem in (missing, broken, busy)] == [False, False, True]
    assert {missing.kind, broken.kind} == {LinkKind.NOT_INSTALLED}


def test_problems_are_input_errors_and_go_from_process_to_process() -> None:
    for problem in (too_late(ANNA, 30), LinkLost("gone"), explain(b"", ANNA)):
        assert isinstance(problem, InputError)
        again = pickle.loads(pickle.dumps(problem))
        assert type(again) is type(problem)
        assert (again.kind, again.may_pass, str(again)) == (
            problem.kind,
            problem.may_pass,
            str(problem),
        )


def test_a_lost_link_may_come_back() -> None:
    lost = LinkLost("the link to login01 is gone")
    assert isinstance(lost, LinkError)
    assert (lost.kind, lost.may_pass) == (LinkKind.LOST, True)
    assert LinkLost("stalled", kind=LinkKind.TIMEOUT).may_pass
    assert not LinkError("no", kind=LinkKind.REFUSED, may_pass=False).may_pass
