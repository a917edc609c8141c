"""What messages about missing memory say, in all their generations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.resources.shortage import read_shortage, shown_bytes

GIB = 1024.0**3
OLDEST = (
    "CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 7.93 GiB total capacity; 6.19 GiB "
    "already allocated; 340.00 MiB free; 551.04 MiB cached)"
)
OLD = (
    "CUDA out of memory. Tried to allocate 236.00 MiB (GPU 0; 15.70 GiB total capacity; 12.34 GiB "
    "already allocated; 208.19 MiB free; 13.58 GiB reserved in total by PyTorch) If reserved "
    "memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
)
NEW = (
    "CUDA out of memory. Tried to allocate {request}. GPU 0 has a total capacity of 79.15 GiB of "
    "which {free} is free. {who} memory in use. Of the allocated memory {allocated} is allocated "
    "by PyTorch{pools}, and {idle} is reserved by PyTorch but unallocated."
)


def new(
    request: str = "1.00 GiB",
    free: str = "228.38 MiB",
    who: str = "Including non-PyTorch memory, this process has 78.93 GiB",
    allocated: str = "76.28 GiB",
    pools: str = "",
    idle: str = "500.00 MiB",
) -> str:
    return NEW.format(
        request=request, free=free, who=who, allocated=allocated, pools=pools, idle=idle
    )


def test_the_oldest_message_counts_cached_memory_as_idle() -> None:
    shortage = read_shortage(OLDEST)
    assert shortage is not None
    assert shortage.place == "device"
    assert shortage.total == pytest.approx(7.93 * GIB)
    assert shortage.idle == pytest.approx(551.04 * 1024**2)
    assert shortage.pattern == "capacity"


def test_reserved_in_total_minus_allocated_is_idle() -> None:
    shortage = read_shortage(OLD)
    assert shortage is not None
    assert shortage.idle == pytest.approx((13.58 - 12.34) * GIB)
    assert shortage.pattern == "capacity"


@pytest.mark.parametrize(
    ("message", "pattern"),
    [
        (new(), "capacity"),
        (new(request="10.74 GiB", allocated="58.28 GiB", idle="18.59 GiB"), "fragmented"),
        (new(request="130212.00 GiB"), "absurd"),
        (
            new(
                free="118.00 MiB",
                who="Including non-PyTorch memory, this process has 8.38 GiB",
                allocated="7.50 GiB",
            ),
            "shared",
        ),
        # A little idle memory above a small request is what every full device shows.
        (new(request="20.00 MiB", idle="2.14 GiB"), "capacity"),
        (new(request="100.00 MiB", free="30.00 GiB", allocated="40.00 GiB"), "refused"),
    ],
)
def test_the_arithmetic_tells_why(message: str, pattern: str) -> None:
    shortage = read_shortage(message)
    assert shortage is not None
    assert shortage.pattern == pattern


def test_a_container_lists_its_own_process_by_a_foreign_number() -> None:
    text = new(who="Process 101462 has 78.00 GiB", free="0 bytes")
    shortage = read_shortage(text)
    assert shortage is not None
    assert shortage.free == 0.0
    assert shortage.pattern == "capacity"
    several = text.replace("memory in use.", "memory in use. Process 7 has 1.00 GiB memory in use.")
    assert read_shortage(several) is not None


def test_private_pools_are_allocated_too() -> None:
    pools = ", with 532.00 MiB allocated in private pools (e.g., CUDA Graphs),"
    with_pools, without = read_shortage(new(pools=pools)), read_shortage(new())
    assert with_pools is not None
    assert without is not None
    assert with_pools.allocated == pytest.approx((without.allocated or 0) + 532 * 1024**2)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("HIP out of memory. Tried to allocate 20.00 MiB.", "device"),
        ("NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.96 GiB total", "device"),
        ("XPU out of memory. Tried to allocate 2.00 GiB", "device"),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "device"),
        ("cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "device"),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.", "device"),
        ("MPS backend out of memory (MPS allocated: 17.8 GiB)", "device"),
        ("Check failed: error == cudaSuccess (2 vs. 0)  out of memory", "device"),
        (
            "ResourceExhaustedError: OOM when allocating tensor with shape[64,3] and type float on "
            "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
            "device",
        ),
        (
            "ResourceExhaustedError: OOM when allocating tensor with shape[64,3] and type float on "
            "/job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu",
            "host",
        ),
        ("thrust::system::system_error: bad_alloc: cudaErrorMemoryAllocation", "device"),
        ("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 bytes", "host"),
        ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 14.9 GiB for an", "host"),
        ("terminate called after throwing an instance of 'std::bad_alloc'", "host"),
        ("OSError: [Errno 12] Cannot allocate memory", "host"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=3801897.batch.", "host"),
        ("slurmstepd: error: Detected 1 oom-kill event(s) in step 370626.batch cgroup", "host"),
        ("Memory cgroup out of memory: Killed process 1234 (python)", "host"),
        ("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", "host"),
        ("State OUT_OF_ME+ 0:125", "host"),
        ("DataLoader worker (pid 123) is killed by signal: Killed.", "host"),
    ],
)
def test_whose_memory_it_is(text: str, place: str) -> None:
    shortage = read_shortage(text)
    assert shortage is not None
    assert shortage.place == place


@pytest.mark.parametrize(
    "text",
    [
        "ResourceExhaustedError: /tmp/ckpt; No space left on device",
        "RESOURCE_EXHAUSTED: Received message larger than max (5000000 vs. 4194304)",
        "DataLoader worker (pid 5) is killed by signal: Bus error.",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.0GiB. The caller indicates "
        "that this is not a failure, but may mean that there could be performance gains",
        "index 5 is out of bounds",
        "",
    ],
)
def test_other_messages_are_not_about_memory(text: str) -> None:
    assert read_shortage(text) is None


def test_a_shape_gives_the_request() -> None:
    shortage = read_shortage("OOM when allocating tensor with shape[2304,384] and type half")
    assert shortage is not None
    assert shortage.request == 2304 * 384 * 2


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    read_shortage(text)
    read_shortage(f"CUDA out of memory. Tried to allocate {text}")


@given(st.floats(min_value=0, max_value=1e30))
def test_every_size_can_be_shown(size: float) -> None:
    assert shown_bytes(size).endswith("B")


def test_a_size_just_below_the_next_unit_is_written_in_full() -> None:
    assert shown_bytes(1003 * 1024.0**2) == "1003 MiB"
    assert shown_bytes(999 * 1024.0**2) == "999 MiB"


def test_a_compiler_tells_what_is_needed_and_what_there_is() -> None:
    shortage = read_shortage(
        "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 17.50G of 15.48G hbm."
    )
    assert shortage is not None
    assert shortage.needed == 17.5 * GIB
    assert shortage.total == pytest.approx(15.48 * GIB)


def test_commas_between_thousands_and_endless_shapes_are_read() -> None:
    shortage = read_shortage("CUDA out of memory. Tried to allocate 1,024.00 MiB")
    assert shortage is not None
    assert shortage.request == GIB
    endless = read_shortage(f"OOM when allocating tensor with shape[{'9' * 5000}] on device:GPU:0")
    assert endless is not None
    assert endless.request == float("inf")


def test_a_process_that_is_said_to_hold_less_than_its_tensors_is_not_believed() -> None:
    found = read_shortage(
        "CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 21.99 GiB "
        "of which 759.38 MiB is free. Including non-PyTorch memory, this process has 0 bytes "
        "memory in use. Of the allocated memory 20.52 GiB is allocated by PyTorch, and 102.08 MiB "
        "is reserved by PyTorch but unallocated."
    )
    assert found is not None
    assert found.pattern == "capacity"
