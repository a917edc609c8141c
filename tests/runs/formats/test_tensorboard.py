"""TensorBoard event files: every way to store a scalar, and damaged files."""

from __future__ import annotations

import json
import math
import struct

import pytest

from mltd.runs.event import EventKind
from mltd.runs.formats.tensorboard import TensorBoardFormat, TensorBoardReader
from mltd.runs.formats.tfrecord import frame, masked_crc
from mltd.runs.harvest import Harvest
from tests.runs.formats.reading import axis, feed_whole, float_field, message, values
from tests.runs.formats.samples import EVENTS, event, summary


def read(*records: bytes, path: str = "events.out.tfevents.1700000000.host") -> Harvest:
    return feed_whole(TensorBoardReader(path), b"".join(frame(record) for record in records))


def tensor_summary(tag: str, tensor: bytes, plugin: str = "scalars") -> bytes:
    metadata = message((1, message((1, plugin))))
    return message((1, message((1, tag), (8, tensor), (9, metadata))))


def test_the_checksum_is_the_published_one() -> None:
    # "123456789" has CRC-32C 0xE3069283.
    crc = 0xE3069283
    assert masked_crc(b"123456789") == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def test_scalars_with_step_and_time() -> None:
    harvest = feed_whole(TensorBoardReader("x"), EVENTS)
    assert values(harvest, "loss") == [2.5, 1.25]
    assert values(harvest, "acc") == [0.5]
    assert axis(harvest, "step") == [1, 2, 300]
    assert axis(harvest, "time") == [1.7e9 + 1, 1.7e9 + 2, 1.7e9 + 3]
    assert harvest.line.tolist() == [2, 3, 4]
    assert axis(harvest, "epoch")[2] == 1.0
    assert harvest.lines == 4


def test_values_of_one_event_share_a_row() -> None:
    harvest = read(event(1.7e9, 5, summary("a", 1.0), summary("b", 2.0)))
    assert len(harvest.line) == 1
    assert (values(harvest, "a"), values(harvest, "b")) == ([1.0], [2.0])


@pytest.mark.parametrize(
    ("tensor", "value"),
    [
        (message((1, 1), (2, b"")) + float_field(5, 0.5), 0.5),
        (message((1, 1), (2, b""), (5, struct.pack("<f", 0.5))), 0.5),
        (message((1, 1), (4, struct.pack("<f", 0.5))), 0.5),
        (message((1, 2), (6, 0.1)), 0.1),
        (message((1, 2), (4, struct.pack("<d", 0.1))), 0.1),
        (message((1, 3), (7, -7)), -7.0),
        (message((1, 9), (10, 7)), 7.0),
        (message((1, 9), (4, struct.pack("<q", -7))), -7.0),
        (message((1, 14), (4, struct.pack("<f", 1.5)[2:])), 1.5),
        (message((1, 14), (13, 0x3FC0)), 1.5),
        (message((1, 19), (13, 0x3E00)), 1.5),
        (message((1, 1), (2, message((2, message((1, 1))))), (4, struct.pack("<f", 2))), 2.0),
    ],
)
def test_scalar_tensors_of_every_type(tensor: bytes, value: float) -> None:
    harvest = read(event(1.7e9, 1, tensor_summary("loss", tensor)))
    assert values(harvest, "loss") == [value]


def test_what_is_no_scalar_is_ignored() -> None:
    shape = message((2, message((1, 3))))
    harvest = read(
        event(1.7e9, 1, tensor_summary("weights", message((1, 1), (2, shape)))),
        event(1.7e9, 1, tensor_summary("pr", message((1, 1)) + float_field(5, 1), "pr_curves")),
        event(1.7e9, 2, summary("pr", 1.0)),
        event(1.7e9, 2, message((1, message((1, "picture"), (4, b"png"))))),
    )
    assert harvest.columns == []
    assert harvest.lines == 4


def test_seconds_since_the_start_are_counted_from_the_time_in_the_file_name() -> None:
    assert axis(read(event(12.5, 1, summary("loss", 1.0))), "time") == [1.7e9 + 12.5]
    assert "time" not in read(event(12.5, 1, summary("loss", 1.0)), path="events").axes


def test_float32_overflow_is_an_infinite_point() -> None:
    assert values(read(event(1.7e9, 1, summary("fid", -math.inf))), "fid") == [-math.inf]


def test_hyperparameters_become_the_config() -> None:
    pairs = [
        message((1, message((1, "lr"), (2, message((2, 0.1)))))),
        message((1, message((1, "layers"), (2, message((2, 12.0)))))),
        message((1, message((1, "name"), (2, message((3, "base")))))),
        message((1, message((1, "amp"), (2, message((4, 1)))))),
    ]
    content = message((3, b"".join(pairs)))
    metadata = message((1, message((1, "hparams"), (2, content))))
    value = message((1, message((1, "_hparams_/session_start_info"), (9, metadata))))
    harvest = read(event(1.7e9, 0, value))
    assert harvest.config == {"lr": 0.1, "layers": 12, "name": "base", "amp": True}


def test_arguments_logged_as_text_become_the_config() -> None:
    text = json.dumps({"learning_rate": 5e-5})
    args = tensor_summary("args/text_summary", message((1, 7), (8, text)), "text")
    model = tensor_summary("model_config/text_summary", message((1, 7), (8, "{}")), "text")
    prose = tensor_summary("note/text_summary", message((1, 7), (8, "{not json")), "text")
    harvest = read(event(1.7e9, 0, args), event(1.7e9, 0, model), event(1.7e9, 0, prose))
    assert harvest.config == {"learning_rate": 5e-5, "model_config": {}}


def test_a_session_that_starts_again_is_a_restart() -> None:
    start = message((1, 1.7e9), (2, 40), (7, message((1, 1))))
    harvest = read(start, event(1.7e9, 50, summary("loss", 1.0)), start)
    assert [(e.kind, e.line, e.step) for e in harvest.events] == [(EventKind.RESTART, 3, 40.0)]


def test_a_record_cut_off_at_the_end_is_not_yet_there() -> None:
    reader = TensorBoardReader("x")
    harvest = reader.feed(EVENTS[:-9], final=False)
    assert harvest.lines == 3
    assert harvest.events == []
    rest = reader.feed(EVENTS[harvest.consumed :], final=False)
    assert rest.line.tolist() == [1]


def test_damage_in_the_middle_costs_only_the_records_it_hit() -> None:
    records = [frame(event(1.7e9, step, summary("loss", float(step)))) for step in range(1, 6)]
    records[2] = b"\0" * 5 + records[2][7:]
    harvest = feed_whole(TensorBoardReader("x"), b"".join(records))
    assert values(harvest, "loss") == [1, 2, 4, 5]
    (warning,) = harvest.events
    assert (warning.kind, warning.offset) == (EventKind.WARNING, len(records[0]) * 2)


def test_recognised_by_content_alone() -> None:
    form = TensorBoardFormat()
    assert form.sniff(EVENTS, "strange name") == 1.0
    assert form.sniff(EVENTS[:30], "x") >= 0.9
    assert form.sniff(b"step,loss\n1,2\n3,4\n", "events.out.tfevents.1") == 0.0
    assert form.sniff(frame(b"\xff" * 30), "x") == 0.0
