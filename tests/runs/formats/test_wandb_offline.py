"""W&B's binary run files: history, config, exit, fragments and damage."""

from __future__ import annotations

import json
import math

from mltd.runs.event import EventKind
from mltd.runs.formats.wandb_offline import WandbFormat, WandbReader
from tests.runs.formats.reading import axis, feed_whole, message, values
from tests.runs.formats.samples import (
    WANDB,
    wandb_file,
    wandb_history,
    wandb_item,
)


def test_history_config_and_exit() -> None:
    harvest = feed_whole(WandbReader(), WANDB)
    loss = values(harvest, "loss")
    assert loss[0] == 2.5
    assert math.isnan(loss[1])
    assert loss[2] == 1.5  # its record spans three blocks
    assert values(harvest, "val.acc") == [0.5]
    assert axis(harvest, "step") == values(harvest, "_step") == [0, 1, 2]
    assert axis(harvest, "time")[0] == 1700000000.5
    assert harvest.line.tolist() == [3, 5, 6]
    assert harvest.config == {"wandb/run_id": "abc123", "lr": 0.1, "batch_size": 32}
    (exited,) = harvest.events
    assert exited.kind is EventKind.SCHEDULER
    assert "code 1" in exited.title


def test_media_are_ignored_and_nested_values_are_named() -> None:
    image = json.dumps({"_type": "image-file", "size": 5})
    nested = json.dumps({"loss": 0.5, "deep": {"acc": "NaN"}})
    data = wandb_file([wandb_history(0, wandb_item("img", image), wandb_item("train", nested))])
    harvest = feed_whole(WandbReader(), data)
    assert {c.key.name for c in harvest.columns} == {"train.loss", "train.deep.acc", "_step"}


def test_system_metrics_have_a_time_but_no_step() -> None:
    item = message((1, "gpu.0.memory"), (16, "71.5"))
    stats = message((7, message((2, message((1, 1_700_000_000))), (3, item))))
    harvest = feed_whole(WandbReader(), wandb_file([stats]))
    assert values(harvest, "system/gpu.0.memory") == [71.5]
    assert axis(harvest, "time") == [1.7e9]
    assert "step" not in harvest.axes


def test_a_truncated_tail_is_not_yet_there() -> None:
    reader = WandbReader()
    first = reader.feed(WANDB[:-4], final=False)
    assert first.events == []
    assert reader.feed(WANDB[first.consumed :], final=False).events[0].kind is EventKind.SCHEDULER


def test_a_damaged_record_costs_only_itself() -> None:
    data = bytearray(WANDB)
    at = WANDB.index(b"2.5")
    data[at] ^= 1
    harvest = feed_whole(WandbReader(), bytes(data))
    assert values(harvest, "loss")[-1] == 1.5
    assert len(values(harvest, "loss")) == 2
    assert harvest.events[0].kind is EventKind.WARNING


def test_garbage_in_a_block_is_left_at_the_next_block() -> None:
    filler = message((4, b"x" * 40_000))
    data = bytearray(wandb_file([filler, wandb_history(1, wandb_item("loss", "0.5"))]))
    data[13] = 77  # no such fragment type
    harvest = feed_whole(WandbReader(), bytes(data))
    assert values(harvest, "loss") == [0.5]
    assert {event.kind for event in harvest.events} == {EventKind.WARNING}


def test_a_record_can_end_where_a_block_ends() -> None:
    size = 32768 - 7 - 7 - 3  # leaves 3 bytes, too few for a header
    filler = message((4, b"x" * (size - 4)))
    assert len(filler) == size
    data = wandb_file([filler, wandb_history(1, wandb_item("loss", "0.5"))])
    harvest = feed_whole(WandbReader(), data)
    assert values(harvest, "loss") == [0.5]
    assert harvest.events == []


def test_recognised_by_its_magic_bytes() -> None:
    assert WandbFormat().sniff(WANDB, "x") == 1.0
    assert WandbFormat().sniff(b"wandb: Tracking run", "run.wandb") == 0.0
