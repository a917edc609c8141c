"""Files of the probe, read back: names of columns, events, cuts and damage."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mltd.runs.event import EventKind
from mltd.runs.formats.probe_events import Origin, origin_of
from mltd.runs.formats.probe_lines import ProbeFormat, ProbeReader, column_name
from mltd.runs.formats.registry import recognise
from mltd.runs.run import Run, SourceFile
from tests.runs.formats.reading import axis, describe, feed_in_pieces, feed_whole, values

HEADER: dict[str, Any] = {
    "mltd_probe": 1, "kind": "header", "torch": "2.13.0", "rank": 0, "world_size": 1, "every": 10,
    "layers": ["conv", "head"], "parameters": [40, 10], "trainable": [40, 0],
    "modules": ["conv", "relu"], "unoptimized": ["head"],
}  # fmt: skip
STEPS: list[dict[str, Any]] = [
    {
        "kind": "step", "step": 1, "time": 1.7e9, "total": {"grad_norm": 0.5},
        "grad_norm": [0.5, None], "no_grad": [1], "weight_norm": [2.0, 1.0],
        "update_ratio": [0.001, None], "act_mean": [0.1, None], "act_dead": [None, 0.25],
        "lr": [0.1, 0.1, 0.2], "loss_scale": 1024.0, "memory": {"allocated": 2048},
    },
    {
        "kind": "step", "step": 10, "time": 1.7e9 + 1, "total": {"grad_norm": "nan"},
        "grad_norm": ["nan", "inf"], "lr": [0.1],
        "nonfinite": {"first": {"kind": "activation", "layer": "conv", "nan": 3, "inf": 0}},
    },
    {"kind": "note", "step": 10, "every": 20},
    {"kind": "end", "step": 11, "reason": "OSError: disk full"},
]  # fmt: skip


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


DATA = lines(HEADER, *STEPS)


def test_columns_are_named_by_layer_and_keyed_by_step() -> None:
    harvest = feed_whole(ProbeReader(), DATA)
    assert axis(harvest, "step") == [1.0, 10.0]
    assert axis(harvest, "time") == [1.7e9, 1.7e9 + 1]
    assert values(harvest, "grad_norm/conv")[0] == 0.5
    assert math.isnan(values(harvest, "grad_norm/conv")[1])
    assert values(harvest, "weight_norm/head") == [1.0]
    assert values(harvest, "update_ratio/conv") == [0.001]
    assert values(harvest, "act_mean/conv") == [0.1]
    assert values(harvest, "act_dead/relu") == [0.25]
    assert values(harvest, "grad_norm")[0] == 0.5
    assert values(harvest, "lr") == [0.1, 0.1]
    assert values(harvest, "lr/group2") == [0.2]
    assert values(harvest, "loss_scale") == [1024.0]
    (memory,) = [c for c in harvest.columns if c.key.name == "memory/allocated"]
    assert memory.key.unit == "B"
    assert harvest.config == {}
    layers = [c.key.layer for c in harvest.columns if c.key.name.startswith("grad_norm/")]
    assert layers == HEADER["layers"]


def test_the_header_states_the_layers_and_what_becomes_of_them() -> None:
    stated = feed_whole(ProbeReader(), DATA).statements
    assert [(s.kind.value, s.subject, s.value) for s in stated[:2]] == [
        ("parameters", "total", 50), ("parameters", "trainable", 40),
    ]  # fmt: skip
    assert [(s.subject, s.text) for s in stated[2:]] == [
        ("conv", "trained"), ("head", "not in the optimizer"),
    ]  # fmt: skip


def test_the_header_tells_a_part_that_no_gradient_reaches_and_the_tables() -> None:
    header = {**HEADER, "unreached": ["head"], "embeddings": ["conv", "gone"]}
    stated = feed_whole(ProbeReader(), lines(header)).statements
    assert ("embedding", 40, "conv") in [(s.subject, s.value, s.text) for s in stated]
    assert stated[-1].text == "not in the optimizer, and without a gradient"


def test_an_origin_between_two_layers_is_read_back() -> None:
    first = {"kind": "activation", "layer": "fc", "nan": 1, "inf": 0, "behind": "conv"}
    record = {"kind": "step", "step": 3, "nonfinite": {"first": first, "since": 2}}
    (event,) = feed_whole(ProbeReader(), lines({**HEADER, "unoptimized": []}, record)).events
    assert event.title == "NaN first appeared between layer conv and layer fc (since step 2)"
    assert origin_of(event.message) == Origin("activation", "fc", 2, "conv")


def test_a_layer_without_gradient_has_a_gradient_of_zero() -> None:
    assert values(feed_whole(ProbeReader(), DATA), "grad_norm/head") == [0.0, math.inf]


def test_events_name_the_layer() -> None:
    events = feed_whole(ProbeReader(), DATA).events
    assert [(event.kind, event.line) for event in events] == [
        (EventKind.WARNING, 1), (EventKind.NAN, 3), (EventKind.WARNING, 5),
    ]  # fmt: skip
    assert "head" in events[0].title
    assert events[1].title == "NaN first appeared in the output of layer conv"
    assert "disk full" in events[2].title


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ({"kind": "gradient", "layer": "fc", "everywhere": True}, "the loss was not finite"),
        ({"kind": "gradient", "layer": "fc", "everywhere": False}, "first in layer fc"),
        ({"kind": "gradient", "layer": "fc", "behind": "a"}, "in layer fc or between it and a"),
        ({"kind": "weight", "layer": "fc"}, "non-finite weights in layer fc"),
        ({"kind": "buffer", "layer": "fc"}, "running statistics of layer fc"),
        ({"kind": "input", "layer": "fc"}, "the data held non-finite values"),
    ],
)
def test_each_origin_has_its_sentence(first: dict[str, Any], words: str) -> None:
    record = {"kind": "step", "step": 3, "nonfinite": {"first": first, "since": 2}}
    (event,) = feed_whole(ProbeReader(), lines({**HEADER, "unoptimized": []}, record)).events
    assert event.kind is EventKind.NAN
    assert words in event.title
    assert event.title.endswith("(since step 2)")


def test_a_skipped_step_is_an_overflow_and_each_place_is_said_once() -> None:
    bad = {"kind": "step", "nonfinite": {"first": {"kind": "gradient", "layer": "fc"}}}
    data = lines(HEADER, {**bad, "step": 1, "skipped": True}, {**bad, "step": 2, "skipped": True})
    events = feed_whole(ProbeReader(), data).events
    assert [event.kind for event in events] == [EventKind.WARNING, EventKind.OVERFLOW]


def test_the_header_decides_and_not_the_name() -> None:
    for path in ("/run/mltd-probe.jsonl", "/run/x.txt", "/run/train.log"):
        found = recognise(DATA, path)
        assert found is not None
        assert found.name == "probe"
    assert recognise(lines(*STEPS[:2]), "/run/mltd-probe.jsonl").name != "probe"  # type: ignore[union-attr]
    wide = lines({**HEADER, "layers": [f"layer{n}" for n in range(20_000)]})[: 1 << 16]
    assert ProbeFormat().sniff(wide, "p") == 1.0


def test_names_that_look_like_other_metrics_take_no_role() -> None:
    for layer in ("loss", "head.acc", "value.reward", "train"):
        run = Run("r")
        run.add_file(SourceFile("p"))
        name = column_name("act_mean", layer)
        data = lines({**HEADER, "modules": [layer]}, {"kind": "step", "step": 1, "act_mean": [1.0]})
        run.append(0, feed_whole(ProbeReader(), data))
        (series,) = run.series
        assert series.name == name
        assert series.role is None
    assert column_name("act_mean", "fc1") == "act_mean/fc1"


def test_other_ranks_add_what_is_their_own() -> None:
    harvest = feed_whole(ProbeReader(), lines({**HEADER, "rank": 3}, *STEPS))
    assert {(c.key.name, c.key.rank) for c in harvest.columns} == {
        ("act_mean/conv", 3), ("act_dead/relu", 3), ("loss_scale", 3), ("memory/allocated", 3),
    }  # fmt: skip


def test_a_second_header_renames_what_follows() -> None:
    record = {"kind": "step", "step": 5, "grad_norm": [1.0, 2.0]}
    data = lines(HEADER, record, {**HEADER, "layers": ["a", "b"]}, {**record, "step": 6})
    harvest = feed_whole(ProbeReader(), data)
    assert values(harvest, "grad_norm/conv") == [1.0]
    assert values(harvest, "grad_norm/b") == [2.0]


def test_a_last_line_that_was_cut_off_is_left_out() -> None:
    harvest = feed_whole(ProbeReader(), lines(HEADER, STEPS[0]) + b'{"kind":"step","ste')
    assert axis(harvest, "step") == [1.0]


@given(cuts=st.lists(st.integers(0, 1 << 20), max_size=12))
def test_cuts_change_nothing(cuts: list[int]) -> None:
    whole = describe([feed_whole(ProbeReader(), DATA)])
    assert describe(feed_in_pieces(ProbeReader(), DATA, cuts)) == whole


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
keys = st.sampled_from([*HEADER, *STEPS[0], *STEPS[1], "skipped", "reason"])


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.dictionaries(keys, anything, max_size=6).flatmap(
            lambda record: st.sampled_from(
                [record, {**record, "kind": "step"}, {**record, "kind": "header"}]
            )
        ),
        max_size=5,
    )
)
def test_no_records_break_the_reader(found: list[dict[str, Any]]) -> None:
    describe([feed_whole(ProbeReader(), DATA + lines(*found))])


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(junk: bytes) -> None:
    describe([feed_whole(ProbeReader(), lines(HEADER) + junk)])
