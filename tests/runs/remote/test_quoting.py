"""Quoting for sh: every byte arrives as it was, in real shells."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.runs.remote.quoting import sh_quote
from tests.runs.sources.sshd_server import require

SHELLS = (("sh",), ("bash", "--posix"), ("busybox", "sh"))
AWKWARD = (
    b"", b"-n", b"--", b"'", b"''", b"\\", b"\\'", b'"', b"$HOME", b"$(touch x)", b"`id`", b"a b",
    b"\n", b"\n\n", b"\r", b"\t", b"*", b"?", b"[a]", b"~", b"~root", b"!", b"!!", b"#x", b"a;b",
    b"a|b", b"a&b", b"<x", b">x", b"(", b")", b"{a,b}", b"a=b", b"\xff\xfe", b"\x1b[31m", b"\x7f",
    bytes(range(1, 256)), "größe 学習".encode(), b"%s%n", b"\x01", b"'\\''",
    b"/scratch/run 7/x.log",
)  # fmt: skip


def said_back(shell: tuple[str, ...], words: list[bytes]) -> list[bytes]:
    """What the shell understands the quoted words to be, from a script on its stdin."""
    script = b"".join(b"printf '%s\\0' " + sh_quote(word) + b"\n" for word in words)
    answer = subprocess.run(list(shell), input=script, capture_output=True, timeout=60, check=True)
    assert answer.stderr == b""
    return answer.stdout.split(b"\0")[:-1]


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_awkward_names_arrive_as_they_are(shell: tuple[str, ...]) -> None:
    require(shell[0])
    assert said_back(shell, list(AWKWARD)) == list(AWKWARD)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@settings(max_examples=40)
@given(
    words=st.lists(
        st.binary(max_size=40).map(lambda word: word.replace(b"\0", b"'"))
        | st.text("'\\\"$`\n !*~-#;&|<>(){}[]", max_size=12).map(str.encode),
        min_size=1,
        max_size=100,
    )
)
def test_any_bytes_arrive_as_they_are(shell: tuple[str, ...], words: list[bytes]) -> None:
    require(shell[0])
    assert said_back(shell, words) == words


def test_plain_names_stay_readable() -> None:
    assert sh_quote(b"/scratch/anna/run-7/train.log") == b"/scratch/anna/run-7/train.log"


def test_nul_cannot_be_quoted() -> None:
    with pytest.raises(ValueError, match="NUL"):
        sh_quote(b"a\0b")
