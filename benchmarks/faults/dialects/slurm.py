"""What a batch job leaves: standard output and error in two files, lines marked by rank."""

from __future__ import annotations

from ..voice import Log
from .shared import Clock, config_files, config_head, ordered, shown


def write_slurm(log: Log) -> dict[str, str]:
    """Rank prefixes where entries carry ranks, else rank 0 speaks alone."""
    voice, clock = log.voice, Clock(log)
    job = 480000 + sum(map(ord, log.run_id)) % 9000
    out = [f"Job {job} on node{job % 17:02d}, partition gpu", *config_head(log), *log.preamble]
    for entry in log.entries:
        now = clock.tick(entry)
        mark = f"[rank{entry.rank or 0}]: "
        if entry.values:
            parts = [
                f"{voice.name(one)}: {shown(one, entry.values[one], voice)}"
                for one in ordered(entry)
            ]
            word = "eval" if entry.kind == "eval" else "train"
            axis = "epoch" if voice.per_epoch else "step"
            out.append(
                f"{mark}[{now:%H:%M:%S}] {word} {axis} {entry.step}/{log.total} " + " ".join(parts)
            )
        elif entry.kind != "stderr":
            out.append(mark + entry.text)
    if log.is_finished:
        out.append("[rank0]: training finished, exit code 0")
    err = log.stderr + [one.text for one in log.entries if one.kind == "stderr"]
    return {
        f"slurm-{job}.out": "\n".join(out) + "\n",
        f"slurm-{job}.err": "".join(f"{line}\n" for line in err),
        **config_files(log),
    }
