"""What holds for all of the family: real logs, complete fixes, any text, growing logs."""

from __future__ import annotations

import cProfile
import inspect
import pstats
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.analyzers.core.registry import registry
from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import Diagnostician, diagnose, examine
from mltd.analyzers.distributed.collectives import timeouts
from mltd.analyzers.distributed.dask_workers import workers
from mltd.analyzers.distributed.reports import reports
from mltd.analyzers.distributed.verdicts import statements, verdict
from mltd.runs.ingest import FileFeed
from mltd.runs.run import Run
from tests.analyzers.distributed.test_ended_from_outside import SAID
from tests.analyzers.distributed.told import OURS, STEPS, alarms, tell
from tests.analyzers.made import read_log
from tests.runs.formats.corpus import corpus_entries
from tests.runs.test_corpus import read_entry

REAL = {
    "megatron/slurm-timelimit-n64.out": {"slurm_timeout"},
    "slurm/lightning-timelimit.err": {"slurm_timeout"},
    "megatron/slurm-cancelled-n8.out": {"slurm_cancelled"},
    "slurm/tqdm-only-cancelled.out": {"slurm_cancelled"},
    "lsf/killed-by-owner.md": {"slurm_cancelled"},
    "torchtitan/illegal-access-childfailed.log": {"rank_failure"},
    "torchtitan/nccl-invalid-usage.log": {"rank_failure"},
    "nanogpt/nanogpt-torchrun-sigterm.txt": {"slurm_cancelled", "rank_failure"},
}
DANGEROUS = ("rm -", "kill -", "killall", "pkill", "chmod", "sudo", "unlink", "shutil.rmtree")


@pytest.mark.parametrize("entry", [e for e in corpus_entries() if e.id == "absent" or e.id in REAL])
def test_real_logs_get_what_they_show_and_nothing_else(entry: dict[str, Any]) -> None:
    run = read_entry(entry)
    run.is_over = True
    assert alarms(diagnose(run)) == REAL[entry["file"]]


@pytest.mark.parametrize("line", [lines[0] for lines in SAID.values()])
def test_fixes_are_several_and_touch_no_state(line: str) -> None:
    for root in tell(line).root_causes:
        assert len(root.fixes) >= 3
        assert root.requests
        for fix in root.fixes:
            assert not any(words in f"{fix.change} {fix.example}" for words in DANGEROUS)


PIECES = [line for lines in SAID.values() for line in lines] + [
    "Traceback (most recent call last):",
    "ValueError: x",
    "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE)",
    "srun: error: n3: task 5: Exited with exit code 1",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
    "wandb: wandb sync offline-run-1",
    "step nan | loss nan",
    "step 7 | loss 1e308",
    "",
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=80), max_size=12))
def test_no_mixture_of_messages_breaks_anything(lines: list[str]) -> None:
    run = read_log("\n".join(lines) + "\n")
    assert diagnose(run).problems == ()


def test_healthy_points_after_a_message_never_raise_a_confidence() -> None:
    run = Run("grows")
    run.is_over = True
    feed = FileFeed(run, "train.log")
    feed.feed((STEPS + SAID["slurm_preempted"][0] + "\n").encode())
    follower = Diagnostician(run)
    before = {f.id: (f.severity.rank, f.confidence) for f in follower.diagnose().findings}
    assert before["slurm_preempted"][0] > 0
    more = "".join(f"step {step} | loss 0.5 | lr 1e-4\n" for step in range(40, 60))
    feed.feed(more.encode(), final=True)
    after = {f.id: (f.severity.rank, f.confidence) for f in follower.diagnose().findings}
    assert after["slurm_preempted"][0] == 0
    assert all(after[i] <= before[i] for i in OURS & after.keys() & before.keys())


def test_what_takes_long_in_thousands_of_messages_is_worked_out_once() -> None:
    # Names differ, so that nothing is counted as a repetition.
    names = ["".join(chr(97 + n // 26**k % 26) for k in range(3)) for n in range(3000)]
    text = "".join(f"srun: error: n{name}: task {name}: failed for {name}\n" for name in names)
    run = read_log(STEPS + text)
    view = RunView(run)
    ours = [part for part in registry().analyzers.values() if part.id in OURS]
    failed: list[str] = []
    profile = cProfile.Profile()
    profile.runcall(examine, view, ours, failed)
    assert failed == []
    calls = {
        place: figures[1]
        for place, figures in pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    }
    for question in (timeouts, workers, reports, statements, verdict):
        # The question itself, below what remembers its answer.
        code = inspect.unwrap(question).__code__
        assert calls[code.co_filename, code.co_firstlineno, code.co_name] == 1, code.co_name


def test_every_id_of_the_family_is_registered() -> None:
    assert registry().analyzers.keys() >= OURS
