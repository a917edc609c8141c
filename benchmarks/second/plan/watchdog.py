"""What torch's watchdog and torchrun print when a collective times out."""

from __future__ import annotations

WORK = (
    "WorkNCCL(SeqNum={sequence}, OpType=ALLREDUCE, NumelIn=27744, NumelOut=27744, "
    "Timeout(ms)=600000) ran for 600043 milliseconds before timing out."
)
GROUP = "[PG ID 0 PG GUID 0(default_pg) Rank {rank}]"
CAUGHT = f"Watchdog caught collective operation timeout: {WORK}"
ENDED = f"{GROUP} Process group watchdog thread terminated with exception: [Rank {{rank}}] {CAUGHT}"
STATUS = "PG status: last enqueued work: {sequence}, last completed work: {before}"
TEXT = f"""\
{{head}}632] {GROUP} {CAUGHT}
{{head}}2268] {GROUP} failure detected by watchdog at work sequence id: {{sequence}} {STATUS}
{{head}}683] [Rank {{rank}}] Some NCCL operations have failed or timed out. Due to the \
asynchronous nature of CUDA kernels, subsequent GPU operations might run on \
corrupted/incomplete data.
{{head}}697] [Rank {{rank}}] To avoid data inconsistency, we are taking the entire process down.
{{head}}1901] {ENDED}
terminate called after throwing an instance of 'c10::DistBackendError'
  what():  {ENDED}
E{{stamp}} 20411 site-packages/torch/distributed/elastic/multiprocessing/api.py:882] failed \
(exitcode: -6) local_rank: {{rank}} (pid: 20455) of binary: /opt/conda/bin/python
Traceback (most recent call last):
  File "/opt/conda/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/conda/lib/python3.11/site-packages/torch/distributed/run.py", line 918, in main
    run(args)
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\x20
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : {{end}}
  host      : gpu041
  rank      : {{rank}} (local_rank: {{rank}})
  exitcode  : -6 (pid: 20455)
  error_file: <N/A>
  traceback : Signal 6 (SIGABRT) received by PID 20455
============================================================
"""


def watchdog_text(rank: int, sequence: int) -> str:
    """The text with the job's times still open."""
    return TEXT.format(
        head=f"[rank{rank}]:[E{{stamp}}000 ProcessGroupNCCL.cpp:",
        rank=rank,
        sequence=sequence,
        before=sequence - 1,
        stamp="{stamp}",
        end="{end}",
    )
