"""Slurm: commands that answer, fail, hang or are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.tui.doctor.areas import slurm
from mltd.tui.doctor.line import Line, State
from mltd.tui.doctor.surroundings import Surroundings
from tests.late_programs import await_beginning

from .scene import only, program, states

VERSION = 'case "$*" in --version) echo slurm-wlm 22.05.8; exit;; esac\n'
QUEUE = VERSION + "echo 48213; echo 48214_[1-9]"
PING = VERSION + "echo 'Slurmctld(primary) at head is UP'"
DOWN = VERSION + "echo 'Slurmctld(primary) at head is DOWN'; exit 1"
NO_ACCOUNTING = VERSION + "echo 'Slurm accounting storage is disabled' >&2; exit 1"
NOT_SET_UP = (
    "echo 'squeue: error: fetch_config: DNS SRV lookup failed' >&2;"
    "echo 'squeue: fatal: Could not establish a configuration source' >&2; exit 1"
)


def around(folder: Path, *, patience: float = 20, **environment: str) -> Surroundings:
    """Only what the test has put there: a machine may have a Slurm of its own."""
    tools = folder.parent / f"{folder.name}-tools"
    if not tools.exists():
        tools.mkdir()
        for name in ("sh", "sleep"):
            (tools / name).symlink_to(f"/bin/{name}")
    return Surroundings({"PATH": f"{folder}:{tools}", **environment}, patience=patience)


def everything(here: Surroundings) -> list[Line]:
    return [line for check in slurm.CHECKS for line in check.look(here)]


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def test_a_machine_without_slurm_is_fine_unless_it_is_a_cluster(bin_: Path) -> None:
    line = only(everything(around(bin_)))
    assert line.state is State.OK
    assert only(everything(around(bin_, SLURM_CONF="/etc/x"))).state is State.WARNING


def test_all_is_well(bin_: Path) -> None:
    for name, script in (("squeue", QUEUE), ("scontrol", PING), ("sacct", VERSION)):
        program(bin_, name, script)
    lines = everything(around(bin_))
    assert set(states(lines)) == {State.OK}
    assert [line.fact for line in lines] == [
        "squeue, scontrol, sacct: version 22.05.8",
        "squeue answers: 2 jobs of yours",
        "scontrol answers: the controller is up",
        "sacct answers: accounting is there",
    ]


def test_each_missing_command_is_named_with_what_it_costs(bin_: Path) -> None:
    program(bin_, "squeue", QUEUE)
    lines = everything(around(bin_))
    warnings = [line.fact for line in lines if line.state is State.WARNING]
    assert warnings == [
        "no scontrol in PATH: the logs of a job cannot be looked up",
        "no sacct in PATH: how finished jobs ended is not known",
    ]


@pytest.mark.parametrize("name", slurm.PROGRAMS)
def test_a_command_that_hangs_is_named(bin_: Path, name: str) -> None:
    program(bin_, name, "sleep 60")
    look = {"squeue": slurm.queue, "scontrol": slurm.controller, "sacct": slurm.accounting}[name]
    line = only(look(around(bin_, patience=0.3)))
    assert line.state is State.WARNING
    assert line.fact.startswith(f"{name} does not answer within 0.3 s")


def test_a_command_that_fails_says_why_in_its_last_words(bin_: Path) -> None:
    program(bin_, "squeue", "echo 'squeue: error: Unable to contact controller' >&2; exit 1")
    line = only(slurm.queue(around(bin_)))
    assert line.fact == "squeue fails (Unable to contact controller): jobs cannot be listed"


def test_a_controller_that_is_down_is_not_our_problem(bin_: Path) -> None:
    program(bin_, "scontrol", DOWN)
    line = only(slurm.controller(around(bin_)))
    assert line.state is State.WARNING
    assert "the controller is down" in line.fact


def test_no_accounting_is_a_fact_not_a_fault(bin_: Path) -> None:
    program(bin_, "sacct", NO_ACCOUNTING)
    line = only(slurm.accounting(around(bin_)))
    assert line.state is State.OK
    assert "no accounting here" in line.fact


def test_a_slurm_that_is_not_set_up_is_told_once(bin_: Path) -> None:
    for name in slurm.PROGRAMS:
        program(bin_, name, NOT_SET_UP)
    line = only(everything(around(bin_)))
    assert line.state is State.WARNING
    assert line.fact.endswith("not set up: Could not establish a configuration source")
    assert "SLURM_CONF" in line.advice


def test_a_slurm_that_waits_for_its_configuration_is_told_from_one_that_is_slow(
    bin_: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "squeue: error: s_p_parse_file: unable to status file /x, retrying up to 60sec"
    noted = tmp_path / "said"
    program(bin_, "squeue", f"echo '{said}' >&2; echo yes > {noted}; sleep 60")
    await_beginning(monkeypatch, noted)
    line = only(slurm.queue(around(bin_, patience=0.3)))
    assert "not set up: s_p_parse_file: unable to status file /x" in line.fact


def test_nothing_is_asked_that_could_change_a_job(bin_: Path, tmp_path: Path) -> None:
    noted = tmp_path / "asked"
    for name in slurm.PROGRAMS:
        program(bin_, name, f'echo "{name} $*" >> {noted}')
    everything(around(bin_))
    asked = {" ".join(line.split()[:2]) for line in noted.read_text().splitlines()}
    assert asked == {"squeue --version", "squeue -h", "scontrol ping", "sacct -n"}
