"""A Slurm job's two files, with the lines of all ranks."""

from __future__ import annotations

from ..job import Row
from .sheet import Sheet, as_file, fixed

RANKS_PER_NODE = 4
WARNING = (
    "/opt/conda/lib/python3.11/site-packages/torch/utils/data/dataloader.py:627: UserWarning: "
    "This DataLoader will create 8 worker processes in total. Our suggested max number of worker "
    "in current system is 4, which is smaller than what this DataLoader is going to create.\n"
    "  warnings.warn(\n"
)


def slurm(sheet: Sheet) -> dict[str, str]:
    """Standard output and standard error."""
    job, ranks = sheet.config["job_id"], max(2, sheet.job.ranks)
    lines = [
        f"SLURM_JOB_ID={job}",
        f"Job started on {sheet.start:%a %b %d %H:%M:%S %Z%Y}",
        *(f"[rank {rank}] {node(rank)} initialised, world size {ranks}" for rank in range(ranks)),
    ]
    if sheet.has_config:
        shown = ", ".join(f"{name}={value!r}" for name, value in sheet.config.items())
        lines.append(f"Namespace({shown})")
    for row in sheet.rows:
        now = f"{sheet.at(row.seconds):%H:%M:%S}"
        if row.kind == "train":
            lines += step_lines(sheet, row, now)
        elif row.kind == "val":
            shown = " ".join(f"{name} {fixed(value)}" for name, value in row.values.items())
            lines.append(f"[rank 0] {now} validation step {row.step}: {shown}")
        elif row.kind == "resume":
            lines.append(f"[rank 0] {now} resumed from checkpoint step {row.step}")
    if sheet.is_finished:
        lines.append("[rank 0] training finished")
    return {f"slurm-{job}.out": as_file(lines), f"slurm-{job}.err": WARNING}


def node(rank: int) -> str:
    """Where a rank runs."""
    return f"gpu{41 + rank // RANKS_PER_NODE:03d}"


def step_lines(sheet: Sheet, row: Row, now: str) -> list[str]:
    """A line of every rank that is logged; the first one tells the values."""
    values, lines = sheet.columns(row), []
    memory = f" mem {values['mem']:.2f}G" if "mem" in values else ""
    for rank, seconds in enumerate(sheet.rank_seconds(row) or [row.values["step_time"]]):
        line = f"[rank {rank}] {now} step {row.step}/{sheet.job.steps}"
        if rank == 0:
            line += f" loss {fixed(values['loss'])}"
            line += f" lr {values['lr']:.3g}" if "lr" in values else ""
            line += f" gnorm {fixed(values['grad_norm'], 3)}" if "grad_norm" in values else ""
            extras = sheet.extras(row).items()
            line += "".join(f" {name} {fixed(value)}" for name, value in extras)
        lines.append(f"{line} compute {seconds * 1000:.1f} ms{memory}")
    return lines
