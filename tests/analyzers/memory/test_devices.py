"""How large the device is, and what was measured on it."""

from __future__ import annotations

import pytest

from mltd.analyzers.memory import Origin, account_of, memory_account
from mltd.analyzers.memory.devices import nominal_size
from mltd.runs.schedulers.job import Job, JobState
from tests.analyzers.made import make_run, read_log, view_of

from .accounts import GIB, account, oom


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [
        ("NVIDIA A100-SXM4-80GB", 80),
        ("A100-SXM4-40GB", 40),
        ("NVIDIA A100-PCIE", 40),
        ("NVIDIA H100 80GB HBM3", 80),
        ("Tesla V100-SXM2-32GB", 32),
        ("Tesla V100-SXM2...", 16),
        ("NVIDIA GeForce RTX 3090", 24),
        ("NVIDIA GeForce RTX 3080 Ti", 12),
        ("Tesla T4", 16),
        ("NVIDIA L4", 24),
        ("NVIDIA L40S", 48),
        ("NVIDIA A10G", 24),
        ("NVIDIA H200", 141),
        ("AMD Instinct MI250X", 64),
    ],
)
def test_a_device_has_its_nominal_size(name: str, gigabytes: float) -> None:
    assert nominal_size(name) == gigabytes * GIB


def test_unknown_names_have_no_size() -> None:
    assert nominal_size("NVIDIA X9999") is None
    assert nominal_size("") is None


def test_a_message_outranks_a_table_and_a_table_a_name() -> None:
    name = "GPU 0: NVIDIA A100-SXM4-80GB\n"
    nominal = account(name)
    assert nominal.device is not None
    assert nominal.device.is_nominal
    assert nominal.capacity is not None
    assert nominal.capacity.origin is Origin.ESTIMATED
    table = name + "| N/A   33C    P0    141W /  700W |    5304MiB /  81559MiB |      4%  |\n"
    stated = account(table)
    assert stated.capacity is not None
    assert stated.capacity.middle == 81559 * 1024**2
    assert stated.capacity.origin is Origin.MEASURED
    said = account(table + oom())
    assert said.device is not None
    assert said.device.name == "NVIDIA A100-SXM4-80GB"
    assert said.capacity is not None
    assert said.capacity.middle == pytest.approx(79.15 * GIB)


def test_the_highest_value_of_a_series_is_measured_in_its_unit() -> None:
    log = "".join(f"iter: {n} total_loss: 2.{n} max_mem: {1400 + n}M\n" for n in range(1, 40))
    found = memory_account(read_log(log))
    series = next(one for one in found.measured if one.name == "max_mem")
    assert series.amount is not None
    assert series.amount.middle == 1439 * 1024**2
    assert series.amount.origin is Origin.MEASURED
    assert found.need is series.amount


def test_a_series_without_a_unit_is_not_turned_into_bytes() -> None:
    found = account_of(view_of({"loss": [2.0, 1.9], "memory": [4321.0, 4325.0]}))
    (one,) = found.measured
    assert one.amount is None
    assert found.need is None


def test_a_share_of_the_device_is_derived_from_its_size() -> None:
    run = read_log("GPU 0: Tesla T4\n")
    again = make_run({"loss": [2.0, 1.9], "gpu_memory_%": [50.0, 75.0]})
    again.statements = run.statements
    again.files[0].path = "train.log"
    one = memory_account(again).measured[0]
    assert one.amount is not None
    assert one.amount.middle == pytest.approx(12 * GIB)
    assert one.amount.origin is Origin.ESTIMATED


def test_the_scheduler_limits_host_memory() -> None:
    run = read_log("step 1 loss 2\n")
    run.job = Job(id="7", state=JobState.FAILED, memory_per_node=64 << 30, max_rss=60 << 30)
    found = memory_account(run)
    assert found.host_limit is not None
    assert found.host_limit.middle == 64 * GIB
    assert [(one.name, one.place) for one in found.measured] == [("MaxRSS", "host")]
    assert found.need is None
