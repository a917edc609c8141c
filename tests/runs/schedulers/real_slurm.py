"""A real Slurm on this machine alone: munged, slurmctld and slurmd, configured for the test.

Nothing of the system's Slurm or munge is read or written; the daemons run in the foreground as
children of the test and are ended by their process ids.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import require_programs
from tests.waiting import PATIENCE

_PLACES = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sacct")
_CONFIGURATION = """ClusterName=mltdtest
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.log
JobAcctGatherType=jobacct_gather/none
MailProg=/bin/true
ReturnToService=2
KillWait=1
DefMemPerCPU=16
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=32 RealMemory=64000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF
PartitionName=low Nodes={host} MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL
PartitionName=again Nodes={host} MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes={host} MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF
"""


@dataclass(frozen=True)
class RealSlurm:
    """A running cluster of one node; the memory is made up, so jobs may ask for much of it."""

    folder: Path
    host: str

    @property
    def configuration(self) -> Path:
        """For SLURM_CONF."""
        return self.folder / "slurm.conf"

    @property
    def jobs_folder(self) -> Path:
        """Work directory of the jobs."""
        return self.folder / "jobs"

    def call(self, *arguments: str) -> str:
        """The output of one of Slurm's commands; an error if it fails."""
        done = subprocess.run(
            arguments,
            env=_environment(self.folder),
            cwd=self.jobs_folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stderr or done.stdout}"
        return done.stdout

    def submit(self, script: str, *options: str) -> str:
        """Submit a shell script, and give its job's number."""
        return self.call("sbatch", "--parsable", *options, f"--wrap={script}").strip()

    def state(self, job_id: str) -> str:
        """What Slurm says itself, past everything that is tested."""
        return self.call("squeue", "--noheader", "--states=all", "-o", "%T", f"--jobs={job_id}")

    def wait_for(self, job_id: str, *states: str) -> None:
        """Wait until all that an id stands for is in one of the states."""
        deadline = time.monotonic() + PATIENCE
        while (now := self.state(job_id).split()) and not set(now) <= set(states):
            assert time.monotonic() < deadline, f"job {job_id} is {now}, not {states}"
            time.sleep(0.2)  # Slurm announces a change only to programs that an operator sets up

    @contextlib.contextmanager
    def failed_node(self) -> Iterator[None]:
        """Take the node down, with all that runs on it, and give it back."""
        self.call("scontrol", "update", f"nodename={self.host}", "state=down", "reason=test")
        yield
        deadline = time.monotonic() + PATIENCE
        while "down" in self.call("sinfo", "--noheader", "-o", "%T"):
            assert time.monotonic() < deadline
            with contextlib.suppress(AssertionError):  # it may have come back by itself meanwhile
                self.call("scontrol", "update", f"nodename={self.host}", "state=resume")


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    return {**kept, "PATH": _PLACES, "SLURM_CONF": str(folder / "slurm.conf"), "LC_ALL": "C"}


def _free_ports() -> list[int]:
    with socket.socket() as first, socket.socket() as second:
        for probe in (first, second):
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in (first, second)]


def _configure(folder: Path, host: str) -> None:
    for name in ("state", "spool", "jobs"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    text = _CONFIGURATION.format(folder=folder, host=host, ports=_free_ports())
    (folder / "slurm.conf").write_text(text)


def _start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    program = shutil.which(arguments[0], path=_PLACES)
    assert program is not None
    with (folder / f"{arguments[0]}.output").open("wb") as output:
        return subprocess.Popen(
            [program, *arguments[1:]],
            env=_environment(folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


def _ask(folder: Path, *words: str) -> str:
    return subprocess.run(
        words, env=_environment(folder), capture_output=True, text=True, check=False
    ).stdout


def _await(is_so: Callable[[], bool], daemons: list[subprocess.Popen[bytes]]) -> bool:
    """Ask until it is so; nothing announces that a daemon is ready or a node has registered."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > deadline or any(daemon.poll() is not None for daemon in daemons):
            return False
        time.sleep(0.1)
    return True


def _tell_why(folder: Path) -> None:
    said = [
        path.read_text(errors="replace")[-400:]
        for path in (*folder.glob("*.output"), *folder.glob("slurm*.log"))
    ]
    _give_up(f"Slurm does not start here: {said}")


def _give_up(reason: str) -> None:
    if os.environ.get("MLTD_REQUIRE_SERVICES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextlib.contextmanager
def running_slurm() -> Iterator[RealSlurm]:
    """Start Slurm with everything it needs in a folder of its own, and end it and its jobs."""
    require_programs(*PROGRAMS)
    if os.geteuid() != 0:
        _give_up("only root can start slurmd")
    # Not below pytest's folders: the socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="mltd-slurm-"))
    folder.chmod(0o755)  # munged wants others to reach its socket
    host = socket.gethostname().partition(".")[0]
    slurm = RealSlurm(folder, host)
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        _configure(folder, host)
        munge = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid",
                 "log-file": "munged.log", "seed-file": "munged.seed"}  # fmt: skip
        options = [f"--{name}={folder / file}" for name, file in munge.items()]
        daemons.append(_start(folder, "munged", "--foreground", "--force", *options))
        # Each needs the one before; a daemon that comes too early tries again after half a minute.
        _await((folder / "munge.socket").exists, daemons)
        daemons.append(_start(folder, "slurmctld", "-D", "-i"))
        _await(lambda: "is UP" in _ask(folder, "scontrol", "ping"), daemons)
        daemons.append(_start(folder, "slurmd", "-D"))
        if not _await(lambda: "idle" in _ask(folder, "sinfo", "-h", "-o", "%T").split(), daemons):
            _tell_why(folder)
        yield slurm
        _end_jobs(slurm)
    finally:
        for daemon in reversed(daemons):
            _end(daemon)
        shutil.rmtree(folder, ignore_errors=True)


def _end_jobs(slurm: RealSlurm) -> None:
    """Not left to the end of slurmd: it lets running jobs go on."""
    slurm.call("scancel", f"--user={os.geteuid()}")
    deadline = time.monotonic() + PATIENCE
    while slurm.call("squeue", "--noheader") and time.monotonic() < deadline:
        time.sleep(0.1)  # as in `wait_for`


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait(PATIENCE)


@pytest.fixture(scope="session")
def real_slurm() -> Iterator[RealSlurm]:
    """One cluster for all tests of this process."""
    with running_slurm() as slurm:
        yield slurm
