"""Whatever a config or a message holds, the account is made, and all of it is finite."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.memory import (
    MemoryAccount,
    WeightFacts,
    lines,
    memory_account,
    remedy_rows,
    rows,
)
from mltd.analyzers.memory.keys import NAMES
from tests.analyzers.made import make_run, read_log

from .accounts import MESSAGE

KEYS = [
    *sorted({name.replace(" ", "_") for names in NAMES.values() for name in names}),
    "optimizer", "optim", "precision", "dtype", "bf16", "fp16", "zero_optimization", "deepspeed",
]  # fmt: skip
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40), 10**40),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(
        ["", "nan", "1,024", "124.44M", "adamw", "sgd", "bf16-true", "fsdp", "9" * 400]
    ),
    st.text(max_size=20),
    st.just({"stage": 3}),
    st.lists(st.integers(), max_size=3),
)
SIZES = st.builds(
    lambda number, unit: f"{number} {unit}",
    st.sampled_from(["0", "0.00", "79.15", "1,024.00", "9" * 330, "nan", "1e9", "-3", "0.001"]),
    st.sampled_from(["MiB", "GiB", "GB", "MB", "KiB", "bytes", "TiB", "parsec"]),
)


def check(found: MemoryAccount) -> None:
    amounts = [part.amount for part in found.parts] + [one.saves for one in found.remedies]
    amounts += [found.states, found.rest, found.need, found.capacity]
    for amount in amounts:
        assert amount is None or 0 <= amount.low <= amount.high < math.inf
    for text in lines(found):
        assert "nan" not in text.split()
    assert all(isinstance(cell, str) for row in (*rows(found), *remedy_rows(found)) for cell in row)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=14))
def test_no_config_breaks_the_account(config: dict[str, object]) -> None:
    check(memory_account(make_run({"loss": [2.0, 1.9]}, config=config)))


@given(st.dictionaries(st.sampled_from(KEYS), st.integers(0, 10**6), max_size=20), SIZES, SIZES)
def test_no_size_breaks_the_account(config: dict[str, object], first: str, second: str) -> None:
    message = MESSAGE.format(
        request=first, total=second, free=first, own=second, allocated=first, idle=second
    )
    run = read_log(f"number of parameters: 1{first}\n{message}")
    run.add_config({"optimizer": "adamw", **config})
    check(memory_account(run))


@given(
    st.integers(-5, 10**30),
    st.integers(-5, 10**30) | st.none(),
    st.sampled_from(["float32", "bfloat16", "complex64", ""]),
)
def test_no_checkpoint_breaks_the_account(total: int, saved: int | None, dtype: str) -> None:
    weights = WeightFacts(
        "w",
        total,
        trainable=saved,
        dtypes=((dtype, total),),
        optimizer_kind="adam",
        optimizer_bytes=saved,
    )
    check(memory_account(make_run({}), weights))


@given(st.lists(st.sampled_from([0.0, -1.0, 1e300, math.nan, math.inf, 4000.0]), max_size=8))
def test_no_series_breaks_the_account(values: list[float]) -> None:
    check(memory_account(make_run({"gpu_mem_gb": values, "gpu_memory_%": values})))
