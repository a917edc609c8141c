"""Small files of every structured format, built from scratch."""

from __future__ import annotations

import json
import struct
import zlib

from mltd.runs.formats.tfrecord import frame
from tests.runs.formats.reading import float_field, message

TABLE = (
    b"# made by a trainer\n"
    b"epoch,step,train_loss,val_loss,note\r\n"
    b"0,10,2.5,,warm up\n"
    b'0,20,"2.25",nan,"two\nlines, one cell"\n'
    b"\n"
    b"1,30,,inf,\n"
    b"epoch,step,train_loss,lr\n"
    b"0,10,1.5,1e-3\n"
    b"0,20,1.25,-0.0"
)


def summary(tag: str, value: float) -> bytes:
    return message((1, message((1, tag)) + float_field(2, value)))


def event(wall_time: float, step: int, *summaries: bytes) -> bytes:
    return message((1, wall_time), (2, step), (5, b"".join(summaries)))


EVENTS = b"".join(
    frame(record)
    for record in (
        message((1, 1.7e9), (3, "brain.Event:2")),
        event(1.7e9 + 1, 1, summary("loss", 2.5)),
        event(1.7e9 + 2, 2, summary("loss", 1.25), summary("acc", 0.5)),
        message((1, 1.7e9 + 3), (2, 300), (5, summary("epoch", 1.0))),
    )
)


def wandb_file(records: list[bytes], block: int = 32768) -> bytes:
    """Records as W&B's log writes them, cut into fragments at block edges."""
    out = b":W&B" + struct.pack("<HB", 0xBEE1, 0)
    for record in records:
        rest, is_first = record, True
        while True:
            room = block - len(out) % block
            if room < 7:
                out += bytes(room)
                continue
            part, rest = rest[: room - 7], rest[room - 7 :]
            kind = {(True, True): 1, (True, False): 2, (False, False): 3, (False, True): 4}[
                is_first, not rest
            ]
            crc = zlib.crc32(part, zlib.crc32(bytes([kind])))
            out += struct.pack("<IHB", crc, len(part), kind) + part
            is_first = False
            if not rest:
                break
    return out


def wandb_item(key: str, value: str, *nested: str) -> bytes:
    names = [(2, part) for part in nested] if nested else [(1, key)]
    return message((1, message(*names, (16, value))))


def wandb_history(step: int, *items: bytes) -> bytes:
    return message((2, b"".join(items) + message((2, message((1, step))))))


WANDB = wandb_file(
    [
        message((21, b"")),
        message((17, message((1, "abc123"), (4, wandb_item("lr", "0.1"))))),
        wandb_history(0, wandb_item("loss", "2.5"), wandb_item("_timestamp", "1700000000.5")),
        message((5, wandb_item("batch_size", "32"))),
        wandb_history(1, wandb_item("loss", "NaN"), wandb_item("", "0.5", "val", "acc")),
        wandb_history(2, wandb_item("text", json.dumps("x" * 70_000)), wandb_item("loss", "1.5")),
        message((18, message((1, 1)))),
    ]
)

METRIC = b"1643816703036 2.8 0\n1643816704118 nan 1\n1643816705118 1.0 2"

META = (
    b"artifact_uri: file:///runs/0/abc/artifacts\nend_time: null\nexperiment_id: '0'\n"
    b"lifecycle_stage: active\nrun_id: abc\nrun_name: fine-tune\nstatus: 4\nuser_id: me\n"
)

TRAINER_STATE = json.dumps(
    {
        "best_metric": None,
        "epoch": 1.0,
        "global_step": 20,
        "log_history": [
            {"epoch": 0.5, "loss": 2.5, "learning_rate": 1e-4, "step": 10},
            {"epoch": 1.0, "loss": float("nan"), "step": 20},
            {"epoch": 1.0, "eval_loss": 2.0, "step": 20},
        ],
        "max_steps": 40,
        "num_train_epochs": 2,
        "stateful_callbacks": {"a": [{"b": 1}]},
    },
    indent=2,
).encode()
