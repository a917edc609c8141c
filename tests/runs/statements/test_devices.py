"""How logs name devices and the memory that was in use at most."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.statements import StatementKind, may_state, statements_in
from mltd.runs.statements.sizes import bytes_of, count_of

MIB, GIB = 1024.0**2, 1024.0**3


@pytest.mark.parametrize(
    ("line", "name", "size"),
    [
        ("|   0  NVIDIA H100 80GB HBM3    On  | 00000000:19:00.0 Off |    0 |",
         "NVIDIA H100 80GB HBM3", None),
        ("| N/A   46C    P0    498W / 700W |  61409MiB / 81559MiB |  100%  Default |",
         "", 81559 * MIB),
        ("rank   0: capabilities =  7.0  ; total memory = 31.749 GB ; name = Tesla V100-SXM2-32GB ",
         "Tesla V100-SXM2-32GB", 31.749 * GIB),
        ("CUDA capacity: NVIDIA H100 80GB HBM3 with 79.10GiB memory",
         "NVIDIA H100 80GB HBM3", 79.10 * GIB),
        ("YOLOv5 torch 1.9.0 CUDA:0 (Tesla T4, 15110MiB)", "Tesla T4", 15110 * MIB),
        ("GPU 0: Tesla V100-PCIE-32GB", "Tesla V100-PCIE-32GB", None),
        ("Using device: NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090", None),
    ],
)  # fmt: skip
def test_a_device_is_named_and_measured(line: str, name: str, size: float | None) -> None:
    (stated,) = statements_in(line)
    assert stated.kind is StatementKind.DEVICE
    assert stated.subject == name
    assert stated.value == (None if size is None else pytest.approx(size))
    assert may_state(line)


def test_peaks_are_read_with_their_unit_and_left_alone_without() -> None:
    line = "peak memory allocated: 29567 MiB reserved: 31072 MiB"
    assert [(s.subject, s.value) for s in statements_in(line)] == [
        ("allocated", 29567 * MIB),
        ("reserved", 31072 * MIB),
    ]
    line = "see_memory_usage] MA 2.34 GB    Max_MA 3.81 GB    CA 5.4 GB    Max_CA 5 GB"
    assert [s.value for s in statements_in(line)] == [pytest.approx(3.81 * GIB), 5 * GIB]
    assert statements_in("max mem: 3782") == ()


@pytest.mark.parametrize("unit", ["MiB", "MB", "M"])
def test_units_of_memory_are_powers_of_1024_however_they_are_written(unit: str) -> None:
    assert bytes_of("1,024", unit) == GIB


@pytest.mark.parametrize("number", ["", "nan", "0", "inf", "1e99", "9" * 400, "1,2,3", "-5"])
def test_numbers_that_no_machine_has_are_none(number: str) -> None:
    assert bytes_of(number, "GiB") is None
    assert count_of(number, "B") is None


@given(st.text(max_size=300) | st.from_regex(r"(Total params|peak memory|GPU 0): .{0,80}"))
def test_no_line_breaks_the_reading_and_every_value_is_finite(line: str) -> None:
    for stated in statements_in(line):
        assert stated.value is None or 0 < stated.value < 2.0**61
