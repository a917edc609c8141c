"""Slurm as a scheduler, with commands that answer from a script."""

from __future__ import annotations

import os
import pwd
import re

import pytest

from mltd.runs.errors import InputError
from mltd.runs.schedulers.job import JobState
from mltd.runs.schedulers.slurm import Slurm
from mltd.runs.schedulers.slurm.asking import Asker
from mltd.runs.schedulers.slurm.commands import Output
from mltd.runs.schedulers.slurm.problems import explain
from mltd.runs.schedulers.slurm.questions import Questions, parse_version
from tests.runs.schedulers import test_sacct, test_squeue
from tests.runs.schedulers.samples import SCONTROL_22, V0040, Document, answer, number, unset

ME = pwd.getpwuid(os.getuid()).pw_name
MINE: Document = {**V0040, "user_name": ME}
FAILED: Document = {**MINE, "job_state": ["FAILED"]}


class Commands:
    """What each command prints; a number stands for the end of time."""

    def __init__(self, version: str = "slurm 23.11.4") -> None:
        self.version = version
        self.queue = answer()
        self.shown = ""
        self.accounts: list[dict[str, str]] | None = None
        self.problems: dict[str, str] = {}
        self.asked: list[list[str]] = []
        self.missing: set[str] = set()
        self.time = 1794852000.0

    def run(self, arguments: list[str]) -> Output:
        program = arguments[0]
        if "--version" in arguments:
            return Output(self.version)
        self.asked.append(arguments)
        if problem := self.problems.get(f"{program} {arguments[1]}", self.problems.get(program)):
            return Output(problem=explain(program, problem))
        if program == "sacct":
            return self._sacct(arguments)
        if program == "scontrol":
            if not self.shown:
                return Output(problem=explain(program, "Invalid job id specified"))
            return Output(self.shown)
        if "--json" in arguments:
            return Output(self.queue)
        mark = re.search(r"#[0-9a-f]+#", arguments[-1])
        assert mark is not None
        return Output(self.queue.replace(test_squeue.MARK, mark[0]))

    def _sacct(self, arguments: list[str]) -> Output:
        if self.accounts is None:
            return Output(problem=explain("sacct", "Slurm accounting storage is disabled"))
        [mark] = [word.partition("=")[2] for word in arguments if word.startswith("--delimiter")]
        names = tuple(next(w for w in arguments if w.startswith("--format"))[9:].split(","))
        text = test_sacct.printed(names, *self.accounts)
        return Output(text.replace(test_sacct.MARK, mark))

    def slurm(self) -> Slurm:
        def is_installed(program: str) -> bool:
            return program not in self.missing

        return Slurm(Questions(os.getuid(), Asker(self.run, is_installed, lambda: self.time)))

    def programs(self) -> list[str]:
        return [arguments[0] for arguments in self.asked]


@pytest.fixture
def commands() -> Commands:
    return Commands()


ACCOUNT = {**test_sacct.JOB, "User": ME}


def test_own_jobs_of_the_queue(commands: Commands) -> None:
    commands.queue = answer(MINE, {**MINE, "job_id": 5, "user_name": "somebody-else"})
    found = commands.slurm().own_jobs()
    assert [job.id for job in found.jobs] == ["48213"]
    assert (found.asked, found.notes) == (1794852000.0, ())


def test_accounts_add_jobs_that_ended_and_what_the_queue_does_not_know(commands: Commands) -> None:
    commands.queue = answer(FAILED)
    step = {**test_sacct.STEP, "JobID": "48213.batch", "MaxRSS": "2G"}
    old = {**ACCOUNT, "JobID": "48000", "JobIDRaw": "48000", "State": "CANCELLED by 0"}
    stale = {**ACCOUNT, "JobID": "48001", "JobIDRaw": "48001", "State": "RUNNING"}
    commands.accounts = [{**ACCOUNT, "State": "FAILED"}, step, old, stale]
    jobs = {job.id: job for job in commands.slurm().own_jobs().jobs}
    assert set(jobs) == {"48213", "48000"}
    assert jobs["48213"].max_rss == 2 * 2**30
    assert jobs["48000"].cancelled_by == "root"


def test_facts_about_another_job_with_the_same_number_are_left_alone(commands: Commands) -> None:
    commands.queue = answer(MINE)
    commands.accounts = [{**ACCOUNT, "Submit": "1194851000", "MaxRSS": "2G"}]
    [job] = commands.slurm().own_jobs().jobs
    assert job.max_rss is None


def test_old_versions_are_asked_for_text(commands: Commands) -> None:
    commands.version = "slurm-wlm 22.05.8"
    commands.queue = test_squeue.printed({**test_squeue.RUNNING, "UserName": ME})
    [job] = commands.slurm().own_jobs().jobs
    assert (job.id, job.stdout) == ("31", "/w/log-train-00031.out")
    assert "--json" not in commands.asked[0]


def test_text_is_asked_for_where_json_does_not_work(commands: Commands) -> None:
    commands.problems["squeue --json"] = "squeue: fatal: serializer plugin not found"
    commands.queue = test_squeue.printed({**test_squeue.RUNNING, "UserName": ME})
    for _ in range(3):
        assert [job.id for job in commands.slurm().own_jobs().jobs] == ["31"]
        commands.time += 31
    assert [("--json" in asked) for asked in commands.asked if asked[0] == "squeue"] == [
        True, False, False, False,
    ]  # fmt: skip


