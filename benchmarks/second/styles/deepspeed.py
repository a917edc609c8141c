"""DeepSpeed's log."""

from __future__ import annotations

from ..job import Row
from .sheet import Sheet, as_file, clock, fixed


def deepspeed(sheet: Sheet) -> dict[str, str]:
    """Lines of its logger among plain prints."""
    lines, skipped = [], 0
    if sheet.has_config:
        lines.append(f"{head(sheet, 0, 'config.py:997:print')} DeepSpeedEngine configuration:")
        start = head(sheet, 0, "config.py:1001:print")
        for name, value in sheet.config.items():
            lines.append(f"{start}   {name} {'.' * max(2, 28 - len(name))} {value}")
    for row in sheet.rows:
        if row.kind == "overflow":
            skipped += 1
            lines.append(overflow(sheet, row))
        elif row.kind == "train":
            lines += step_lines(sheet, row, skipped)
        elif row.kind == "val":
            shown = ", ".join(f"{name}={fixed(value)}" for name, value in row.values.items())
            lines.append(f"***** Evaluation at step {row.step}: {shown} *****")
        elif row.kind == "resume":
            start = head(sheet, row.seconds, "torch_checkpoint_engine.py:27:load")
            place = f"ckpt/global_step{row.step}/mp_rank_00_model_states.pt"
            lines.append(f"{start} [Torch] Loading checkpoint from {place}...")
    return {"train.log": as_file(lines)}


def head(sheet: Sheet, seconds: float, place: str) -> str:
    """What its logger puts before a line."""
    return f"[{clock(sheet.at(seconds))}] [INFO] [{place}]"


def overflow(sheet: Sheet, row: Row) -> str:
    """A skipped step."""
    start = head(sheet, row.seconds, "loss_scaler.py:190:update_scale")
    before, after = row.values["from"], row.values["to"]
    scales = f"Attempted loss scale: {before:g}, reducing to {after:g}"
    return f"{start} [deepspeed] OVERFLOW! Rank 0 Skipping step. {scales}"


def step_lines(sheet: Sheet, row: Row, skipped: int) -> list[str]:
    """The two or three lines of a logged step."""
    values, took = sheet.columns(row), row.values["step_time"]
    start = head(sheet, row.seconds, "logging.py:96:log_dist")
    rate = f"lr=[{row.values['lr']:.6g}], mom=[(0.9, 0.999)]"
    said = f"{start} [Rank 0] step={row.step}, skipped={skipped}, {rate}"
    line = f"steps: {row.step} loss: {fixed(values['loss'])} iter time (s): {took:.3f}"
    line += f" samples/sec: {sheet.batch_size / took:.3f}"
    if "grad_norm" in values:
        line += f" grad_norm: {fixed(values['grad_norm'], 3)}"
    line += "".join(f" {name}: {fixed(value)}" for name, value in sheet.extras(row).items())
    if "mem" not in values:
        return [said, line]
    usual = sheet.batch_size / sheet.job.step_seconds
    speed = f"RunningAvgSamplesPerSec={usual:.4f}, CurrSamplesPerSec={sheet.batch_size / took:.4f}"
    memory = f"MemAllocated={values['mem']:.2f}GB, MaxMemAllocated={values['mem'] * 1.2:.2f}GB"
    start = head(sheet, row.seconds, "timer.py:260:stop")
    place = f"epoch=0/micro_step={row.step}/global_step={row.step}"
    return [said, line, f"{start} {place}, {speed}, {memory}"]
