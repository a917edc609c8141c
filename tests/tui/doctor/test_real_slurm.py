"""A real Slurm controller: up, stopped in its tracks, and down."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.tui.doctor.areas import slurm
from mltd.tui.doctor.line import State
from mltd.tui.doctor.surroundings import Surroundings
from tests.conftest import RequireService

from .scene import SYSTEM, only

PLACES = f"{SYSTEM}:/usr/sbin:/sbin"
PATIENCE = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def started(*words: str) -> subprocess.Popen[bytes]:
    path = shutil.which(words[0], path=PLACES)
    assert path is not None
    quiet = subprocess.DEVNULL
    return subprocess.Popen([path, *words[1:]], stdin=quiet, stdout=quiet, stderr=quiet)


def configuration(folder: Path) -> Path:
    host = socket.gethostname().partition(".")[0]
    path = folder / "slurm.conf"
    path.write_text(
        f"""ClusterName=doctor
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser={getpass.getuser()}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=1
PartitionName=all Nodes={host} Default=YES
"""
    )
    return path


@pytest.fixture
def controller(
    tmp_path: Path, require_service: RequireService
) -> Iterator[tuple[subprocess.Popen[bytes], Surroundings]]:
    """A controller of our own, without nodes that live, ended with its munged."""
    require_service("munged", "slurmctld", "squeue", "scontrol", "sacct")
    (tmp_path / "munge").mkdir(mode=0o700)
    (tmp_path / "state").mkdir()
    key = tmp_path / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    parts = {"socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    options = [f"--{option}={tmp_path}/munge/{name}" for option, name in parts.items()]
    config = configuration(tmp_path)
    munge = started("munged", "--force", "--foreground", f"--key-file={key}", *options)
    control = None
    try:
        await_(lambda: (tmp_path / "munge" / "socket").exists())
        control = started("slurmctld", "-D", "-i", "-f", str(config))
        around = Surroundings({"PATH": PLACES, "SLURM_CONF": str(config)}, patience=5)
        await_(lambda: around.ask("scontrol", "ping").is_good)
        yield control, around
    finally:
        for process in filter(None, (control, munge)):
            process.kill()
            process.wait()


def await_(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)  # daemons do not tell when they are ready


def test_a_controller_that_is_up_hangs_or_is_gone(
    controller: tuple[subprocess.Popen[bytes], Surroundings],
) -> None:
    process, around = controller
    lines = [line for check in slurm.CHECKS for line in check.look(around)]
    assert {line.state for line in lines} == {State.OK}
    assert "version " in lines[0].fact
    assert "0 jobs of yours" in lines[1].fact
    assert "the controller is up" in lines[2].fact
    assert "no accounting here" in lines[3].fact

    hasty = Surroundings(around.environment, patience=0.5)
    process.send_signal(signal.SIGSTOP)
    line = only(slurm.queue(hasty))
    assert line.state is State.WARNING
    assert "does not answer within 0.5 s" in line.fact

    process.kill()
    process.wait()
    line = only(slurm.controller(around))
    assert line.state is State.WARNING
    assert "the controller is down" in line.fact
