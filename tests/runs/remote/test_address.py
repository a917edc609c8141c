"""Names of remote files: what is remote, what is local, what is impossible."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mltd.runs.errors import InputError
from mltd.runs.remote.address import MOST_BYTES, Address, Host, absolute, parse_address


@pytest.fixture(autouse=True)
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "host", "path"),
    [
        ("login01:/scratch/run", Host("login01"), b"/scratch/run"),
        ("login01:run", Host("login01"), b"run"),
        ("login01:", Host("login01"), b""),
        ("login01:.", Host("login01"), b""),
        ("login01:./run", Host("login01"), b"run"),
        ("login01:~", Host("login01"), b""),
        ("login01:~/run", Host("login01"), b"run"),
        ("login01:../anna/run", Host("login01"), b"../anna/run"),
        ("login01:runs/*/train.log", Host("login01"), b"runs/*/train.log"),
        ("login01:/x:y", Host("login01"), b"/x:y"),
        ("login01://x", Host("login01"), b"/x"),
        ("C:/x", Host("C"), b"/x"),
        ("anna@login01:x", Host("login01", "anna"), b"x"),
        ("anna@uni.de@login01:x", Host("login01", "anna@uni.de"), b"x"),
        ("[::1]:/x", Host("::1"), b"/x"),
        ("[login01]:/x", Host("login01"), b"/x"),
        ("anna@[fe80::1%eth0]:/x", Host("fe80::1%eth0", "anna"), b"/x"),
        ("größe:x", Host("größe"), b"x"),
        ("login_01:a b\n'\"$(id)`id`\\", Host("login_01"), b"a b\n'\"$(id)`id`\\"),
        ("ssh://login01/x", Host("login01"), b"/x"),
        ("ssh://login01", Host("login01"), b""),
        ("ssh://login01/", Host("login01"), b"/"),
        ("ssh://login01/~", Host("login01"), b""),
        ("ssh://login01/~/x", Host("login01"), b"x"),
        ("ssh://login01/%7E/x", Host("login01"), b"/~/x"),
        ("ssh://anna@login01:2222/x", Host("login01", "anna", 2222), b"/x"),
        ("ssh://anna%40uni.de@login01/x", Host("login01", "anna@uni.de"), b"/x"),
        ("ssh://login01:/x", Host("login01"), b"/x"),
        ("ssh://[::1]:22/x", Host("::1", "", 22), b"/x"),
        ("ssh://[fe80::1%25eth0]/x", Host("fe80::1%eth0"), b"/x"),
        ("ssh://login01/a%20b%0A%ff%2E", Host("login01"), b"/a b\n\xff."),
        ("ssh://login01/100%.log", Host("login01"), b"/100%.log"),
        ("ssh://login01/run?/#x", Host("login01"), b"/run?/#x"),
        ("ssh:/anna@login01:2222/x%20y", Host("login01", "anna", 2222), b"/x%20y"),
        ("ssh:/login01/~/x", Host("login01"), b"x"),
        ("ssh:x", Host("ssh"), b"x"),
        ("jobs:x", Host("jobs"), b"x"),
    ],
)
def test_remote_names(text: str, host: Host, path: bytes) -> None:
    assert parse_address(text) == Address(host, path)


@pytest.mark.parametrize(
    "text",
    [
        "train.log", "/x/y:z", "./login01:x", "runs/a:b", "", "-", ":x", "::1:x", "job:48213",
        "job:/x", "48213", "run*10:15.log", "[ab]*:x", "x[ab]:y", "~/a:b",
    ],
)  # fmt: skip
def test_local_names(text: str) -> None:
    assert parse_address(text) is None


@pytest.mark.parametrize("name", ["login01:x", "10:15", "host:", "a b:c", "-x:y"])
def test_what_exists_here_is_local(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("nowhere")
    assert parse_address(name) is None


def test_a_pattern_that_matches_here_is_local(tmp_path: Path) -> None:
    assert parse_address("run_10:15:*") == Address(Host("run_10"), b"15:*")
    (tmp_path / "run_10:15:02").mkdir()
    assert parse_address("run_10:15:*") is None
    assert parse_address("run_10:15:*/train.log") is None


def test_a_url_is_remote_whatever_exists_here(tmp_path: Path) -> None:
    (tmp_path / "ssh:" / "login01").mkdir(parents=True)
    assert parse_address("ssh://login01/x") == Address(Host("login01"), b"/x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-oProxyCommand=id:x", "not a possible host"),
        ("-x@login01:x", "not a possible user"),
        ("ssh://-oProxyCommand=id/x", "not a possible host"),
        ("ssh://-x@login01/x", "not a possible user"),
        ("ssh://%2Dx@login01/x", "not a possible user"),
        ("login 01:x", "' '"),
        ("login\n01:x", r"'\n'"),
        ("$(id):x", "'$'"),
        ("a`id`:x", "'`'"),
        ("a;b:x", "';'"),
        ("a'b:x", '"\'"'),
        ("a\\b:x", "not a possible host"),
        ("a%h:x", "'%'"),
        ("a\x1b31m:x", "x1b"),
        ("a\udcff:x", "udcff"),
        ("DOM\\anna@login01:x", "not a possible user"),
        ("..:x", "not a possible host"),
        ("@login01:x", "no user"),
        ("anna@:x", "missing"),
        ("ssh:///x", "missing"),
        ("ssh://", "missing"),
        ("ssh://@login01/x", "no host"),
        ("ssh://a:b:c/x", "no host"),
        ("ssh://login01:0/x", "0 is not a port"),
        ("ssh://login01:65536/x", "65536 is not a port"),
        ("ssh://login01:22x/x", "'22x' is not a port"),
        ("ssh://login01:٢٢/x", "not a port"),
        ("ssh://[::1;id]/x", "not a possible address"),
        ("ssh://login01/%00", "NUL"),
        ("login01:a\0", "NUL"),
        ("login01:\ud800", "not a possible name"),
        ("login01:~bob/x", "home of another user"),
        ("ssh://login01/~bob/x", "home of another user"),
        ("https://wandb.ai/x", "https:// are not read"),
        ("sftp://login01/x", "ssh://HOST/PATH"),
        ("x" * MOST_BYTES + "x:y", "that long"),
    ],
)
def test_impossible_names_are_sentences(text: str, words: str) -> None:
    with pytest.raises(InputError) as problem:
        parse_address(text)
    assert words in str(problem.value)
    assert str(problem.value).isprintable()


def test_a_password_in_a_name_is_not_repeated() -> None:
    with pytest.raises(InputError, match="history") as problem:
        parse_address("ssh://anna:hunter2@login01/x")
    assert "hunter2" not in str(problem.value)


@pytest.mark.parametrize(
    ("host", "label", "folder", "target"),
    [
        (Host("login01"), "login01", "login01:", ["--", "login01"]),
        (Host("a", "anna"), "anna@a", "anna@a:", ["-l", "anna", "--", "a"]),
        (Host("::1"), "[::1]", "[::1]:", ["--", "::1"]),
        (
            Host("a", "anna", 2222),
            "ssh:/anna@a:2222",
            "ssh:/anna@a:2222",
            ["-p", "2222", "-l", "anna", "--", "a"],
        ),
        (Host("ssh"), "ssh:/ssh", "ssh:/ssh", ["--", "ssh"]),
        (Host("job"), "ssh:/job", "ssh:/job", ["--", "job"]),
    ],
)
def test_hosts_are_told(host: Host, label: str, folder: str, target: list[str]) -> None:
    assert (host.label, host.folder, host.target) == (label, folder, target)


NAMES = st.text(
    st.characters(categories=["L", "N"]) | st.sampled_from("._-"), min_size=1, max_size=20
)
ADDRESSES6 = st.sampled_from(["::1", "fe80::1%eth0", "2001:db8::7", "::ffff:127.0.0.1"])
PATHS = st.binary(max_size=60).map(lambda path: path.replace(b"\0", b"~"))


@st.composite
def hosts(draw: st.DrawFn) -> Host:
    """Whatever can be a host."""
    try:
        return Host(
            draw(NAMES | ADDRESSES6 | st.sampled_from(["ssh", "job", "http"])),
            draw(st.just("") | NAMES | st.sampled_from(["anna@uni.de", "a+b"])),
            draw(st.none() | st.integers(1, 65535)),
        )
    except InputError:
        assume(False)
        raise


@given(host=hosts(), path=PATHS)
@example(Host("h", "", 22), b"/~/x%41")
@example(Host("fe80::1%25", "", 22), b"/~/x")
@example(Host("h", "", 22), b"~/x")
@example(Host("h"), b"~")
@example(Host("ssh"), b"")
@example(Host("job"), b"1")
def test_a_shown_name_leads_back(host: Host, path: bytes) -> None:
    while path.startswith((b"./", b"//")):
        path = path[1:] if path.startswith(b"//") else path[2:].lstrip(b"/")
    address = Address(host, b"" if path == b"." else path)
    assert parse_address(address.shown) == address


@given(host=hosts(), path=PATHS)
def test_the_name_below_the_mirror_leads_back(host: Host, path: bytes) -> None:
    path = absolute(path, b"/home/anna")
    assume(not path.startswith(b"/~"))
    shown = os.path.join("/root", host.folder + os.fsdecode(path)).removeprefix("/root/")
    assert parse_address(shown) == Address(host, path)


@given(text=st.text(max_size=30) | st.text("-@:/[]~%.ab0 \n'$\\\0", max_size=20))
@example("ssh:/")
@example("ssh://[")
@example("[:")
def test_any_text_is_an_address_a_local_name_or_a_sentence(text: str) -> None:
    for name in (text, f"ssh://{text}", f"ssh:/{text}", f"login01:{text}", f"{text}:x"):
        try:
            address = parse_address(name)
        except InputError:
            continue
        if address is not None:
            *options, dashes, host = address.host.target
            assert dashes == "--"
            assert host[:1] not in ("-", "")
            assert not set(host) & set(" \t\n'\"`$\\;&<>|(){}*?!#~=,/")
            assert options in ([], *_possible(address.host))
            assert b"\0" not in address.path


def _possible(host: Host) -> list[list[str]]:
    port = ["-p", str(host.port)]
    user = ["-l", host.user]
    assert not host.user.startswith("-")
    return [port, user, port + user]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (b"", b"/home/anna"),
        (b"run", b"/home/anna/run"),
        (b"../bob/run/", b"/home/bob/run"),
        (b"/x/../../..//y/./z", b"/y/z"),
        (b"//x", b"/x"),
        (b"../../../..", b"/"),
        (b"/a\n..\xff", b"/a\n..\xff"),
    ],
)
def test_paths_from_the_root(path: bytes, expected: bytes) -> None:
    assert absolute(path, b"/home/anna") == expected


@given(path=PATHS | st.text("./a*", max_size=20).map(str.encode))
def test_no_path_leaves_its_root(path: bytes) -> None:
    whole = absolute(path, b"/home/anna")
    assert whole.startswith(b"/")
    assert not whole.startswith(b"//")
    assert not {b".", b".."} & set(whole.split(b"/"))
