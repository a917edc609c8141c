"""Lines in JSON envelopes are read as if nobody had wrapped them, each at its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.event import Event, EventKind
from mltd.runs.text.enclosed import open_lines
from mltd.runs.text.extractor import TextReader

TRACEBACK = """Traceback (most recent call last):
  File "/app/train.py", line 61, in main
    loss.backward()
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x10 and 20x5)"""
STEPS = [f"step {n} loss {3 - n / 10:.2f}" for n in range(1, 6)]
MOMENT = "2026-01-01T10:00:00.123456789Z"


def by_runtime(lines: list[str]) -> bytes:
    records = [{"log": f"{line}\n", "stream": "stdout", "time": MOMENT} for line in lines]
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)


def failures(data: bytes) -> list[Event]:
    events = TextReader().feed(data, final=True).events
    return [event for event in events if event.kind is EventKind.EXCEPTION]


def test_what_a_container_said_is_read_as_it_was_said() -> None:
    harvest = TextReader().feed(by_runtime(STEPS), final=True)
    (loss,) = (column for column in harvest.columns if column.key.name == "loss")
    assert loss.values.tolist() == [2.9, 2.8, 2.7, 2.6, 2.5]
    assert harvest.line.tolist() == [1, 2, 3, 4, 5]
    assert set(harvest.axes) >= {"step", "time"}


def test_a_traceback_of_a_container_spans_its_lines() -> None:
    (event,) = failures(by_runtime([*STEPS, *TRACEBACK.split("\n")]))
    assert (event.exception, event.line, event.last_line) == ("RuntimeError", 6, 9)
    assert [frame.function for frame in event.frames] == ["main"]


@pytest.mark.parametrize(
    "fields",
    [
        {"levelname": "ERROR", "message": "failed", "exc_info": TRACEBACK},
        {"message": f"it failed\n{TRACEBACK}\n", "severity": "ERROR"},
        {"level": "error", "error": {"type": "RuntimeError", "stack": [TRACEBACK]}},
    ],
)
def test_a_traceback_inside_a_record_is_one_of_that_line(fields: dict[str, object]) -> None:
    steps = [json.dumps({"level": "info", "message": line}) for line in STEPS]
    data = "\n".join([*steps, json.dumps(fields), ""]).encode()
    (event,) = failures(data)
    assert (event.exception, event.line, event.last_line) == ("RuntimeError", 6, 6)
    assert event.message.startswith("mat1 and mat2")
    assert data[event.offset :].startswith(json.dumps(fields).encode())


def test_what_is_no_envelope_stays_as_it_is() -> None:
    data = b'{"log":"a","stream":"other"}\n{"log":1,"stream":"stdout"}\n{"log":"b","stream":"std'
    assert open_lines(data) == data
    quoted = rb'{"a": "Traceback (most recent call last):\n' + b"\n"
    assert open_lines(quoted) == quoted


words = st.text(alphabet='ab {}":,\\n\r\n', max_size=30)
envelopes = st.builds(
    lambda log, stream, time: json.dumps({"log": log, "stream": stream, "time": time}),
    words,
    st.sampled_from(["stdout", "stderr", ""]),
    words | st.integers() | st.none(),
)
reports = st.builds(lambda text: json.dumps({"x": [{"y": f"{TRACEBACK}{text}"}]}), words)


@given(st.lists(envelopes | reports | words.map(lambda text: text.replace("\n", " "))))
def test_no_line_is_lost_or_won(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    assert open_lines(data).count(b"\n") == data.count(b"\n")
