"""Users, hosts and paths: gone for the reader, but still told apart."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.sessions.masking import Masker


def redacted(text: str) -> str:
    """A text redacted by a masker of its own, twice the same."""
    once = Masker(redact=True).clean(text)
    assert Masker(redact=True).clean(once) == once
    return once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('File "/home/jane/train.py", line 3', 'File "…/train.py", line 3'),
        ("/home/jane/proj/runs/exp7/train.log:12", "…/exp7/train.log:12"),
        ("in /home/jane.", "in …/user-1."),
        ("/Users/bob/Desktop/a.txt", "…/Desktop/a.txt"),
        ("/users/9/chen8596/x.py in /tmp/chen8596out", "…/x.py in …/user-1out"),
        ("/mnt/lustre/secretgroup/x.log", "…/x.log"),
        ("/opt/conda/lib/python3.10/site-packages/torch/nn/linear.py",
         "…/site-packages/torch/nn/linear.py"),
        ("/usr/lib/python3.10/threading.py", "…/python3.10/threading.py"),
        (r"C:\Users\Jo\.conda\lib\site-packages\torch\nn\linear.py:3",
         "…/site-packages/torch/nn/linear.py:3"),
        (r'File "C:\Users\Jane Doe\my proj\train.py", line 3', 'File "…/my proj/train.py", line 3'),
        ('open("/home/jane/my project/x.py")', 'open("…/my project/x.py")'),
        ("--out=/scratch/jane/a/b,/scratch/jane/c/d", "--out=…/a/b,…/c/d"),
        ("PATH=/home/jane/bin:/home/jane/.local/bin", "PATH=…/bin:…/.local/bin"),
        ("-I/home/jane/include", "-I…/include"),
        (r"{'p': '/home/jane/x'}\n/home/jane/y", r"{'p': '…/x'}\n…/y"),
    ],
)  # fmt: skip
def test_a_path_keeps_what_says_something_about_the_run(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("USER=alice runs alice_exp7", "USER=user-1 runs user-1_exp7"),
        ("jane@login01.hpc.uni.edu or bob@login01.hpc.uni.edu", "user-1@host-1 or user-2@host-1"),
        ("[jane@login01 proj]$ python", "[user-1@host-1 proj]$ python"),
        ("jane@buster:~/x$ ls", "user-1@host-1:~/x$ ls"),
        ("ssh jane@buster", "ssh user-1@host-1"),
        ("host: guest01@compute01,", "host: user-1@host-1,"),
        ("Currently logged in as: jane (team)", "Currently logged in as: user-1 (team)"),
        ("UserId=jane(1001) GroupId=x", "UserId=user-1(1001) GroupId=x"),
        ('{"user": "jane"}', '{"user": "user-1"}'),
        ("/home/jane/x and then jane said", "…/x and then user-1 said"),
        ("mail jane.doe+ml@example.org", "mail user-1@host-1"),
    ],
)  # fmt: skip
def test_users_get_a_name_that_tells_nothing(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SLURM_JOB_NODELIST=gpu-node-[01-04] gpu-node-03 died, gpu-node-07 too",
         "SLURM_JOB_NODELIST=host-[1-4] host-3 died, host-5 too"),
        ("NodeList=r6i4n[3,5]", "NodeList=host-[1-2]"),
        ("*** JOB 27 ON vulcan23 CANCELLED AT 10:00", "*** JOB 27 ON host-1 CANCELLED AT 10:00"),
        ("gpu-a-01:123:129 [0] NCCL INFO x\ngpu-a-02:124:130 [1] NCCL INFO x",
         "host-1:123:129 [0] NCCL INFO x\nhost-2:124:130 [1] NCCL INFO x"),
        ("MASTER_ADDR=r6i4n3 --master_addr r6i4n3", "MASTER_ADDR=host-1 --master_addr host-1"),
        ("to [devgpu020.snb3.facebook.com]:29500 devgpu020", "to [host-1]:29500 host-1"),
        ("  host      : gpu-17.cluster.local (rank: 0)", "  host      : host-1 (rank: 0)"),
        ("srun: error: nid001234: task 3: Killed", "srun: error: host-1: task 3: Killed"),
        ("10.1.2.3:29500 and 192.168.0.7, 10.1.2.3", "host-1:29500 and host-2, host-1"),
        ("fe80::1 and 2001:db8::8a2e:370:7334", "host-1 and host-2"),
        ("compute-12 waits for compute-13", "host-1 waits for host-2"),
    ],
)  # fmt: skip
def test_two_nodes_stay_two_nodes(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://wandb.ai/jane/proj/runs/6kty", "https://host-1/…/6kty"),
        ("https://github.com/jane", "https://host-1/…"),
        ("https://h.org:8080/a/b?x=1#y.", "https://host-1:8080/…/b?…."),
        ("https://joe:pw@h.org/a", "https://user-1:[masked: password]@host-1/…"),
        ("ssh://bob@login7:22/scratch/bob/x.log", "ssh://user-1@host-1:22/…/x.log"),
        ("tcp://10.0.0.1:29500", "tcp://host-1:29500"),
        ("s3://bucket/a/b.pt", "s3://host-1/…/b.pt"),
        ("file:///home/jane/x.pt", "file://…/x.pt"),
        ("http://localhost:6006/", "http://localhost:6006/"),
        ("git@github.com:jane/repo.git", "git@host-1:jane/repo.git"),
    ],
)
def test_a_url_keeps_its_scheme_and_its_last_part(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("host (10.20.30.40) down", "host (host-1) down"),
        ("worker (192.168.1.5, 29500)", "worker (host-1, 29500)"),
        ("nccl 10.20.30.40 timeout", "nccl host-1 timeout"),
        ("driver 172.16.0.9 or 169.254.3.4", "driver host-1 or host-2"),
        ("--master-10.0.0.1 and 10.0.0.2-worker", "--master-host-1 and host-2-worker"),
        ("worker_10.0.0.5.log", "worker_host-1.log"),
        ("peer (54.12.3.4) and ('54.12.3.4', 29500)", "peer (host-1) and ('host-1', 29500)"),
        ("gone (203.0.113.7)", "gone (host-1)"),
        ("host (8.8.4.4)", "host (host-1)"),
    ],
)
def test_an_address_is_seen_whatever_stands_before_it(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user alice logged in, alice left", "user user-1 logged in, user-1 left"),
        ("User 'alice' has connected", "User 'user-1' has connected"),
        ("User: alice", "User: user-1"),
        ("User: alice\nJob: 3", "User: user-1\nJob: 3"),
        ("| Owner : alice | 3 |", "| Owner : user-1 | 3 |"),
        (r"\\server\share\alice", "…/user-1"),
        (r"open(\\fs01\research\alice) by alice", "open(…/user-1) by user-1"),
        ("/home/alice/x.py ALICE Alice_exp7", "…/x.py user-1 user-1_exp7"),
        ("/home/jdoe1234/x.py JDOE1234out", "…/x.py user-1out"),
    ],
)
def test_a_user_is_seen_in_prose_on_shares_and_in_capitals(text: str, expected: str) -> None:
    assert redacted(text) == expected


def test_known_names_are_replaced_in_any_case() -> None:
    masker = Masker(redact=True, known_names=["Jane Doe", "gpu-box-1"])
    assert masker.clean("JANE DOE, jane doe, GPU-BOX-1") == "user-1, user-1, host-1"


def test_names_are_the_same_in_every_text_of_one_masker() -> None:
    masker = Masker(redact=True)
    assert masker.clean("jane@login01:~$") == "user-1@host-1:~$"
    assert masker.clean("bob@login02:~$ on login01") == "user-2@host-2:~$ on host-1"
    assert masker.clean("jane waits for login02") == "user-1 waits for host-2"


def test_this_machine_and_its_user_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "atlas7.example.edu")
    monkeypatch.setenv("USER", "zoe")
    assert Masker(redact=True).clean("zoe was on atlas7") == "user-1 was on host-1"


def test_a_user_called_like_a_common_word_spoils_no_other_line() -> None:
    masker = Masker(redact=True)
    assert masker.clean("/home/adam/x.py USER=data") == "…/x.py USER=user-1"
    assert masker.clean("optimizer adam, data loaded") == "optimizer adam, data loaded"


def test_known_paths_are_shortened_alike_and_told_apart() -> None:
    known = ["/mnt/fs1/ab/run7", "/mnt/fs2/cd/run7", "/mnt/fs1/my runs/x", "ssh://h/home/run9"]
    masker = Masker(redact=True, known_paths=known)
    cleaned = masker.clean("/mnt/fs1/ab/run7/train.log /mnt/fs2/cd/run7 /mnt/fs1/my runs/x/y")
    first, second, third = cleaned.split(" ", 2)
    assert {first, second} == {"…/run7/train.log", "…/run7~2"} or {first, second} == {
        "…/run7~2/train.log",
        "…/run7",
    }
    assert third == "…/x/y"
    assert masker.clean(cleaned) == cleaned


def test_known_names_are_replaced_wherever_they_stand() -> None:
    masker = Masker(redact=True, known_names=["Jane Doe", "gpu-box-1", "mark"])
    cleaned = masker.clean("Jane Doe and mark on gpu-box-1; gpu-box-2")
    assert cleaned == "user-1 and user-2 on host-1; host-2"


def test_without_redaction_only_secrets_go() -> None:
    text = "jane@login01 in /home/jane with token=3"
    assert Masker().clean(text + " hf_" + "aB" * 17) == text + " [masked: Hugging Face token]"


PIECES = [
    "/home/jane", "/a/b.py", "jane", "@", "login01", "gpu-[01-03]", ".edu", ":", "//", "https", " ",
    "\n", "=", "10.0.0.1", "fe80::1", "…", "user-1", "host-1", "USER", "ssh ", '"', "'", "\\", "~",
    "C:\\Users\\jo", "[", "]", "node-3", "[masked: token]", "x", "-", ".",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    masker = Masker(redact=True)
    once = masker.clean(text)
    assert masker.clean(once) == once


@given(st.text(max_size=200))
def test_any_text_can_be_redacted(text: str) -> None:
    masker = Masker(redact=True)
    once = masker.clean(text)
    assert masker.clean(once) == once


def test_real_logs_are_redacted_once_and_for_all(corpus: Path) -> None:
    logs = sorted(path for path in corpus.glob("*/*") if path.is_file())
    for path in logs[::5]:
        text = path.read_text("utf-8", "replace")[:100_000]
        once = redacted(text)
        assert "/home/" not in once
        assert "/Users/" not in once