def test_jobs_of_before_are_shown_while_the_controller_is_down(commands: Commands) -> None:
    commands.queue = answer(MINE)
    commands.slurm().own_jobs()
    commands.time += 60
    commands.problems["squeue"] = "Unable to contact slurm controller"
    found = commands.slurm().own_jobs()
    assert (len(found.jobs), found.asked) == (1, 1794852000.0)
    assert "the Slurm controller cannot be reached" in found.notes[0]
    assert found.jobs[0].asked == 1794852000.0


def test_a_machine_without_slurm(commands: Commands) -> None:
    commands.missing = {"squeue", "scontrol", "sacct"}
    slurm = commands.slurm()
    assert not slurm.is_available()
    assert slurm.own_jobs().notes == ("Slurm is not installed on this machine",)
    with pytest.raises(InputError, match="48213 cannot be looked up: Slurm is not installed"):
        slurm.job("48213")


def test_a_job_of_the_queue_costs_no_further_query(commands: Commands) -> None:
    commands.queue = answer(MINE)
    slurm = commands.slurm()
    for _ in range(5):
        assert slurm.job("48213").state is JobState.RUNNING
    assert commands.programs() == ["squeue"]


def test_a_job_that_was_submitted_a_moment_ago_is_asked_for_by_its_number(
    commands: Commands,
) -> None:
    commands.shown = SCONTROL_22.replace("anna", ME).replace("TIMEOUT", "RUNNING")
    assert commands.slurm().job("48213").name == "lr=0.1 bs 64"
    assert commands.programs() == ["squeue", "scontrol"]


def test_a_job_that_the_controller_forgot_is_found_in_the_accounts(commands: Commands) -> None:
    commands.accounts = [ACCOUNT]
    assert commands.slurm().job("48213").state is JobState.OUT_OF_MEMORY
    assert commands.programs() == ["squeue", "scontrol", "sacct"]


def test_an_ended_job_gets_its_memory_from_the_accounts(commands: Commands) -> None:
    commands.queue = answer(FAILED)
    commands.accounts = [{**ACCOUNT, "State": "FAILED", "MaxRSS": "2G"}]
    job = commands.slurm().job("48213")
    assert (job.state, job.max_rss) == (JobState.FAILED, 2 * 2**30)


def test_a_job_that_nobody_knows(commands: Commands) -> None:
    with pytest.raises(InputError, match="Slurm knows no job 48213 of yours"):
        commands.slurm().job("48213")


def test_why_a_job_could_not_be_looked_up(commands: Commands) -> None:
    for program in ("squeue", "scontrol", "sacct"):
        commands.problems[program] = "Unable to contact slurm controller (connect failure)"
    with pytest.raises(InputError, match="48213 cannot be looked up: the Slurm controller"):
        commands.slurm().job("48213")


def test_somebody_elses_job_is_named_as_such(commands: Commands) -> None:
    commands.shown = SCONTROL_22
    with pytest.raises(InputError, match=r"belongs to anna, not to you.*my exp/log-gpu03\.out"):
        commands.slurm().job("48213")


@pytest.mark.parametrize("job_id", ["", "x", "1;ls", "--help", "1 2", "48213.batch"])
def test_no_command_sees_what_is_no_id(commands: Commands, job_id: str) -> None:
    with pytest.raises(InputError, match="is no job id"):
        commands.slurm().job(job_id)
    assert not commands.asked


def test_an_array_and_its_tasks(commands: Commands) -> None:
    task = {**MINE, "job_id": 48220, "array_job_id": number(48213), "array_task_id": number(7)}
    rest = {
        **MINE, "array_job_id": number(48213), "array_task_id": unset(),
        "array_task_string": "8-10%4", "job_state": ["PENDING"],
    }  # fmt: skip
    commands.queue = answer(task, rest)
    slurm = commands.slurm()
    assert slurm.job("48213_7").raw_id == 48220
    assert slurm.job("48220").id == "48213_7"
    waiting = slurm.job("48213_9")
    assert (waiting.id, waiting.state, waiting.raw_id) == ("48213_9", JobState.PENDING, None)
    assert [job.id for job in slurm.jobs("48213").jobs] == ["48213_7", "48213_[8-10%4]"]
    with pytest.raises(InputError, match=r"48213 is an array.*such as job:48213_7"):
        slurm.job("48213")


def test_a_heterogeneous_job_is_its_first_part(commands: Commands) -> None:
    parts = [
        {**MINE, "job_id": 48213 + k, "het_job_id": number(48213), "het_job_offset": number(k)}
        for k in (1, 0)
    ]
    commands.queue = answer(*parts)
    slurm = commands.slurm()
    assert slurm.job("48213").id == "48213+0"
    assert slurm.job("48213+1").raw_id == 48214
    assert len(slurm.jobs("48213").jobs) == 2


def test_an_answer_that_is_no_json_is_a_note(commands: Commands) -> None:
    commands.queue = "{"
    found = commands.slurm().own_jobs()
    assert found.jobs == ()


def test_versions() -> None:
    assert parse_version("slurm-wlm 22.05.8") == (22, 5)
    assert parse_version("slurm 24.05.0-rc1") == (24, 5)
    assert parse_version("nonsense") is parse_version(None) is None
