"""What Slurm's commands print, in the shapes of several versions."""

from __future__ import annotations

import json
from typing import Any

Document = dict[str, Any]


def unset() -> Document:
    return {"set": False, "infinite": False, "number": 0}


def number(value: int) -> Document:
    return {"set": True, "infinite": False, "number": value}


INFINITE = {"set": True, "infinite": True, "number": 0}

PLAIN: Document = {
    "job_id": 48213, "name": "train", "user_name": "anna", "partition": "gpu",
    "command": "/home/anna/run.sh", "current_working_directory": "/home/anna/exp",
    "nodes": "gpu[03-04]", "batch_host": "gpu03", "batch_flag": True, "restart_cnt": 0,
    "state_reason": "None", "array_task_string": "", "tres_req_str": "cpu=8,mem=64G,node=2",
}  # fmt: skip

V0038: Document = {
    **PLAIN, "array_job_id": 0, "array_task_id": None, "het_job_id": 0, "het_job_offset": 0,
    "job_state": "RUNNING", "exit_code": 0, "time_limit": 60, "node_count": 2,
    "submit_time": 1794851000, "start_time": 1794851600, "end_time": 1794855200,
    "suspend_time": 0, "pre_sus_time": 0, "standard_output": "", "standard_error": "",
    "memory_per_node": 32768, "memory_per_cpu": None, "tres_alloc_str": "cpu=8,mem=64G,node=2",
}  # fmt: skip
"""21.08 and 22.05: plain numbers, the default output left empty."""

V0039: Document = {
    **V0038, "array_job_id": number(0), "array_task_id": unset(), "het_job_id": number(0),
    "het_job_offset": number(0), "time_limit": number(60), "node_count": number(2),
    "memory_per_node": number(32768), "memory_per_cpu": unset(),
    "standard_output": "/home/anna/exp/slurm-48213.out",
    "standard_error": "/home/anna/exp/slurm-48213.out",
}  # fmt: skip
"""23.02: numbers that may be unset or infinite; times and exit codes still plain."""

V0040: Document = {
    **V0039, "job_state": ["RUNNING"],
    "submit_time": number(1794851000), "start_time": number(1794851600),
    "end_time": number(1794855200), "suspend_time": number(0), "pre_sus_time": number(0),
    "exit_code": {"status": ["SUCCESS"], "return_code": number(0),
                  "signal": {"id": unset(), "name": ""}},
}  # fmt: skip
"""23.11 to 24.11: also times are such numbers, states are a list, exit codes are taken apart."""

V0043: Document = {
    **V0040, "standard_output": "out/%x-%j.txt", "standard_error": "",
    "stdout_expanded": "/home/anna/exp/out/train-48213.txt",
    "stderr_expanded": "/home/anna/exp/out/train-48213.txt",
}  # fmt: skip
"""25.05: patterns and what they stand for, one beside the other."""

BY_VERSION = {"22.05": V0038, "23.02": V0039, "23.11": V0040, "24.05": V0040, "25.05": V0043}


def exited(code: int, signal: int = 0) -> Document:
    status = "SIGNALED" if signal else "ERROR" if code else "SUCCESS"
    sent = {"id": number(signal) if signal else unset(), "name": ""}
    return {"status": [status], "return_code": number(code), "signal": sent}


def answer(*jobs: Document) -> str:
    meta = {"slurm": {"release": "23.11.4"}}
    return json.dumps({"jobs": list(jobs), "meta": meta, "errors": [], "warnings": []})


SCONTROL_22 = (
    "JobId=48213 JobName=lr=0.1 bs 64 UserId=anna(1001) GroupId=ml(500) MCS_label=N/A "
    "Priority=4294901757 Nice=0 Account=(null) QOS=(null) JobState=TIMEOUT Reason=TimeLimit "
    "Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:15 RunTime=01:00:12 "
    "TimeLimit=01:00:00 TimeMin=N/A SubmitTime=1794851000 EligibleTime=1794851000 "
    "AccrueTime=1794851000 StartTime=1794851600 EndTime=1794855212 Deadline=N/A SuspendTime=None "
    "SecsPreSuspend=0 LastSchedEval=1794851600 Scheduler=Main Partition=gpu "
    "AllocNode:Sid=login1:12294 ReqNodeList=(null) ExcNodeList=(null) NodeList=gpu[03-04] "
    "BatchHost=gpu03 NumNodes=2 NumCPUs=8 NumTasks=2 CPUs/Task=4 ReqB:S:C:T=0:0:*:* "
    "TRES=cpu=8,mem=64G,node=2,billing=8 Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=* "
    "MinCPUsNode=4 MinMemoryNode=32G MinTmpDiskNode=0 Features=(null) DelayBoot=00:00:00 "
    "OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) Command=/home/anna/run me.sh "
    "WorkDir=/home/anna/my exp StdErr=/home/anna/my exp/%5j.err StdIn=/dev/null "
    "StdOut=/home/anna/my exp/log-%N.out Power= \n"
)
SCONTROL_24 = (
    "JobId=48220 ArrayJobId=48213 ArrayTaskId=7 ArrayTaskThrottle=4 JobName=sweep "
    "UserId=anna(1001) GroupId=ml(500) MCS_label=N/A Priority=10 Nice=0 Account=ml QOS=normal "
    "WCKey=* JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 "
    "Reboot=0 ExitCode=0:0 RunTime=1-00:00:05 TimeLimit=UNLIMITED TimeMin=N/A "
    "SubmitTime=2026-11-16T17:59:57 EligibleTime=2026-11-16T17:59:57 StartTime=2026-11-16T18:00:00 "
    "EndTime=Unknown Deadline=N/A Partition=gpu NodeList=gpu03 BatchHost=gpu03 StepMgrEnabled=Yes "
    "NumNodes=1 NumCPUs=4 NumTasks=1 CPUs/Task=4 ReqTRES=cpu=4,mem=16000M,node=1 "
    "AllocTRES=cpu=4,mem=16G,node=1,gres/gpu=1 MinMemoryCPU=4G Features=(null) "
    "Command=/home/anna/run.sh SubmitLine=sbatch -a 1-9 run.sh WorkDir=/home/anna/exp "
    "StdErr=/home/anna/exp/slurm-48213_7.out StdIn=/dev/null "
    "StdOut=/home/anna/exp/slurm-48213_7.out TresPerNode=gres/gpu:1\n"
)
SCONTROL_PENDING_ARRAY = (
    "JobId=48213 ArrayJobId=48213 ArrayTaskId=1-10%4 ArrayTaskThrottle=4 JobName=sweep "
    "UserId=anna(1001) JobState=PENDING Reason=JobArrayTaskLimit BatchFlag=1 ExitCode=0:0 "
    "RunTime=00:00:00 TimeLimit=00:10:00 StartTime=Unknown EndTime=Unknown NodeList= NumNodes=1-1 "
    "WorkDir=/home/anna/exp StdErr=/home/anna/exp/slurm-48213_4294967294.out StdIn=/dev/null "
    "StdOut=/home/anna/exp/slurm-48213_4294967294.out Power= \n"
)
