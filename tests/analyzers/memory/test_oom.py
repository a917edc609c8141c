"""An out-of-memory message's own numbers, and what they add up to."""

from __future__ import annotations

import json

import pytest

from mltd.analyzers.memory import Origin, lines, memory_account
from tests.analyzers.made import read_log
from tests.runs.formats.corpus import corpus_directory

from .accounts import GIB, account, oom, part

OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 236.00 MiB (GPU 0; 15.70 GiB total "
    "capacity; 12.34 GiB already allocated; 208.19 MiB free; 13.58 GiB reserved in total by "
    "PyTorch)\n"
)


def test_every_size_of_the_message_is_measured_at_its_line() -> None:
    found = account(oom()).oom
    assert found is not None
    sizes = (found.request, found.total, found.free, found.own, found.allocated, found.idle)
    assert [size and size.middle / GIB for size in sizes] == pytest.approx(
        [2.0, 79.15, 1.15, 78.0, 76.0, 1.5]
    )
    assert all(size is not None and size.origin is Origin.MEASURED for size in sizes)
    assert found.evidence.ref == "train.log:2"


def test_what_no_tensor_has_is_the_drivers_context() -> None:
    amount = part(account(oom()), "context")
    assert amount.middle / GIB == pytest.approx(0.5)
    assert amount.origin is Origin.DERIVED
    assert part(account(), "context").origin is Origin.ESTIMATED


def test_the_demand_is_what_is_in_use_and_the_request() -> None:
    need = account(oom()).need
    assert need is not None
    assert need.middle / GIB == pytest.approx(79.15 - 1.15 + 2.0)


def test_tensors_beyond_the_states_are_activations() -> None:
    log = "number of parameters: 1000M\n" + oom()
    found = account(log, {"optimizer": "adamw", "precision": "32"})
    assert found.rest is not None
    assert found.rest.middle == pytest.approx(76 * GIB - 16e9)
    assert found.largest is not None
    assert found.largest[0] == "activations and temporary tensors"


def test_states_that_were_not_all_there_leave_no_rest() -> None:
    log = "number of parameters: 7500M\n" + oom()
    found = account(log, {"optimizer": "adamw", "precision": "32"})
    assert found.rest is None
    assert found.states_alone_exceed is True
    assert any("no batch size fits" in line for line in lines(found))


def test_old_messages_give_reserved_memory_in_total() -> None:
    found = account(OLD).oom
    assert found is not None
    assert found.idle is not None
    assert found.idle.middle / GIB == pytest.approx(13.58 - 12.34)
    assert found.idle_share == pytest.approx((13.58 - 12.34) / 15.70)
    assert "driver" in found.outside


def test_a_compiler_says_what_the_whole_program_needs() -> None:
    found = account(
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory "
        "space hbm. Used 17.50G of 15.48G hbm. Exceeded hbm capacity by 2.02G.\n"
    )
    assert found.need is not None
    assert found.capacity is not None
    assert found.need.middle / GIB == pytest.approx(17.5)
    assert found.capacity.middle / GIB == pytest.approx(15.48)
    assert "needs 17.5 GiB of 15.5 GiB" in lines(found)[0]


def test_a_message_without_sizes_says_so() -> None:
    found = account("RuntimeError: CUDA error: out of memory\n")
    assert found.oom is not None
    assert found.need is None
    assert found.remedies == ()
    assert "no sizes" in lines(found)[0]


def _failures() -> list[object]:
    place = corpus_directory()
    if place is None:
        skip = pytest.mark.skip(reason="no corpus of training logs (set MLTD_CORPUS)")
        return [pytest.param(None, marks=skip, id="absent")]
    with (place / "failures.jsonl").open(encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    return [pytest.param(e, id=e["id"]) for e in entries if e["failure_class"] == "cuda_oom"]


@pytest.mark.parametrize("entry", _failures())
def test_real_messages_are_read_with_all_their_sizes(entry: dict[str, str]) -> None:
    found = memory_account(read_log(entry["excerpt"] + "\n"))
    assert found.oom is not None
    assert found.oom.request is not None
    if "total capacity" in entry["excerpt"]:
        assert found.oom.total is not None
        assert found.oom.allocated is not None
        assert found.oom.free is not None
        assert found.oom.idle is not None
        assert found.need is not None
    assert lines(found)
