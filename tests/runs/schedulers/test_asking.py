"""How seldom Slurm is asked."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from mltd.runs.schedulers.slurm.asking import Answer, Asker, Question
from mltd.runs.schedulers.slurm.commands import Output
from mltd.runs.schedulers.slurm.notebook import Notebook
from mltd.runs.schedulers.slurm.problems import Problem, Trouble
from mltd.runs.state_files import state_directory


class Cluster:
    """Answers by counting, and keeps a clock that only moves when told to."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.time = 1000.0
        self.problem: Problem | None = None

    def run(self, arguments: list[str]) -> Output:
        self.asked.append(arguments)
        if self.problem is not None:
            return Output(problem=self.problem)
        return Output(f"answer {len(self.asked)}")

    def program(self, notebook: Notebook | None = None) -> Asker:
        """Another program of the same user."""
        return Asker(self.run, lambda name: True, lambda: self.time, notebook or Notebook())


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


LIST = Question(["squeue"], "list")


def about(job_id: str) -> Question:
    return Question(["scontrol", job_id], job_id)


def test_one_query_in_thirty_seconds(cluster: Cluster) -> None:
    program = cluster.program()
    assert program.ask("squeue", LIST).text == "answer 1"
    cluster.time += 29.9
    assert program.ask("squeue", LIST) == Answer("answer 1", 1000.0)
    cluster.time += 0.2
    assert program.ask("squeue", LIST).text == "answer 2"
    assert len(cluster.asked) == 2


def test_other_programs_of_the_user_share_the_answer(cluster: Cluster) -> None:
    cluster.program().ask("squeue", LIST)
    assert cluster.program().ask("squeue", LIST).text == "answer 1"
    assert len(cluster.asked) == 1


def test_programs_that_ask_at_the_same_moment_wait_for_one_answer(cluster: Cluster) -> None:
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=lambda: answers.append(cluster.program().ask("squeue", LIST)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cluster.asked) == 1
    assert {answer.text for answer in answers} == {"answer 1"}


def test_a_job_that_is_named_may_be_asked_for_once_more(cluster: Cluster) -> None:
    program = cluster.program()
    answers = [program.ask("scontrol", about(j), once_more=True) for j in ("1", "2", "3", "1")]
    assert [answer.text for answer in answers] == ["answer 1", "answer 2", None, "answer 1"]
    assert answers[2].problem is not None
    assert answers[2].problem.trouble is Trouble.TOO_SOON
    assert answers[2].problem.hint == "try again in 30 s"
    cluster.time += 31
    assert program.ask("scontrol", about("3"), once_more=True).text == "answer 3"


def test_a_failure_counts_as_a_query_too(cluster: Cluster) -> None:
    cluster.problem = Problem(Trouble.TIMED_OUT, "no answer")
    for _ in range(3):
        assert cluster.program().ask("squeue", LIST).problem == cluster.problem
    assert len(cluster.asked) == 1


def test_after_a_failure_the_old_answer_is_given_with_its_age(cluster: Cluster) -> None:
    cluster.program().ask("squeue", LIST)
    cluster.time += 60
    cluster.problem = Problem(Trouble.UNREACHABLE, "down")
    assert cluster.program().ask("squeue", LIST) == Answer("answer 1", 1000.0, cluster.problem)
    cluster.time += 600
    assert cluster.program().ask("squeue", LIST).text is None


def test_a_job_that_is_gone_is_gone(cluster: Cluster) -> None:
    cluster.program().ask("scontrol", about("1"))
    cluster.time += 60
    cluster.problem = Problem(Trouble.UNKNOWN_JOB, "unknown")
    assert cluster.program().ask("scontrol", about("1")).text is None


def test_accounts_that_are_off_are_left_alone_for_an_hour(cluster: Cluster) -> None:
    cluster.problem = Problem(Trouble.NO_ACCOUNTING, "off")
    for number in range(60):
        assert cluster.program().ask("sacct", about(str(number)), once_more=True).problem
        cluster.time += 59
    assert len(cluster.asked) == 1
    cluster.time += 100
    cluster.program().ask("sacct", about("1"))
    assert len(cluster.asked) == 2


def test_a_program_that_died_while_asking_counts(cluster: Cluster) -> None:
    def die(arguments: list[str]) -> Output:
        raise KeyboardInterrupt

    dying = cluster.program()
    dying.run = die
    with pytest.raises(KeyboardInterrupt):
        dying.ask("squeue", LIST)
    answer = cluster.program().ask("squeue", LIST)
    assert answer.problem is not None
    assert answer.problem.trouble is Trouble.TOO_SOON
    assert not cluster.asked


def test_a_clock_that_was_set_back_does_not_silence_us(cluster: Cluster) -> None:
    cluster.program().ask("squeue", LIST)
    cluster.time -= 10_000
    assert cluster.program().ask("squeue", LIST).text == "answer 2"


def test_another_cluster_has_answers_of_its_own(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.program().ask("squeue", LIST)
    monkeypatch.setenv("SLURM_CONF", "/etc/other.conf")
    assert cluster.program().ask("squeue", LIST).text is None
    assert len(cluster.asked) == 1


def test_answers_are_private(cluster: Cluster) -> None:
    cluster.program().ask("squeue", LIST)
    folder = state_directory() / "schedulers"
    files = [folder, *folder.iterdir()]
    assert len(files) > 2
    assert not [file for file in files if stat.S_IMODE(file.stat().st_mode) & 0o077]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"moments": 3}', b'{"moments": [], "entries": {"a": 3}}', b"\xff"],
)
def test_a_damaged_file_is_as_none(cluster: Cluster, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "slurm-squeue.json").write_bytes(content)
    assert cluster.program(Notebook(tmp_path)).ask("squeue", LIST).text == "answer 1"
    assert cluster.program(Notebook(tmp_path)).ask("squeue", LIST).text == "answer 1"


def test_where_no_file_can_be_kept_the_limit_holds_in_memory(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    program = cluster.program(Notebook(tmp_path / "file" / "folder"))
    assert program.ask("squeue", LIST).text == program.ask("squeue", LIST).text == "answer 1"


def test_answers_of_any_bytes_are_kept_as_they_are(cluster: Cluster) -> None:
    text = b"/w/\xff\x1f\n.out".decode(errors="surrogateescape")
    program = cluster.program()
    program.run = lambda arguments: Output(text)
    program.ask("squeue", Question(["squeue"], mark="#1#"))
    assert cluster.program().ask("squeue", Question(["squeue"])) == Answer(
        text, 1000.0, None, "#1#"
    )


def test_nobody_is_asked_where_the_program_is_missing(cluster: Cluster) -> None:
    program = cluster.program()
    program.is_installed = lambda name: False
    answer = program.ask("squeue", LIST)
    assert answer.problem is not None
    assert answer.problem.trouble is Trouble.NOT_INSTALLED
    assert not (state_directory() / "schedulers").exists()
