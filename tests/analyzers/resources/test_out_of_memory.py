"""cuda_oom, host_oom and disk_full: from the log's text to the cause and its fixes."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Basis, Severity
from mltd.analyzers.diagnosis import diagnose
from tests.analyzers.made import read_log

from .asking import causes, found

STEPS = "".join(f"step {n} loss {2.0 - n / 1000:.3f}\n" for n in range(1, 41))
FULL = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total "
    "capacity of 79.15 GiB of which 228.38 MiB is free. Including non-PyTorch memory, this "
    "process has 78.93 GiB memory in use. Of the allocated memory 76.28 GiB is allocated by "
    "PyTorch, and 500.00 MiB is reserved by PyTorch but unallocated."
)
PIECES = FULL.replace("76.28 GiB", "58.28 GiB").replace("500.00 MiB", "18.59 GiB")
OTHERS = FULL.replace("78.93 GiB", "8.38 GiB").replace("76.28 GiB", "7.50 GiB")


def traceback(message: str, function: str = "main", code: str = "out = model(x)") -> str:
    return (
        "Traceback (most recent call last):\n"
        f'  File "train.py", line 5, in {function}\n'
        f"    {code}\n"
        f"{message}\n"
    )


def test_a_full_device_is_critical_and_its_sizes_are_in_the_title() -> None:
    (finding,) = found(read_log(STEPS + traceback(FULL)), "cuda_oom")
    assert finding.severity is Severity.CRITICAL
    assert finding.first_step == 40
    assert "1 GiB" in finding.title
    assert "79.2 GiB" in finding.title
    assert finding.evidence[0].ref == "train.log:44"


@pytest.mark.parametrize(
    ("message", "best"),
    [(FULL, "batch_too_large"), (PIECES, "fragmentation"), (OTHERS, "device_shared")],
)
def test_the_arithmetic_of_the_message_names_the_cause(message: str, best: str) -> None:
    diagnosis = diagnose(read_log(STEPS + traceback(message)))
    first = diagnosis.root_causes[0]
    assert first.id == best
    assert first.basis is Basis.OBSERVATION
    assert first.confidence >= 0.8
    assert len(first.fixes) >= 3


def test_a_request_beyond_the_device_is_no_matter_of_the_batch() -> None:
    run = read_log(STEPS + traceback(FULL.replace("1.00 GiB.", "130212.00 GiB.")))
    (finding,) = found(run, "cuda_oom")
    assert finding.details["pattern"] == "absurd"
    weak = [c.confidence for c in diagnose(run).root_causes if c.id == "batch_too_large"]
    assert all(confidence < 0.2 for confidence in weak)


@pytest.mark.parametrize(
    ("function", "code", "phase"),
    [
        ("validate", "out = model(x)", "evaluation"),
        ("train", "optimizer.step()", "optimizer step"),
        ("train", "scaler.scale(loss).backward()", "backward pass"),
        ("train", "run(model, optimizer, loader)", ""),
    ],
)
def test_the_traceback_says_what_was_going_on(function: str, code: str, phase: str) -> None:
    run = read_log(STEPS + traceback(FULL, function, code))
    (finding,) = found(run, "cuda_oom")
    assert finding.details["phase"] == phase
    assert (phase in finding.title) if phase else ("after step 40" in finding.title)


def test_the_fix_halves_the_runs_own_batch() -> None:
    run = read_log(STEPS + traceback(FULL))
    run.add_config({"train": {"batch_size": 64, "gradient_accumulation_steps": 2}})
    fix = diagnose(run).root_causes[0].fixes[0]
    assert "batch_size 64 -> 32" in fix.change
    assert "gradient_accumulation_steps 2 -> 4" in fix.change


def test_an_oom_in_evaluation_is_fixed_in_evaluation_first() -> None:
    run = read_log(STEPS + traceback(FULL, "evaluate"))
    assert "without gradients" in diagnose(run).root_causes[0].fixes[0].change


def test_a_message_that_was_overcome_is_information() -> None:
    text = STEPS.replace("step 20 ", "| WARNING: ran out of memory, retrying batch\nstep 20 ")
    (finding,) = found(read_log(text), "cuda_oom")
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize("message", [FULL, "MemoryError: Unable to allocate 9.9 GiB for an array"])
def test_what_ended_an_earlier_attempt_is_a_warning(message: str) -> None:
    text = STEPS + traceback(message) + "***** Running training *****\n"
    identity = "cuda_oom" if message is FULL else "host_oom"
    (finding,) = found(read_log(text), identity)
    assert finding.severity is Severity.WARNING
    assert "earlier attempt" in finding.title


def test_an_oom_that_another_error_followed_is_still_one() -> None:
    text = (
        STEPS
        + traceback(FULL)
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + traceback("ValueError: cannot recover", "recover", "raise ValueError")
    )
    assert found(read_log(text), "cuda_oom")


@pytest.mark.parametrize(
    "line",
    [
        "slurmstepd: error: Detected 1 oom_kill event in StepId=3801897.batch. Some of the step "
        "tasks have been OOM Killed.",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=14604003.0 cgroup. Some of your "
        "processes may have been killed by the cgroup out-of-memory handler.",
        "srun: error: o0616: task 0: Out Of Memory",
        "Memory cgroup out of memory: Killed process 1234 (python) total-vm:1kB, anon-rss:1kB",
    ],
)
def test_what_the_system_says_is_the_cause(line: str) -> None:
    diagnosis = diagnose(read_log(f"{STEPS}{line}\n"))
    assert [f.id for f in diagnosis.findings if f.is_alarm and f.id.endswith("oom")] == ["host_oom"]
    assert diagnosis.root_causes[0].id == "host_memory_limit"
    assert diagnosis.status == "diagnosis_complete"


@pytest.mark.parametrize(
    "line",
    ["Killed", "command terminated with exit code 137", "srun: error: n3: tasks 5-7: Killed"],
)
def test_a_bare_kill_is_a_suspicion_with_a_question(line: str) -> None:
    run = read_log(f"{STEPS}{line}\n")
    (finding,) = found(run, "host_oom")
    assert finding.basis is Basis.INFERENCE
    assert finding.confidence <= 0.6
    diagnosis = diagnose(run)
    assert diagnosis.status == "needs_more_data"
    assert any("sacct" in request for request in diagnosis.requests)


@pytest.mark.parametrize(
    "before",
    [
        traceback("ValueError: bad shape"),
        "slurmstepd: error: *** JOB 4 ON n2 CANCELLED AT 2022-04-14T16:20:46 DUE TO TIME LIMIT "
        "***\n",
    ],
)
def test_a_kill_that_something_else_explains_is_not_a_matter_of_memory(before: str) -> None:
    assert not found(read_log(f"{STEPS}{before}Killed\n"), "host_oom")


def test_a_killed_worker_is_host_memory_most_likely() -> None:
    run = read_log(
        STEPS + traceback("RuntimeError: DataLoader worker (pid 9) is killed by signal: Killed.")
    )
    (finding,) = found(run, "host_oom")
    assert finding.basis is Basis.RESEARCH
    assert causes(run)[0] == "host_memory_limit"


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("OSError: [Errno 28] No space left on device", "disk"),
        ("OSError: [Errno 122] Disk quota exceeded: '/home/u/ckpt'", "quota"),
        (
            "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 122, "
            'kind: FilesystemQuotaExceeded, message: "Disk quota exceeded" })',
            "quota",
        ),
        ("OSError: [Errno 28] No space left on device: '/dev/shm/torch_1'", "shm"),
    ],
)
def test_what_is_full(message: str, place: str) -> None:
    run = read_log(STEPS + traceback(message, "save", "torch.save(state, path)"))
    (finding,) = found(run, "disk_full")
    assert finding.details["place"] == place
    assert finding.severity is Severity.CRITICAL
    assert causes(run)[0] == ("host_memory_limit" if place == "shm" else "disk_quota")


def test_a_semaphore_is_made_in_shared_memory() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3.9/multiprocessing/queues.py", line 336, in __init__\n'
        "    self._rlock = ctx.Lock()\n"
        "OSError: [Errno 28] No space left on device\n"
    )
    (finding,) = found(read_log(text), "disk_full")
    assert finding.details["place"] == "shm"
    assert "not the disk" in finding.title


def test_a_failed_save_that_the_run_survived_is_a_warning() -> None:
    text = STEPS.replace(
        "step 20 ", "cp: error writing 'ckpt.pt': No space left on device\nstep 20 "
    )
    (finding,) = found(read_log(text), "disk_full")
    assert finding.severity is Severity.WARNING


def test_an_ordinary_training_has_none_of_it() -> None:
    diagnosis = diagnose(read_log(STEPS))
    ids = {"cuda_oom", "host_oom", "disk_full", "stall", "memory_growth", "throughput_drop"}
    assert not ids & {finding.id for finding in diagnosis.findings}


WORKER = "RuntimeError: DataLoader worker (pid(s) 51877) exited unexpectedly\n"


def test_a_worker_that_is_gone_in_the_middle_of_a_training_was_killed_for_memory() -> None:
    trained = "".join(f"step {n} loss {3 - n / 100:.3f}\n" for n in range(90))
    assert diagnose(read_log(trained + WORKER)).root_causes[0].id == "host_memory_limit"
    begun = diagnose(read_log("step 0 loss 3.0\n" + WORKER)).root_causes
    assert "host_memory_limit" not in [cause.id for cause in begun]
