"""No cut of a file changes what is read from it, and no bytes break a reader."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mltd.runs.errors import FormatError
from mltd.runs.formats.format import Reader
from mltd.runs.formats.json_document import JsonDocumentReader
from mltd.runs.formats.mlflow_store import MlflowMetricReader, MlflowRunReader
from mltd.runs.formats.registry import load
from mltd.runs.formats.tabular import TabularReader
from mltd.runs.formats.tensorboard import TensorBoardReader
from mltd.runs.formats.wandb_offline import WandbReader
from tests.runs.formats import samples
from tests.runs.formats.reading import check_shape, describe, feed_in_pieces, feed_whole

FILES: dict[str, tuple[Callable[[], Reader], bytes]] = {
    "table": (TabularReader, samples.TABLE),
    "fast table": (lambda: TabularReader(fast_from=1), samples.TABLE),
    "events": (lambda: TensorBoardReader("events.out.tfevents.1700000000.host"), samples.EVENTS),
    "wandb": (WandbReader, samples.WANDB),
    "metric": (lambda: MlflowMetricReader("/mlruns/0/a/metrics/loss"), samples.METRIC),
    "meta": (lambda: MlflowRunReader("/nowhere/meta.yaml"), samples.META),
    "document": (lambda: JsonDocumentReader("trainer_state.json"), samples.TRAINER_STATE + b"\n"),
}
cuts = st.lists(st.integers(0, 1 << 20), max_size=12)


@pytest.mark.parametrize("name", FILES)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.differing_executors])
@given(cuts=cuts)
def test_cuts_change_nothing(name: str, cuts: list[int]) -> None:
    make, data = FILES[name]
    whole = describe([feed_whole(make(), data)])
    assert whole["points"] or name == "meta"
    assert describe(feed_in_pieces(make(), data, cuts)) == whole


@pytest.mark.parametrize("name", FILES)
def test_one_byte_at_a_time_changes_nothing(name: str) -> None:
    make, data = FILES[name]
    data = data[:3000]
    if name == "wandb":
        data = data[: data.index(b"xxxx") - 40]
    harvests = feed_in_pieces(make(), data, range(len(data)))
    assert describe(harvests) == describe([feed_whole(make(), data)])


@pytest.mark.parametrize("name", FILES)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.differing_executors])
@given(
    damage=st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(max_size=9)), max_size=4),
    cuts=cuts,
)
def test_damaged_files_are_survived(
    name: str, damage: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    make, data = FILES[name]
    hurt = bytearray(data)
    for position, junk in damage:
        at = position % (len(hurt) + 1)
        hurt[at : at + len(junk) // 2] = junk
    with contextlib.suppress(FormatError):
        whole = describe([feed_whole(make(), bytes(hurt))])
        assert describe(feed_in_pieces(make(), bytes(hurt), cuts)) == whole


noise = st.one_of(
    st.binary(max_size=400),
    st.text(alphabet='0123456789.,;\t\n\r"#eEnaif+-[]{}: ', max_size=200).map(str.encode),
    st.binary(max_size=60).map(lambda b: b":W&B\xe1\xbe\0" + b),
    st.binary(max_size=60).map(lambda b: samples.EVENTS[:40] + b),
    st.binary(max_size=60).map(lambda b: b"step,loss\n" + b),
)


@settings(deadline=None, max_examples=300)
@given(data=noise, path=st.text(max_size=8))
@example(b"\xff\xfe", "metrics.csv")
@example(b"[" * 5000, "x.json")
@example(b'{"a":' * 2000, "x.json")
def test_no_bytes_break_a_sniffer_or_a_reader(data: bytes, path: str) -> None:
    registry = load([])
    for form in registry.formats:
        assert 0.0 <= form.sniff(data, path) <= 1.0
    for make, _ in FILES.values():
        with contextlib.suppress(FormatError):
            check_shape(make().feed(data, final=True))
        check_shape(make().feed(data, final=False))


cell = st.one_of(
    st.sampled_from(
        ["", "nan", "-NaN", "inf", "-Infinity", " 1.5 ", '"2"', '""', "x", "1_0", "1e", "-"]
    ),
    st.floats().map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.text(alphabet='0123456789.+-eE nNaAiIfF"', max_size=7),
)


@settings(deadline=None, max_examples=400)
@given(
    rows=st.lists(st.lists(cell, min_size=2, max_size=4), max_size=8),
    delimiter=st.sampled_from([",", "\t", ";", "|"]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_the_fast_way_reads_what_the_careful_way_reads(
    rows: list[list[str]], delimiter: str, ending: str
) -> None:
    lines = [["step", "loss", "acc"], *(row[:3] for row in rows)]
    data = ending.join(delimiter.join(line) for line in lines).encode() + ending.encode()
    careful = describe([feed_whole(TabularReader(fast_from=1 << 30), data)])
    fast = describe([feed_whole(TabularReader(fast_from=1), data)])
    assert fast == careful
