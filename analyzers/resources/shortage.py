"""What a message about missing memory says: whose memory, and the sizes in it, in bytes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_UNITS = {
    "": 1.0,
    "k": 1024.0,
    "m": 1024.0**2,
    "g": 1024.0**3,
    "t": 1024.0**4,
}
_SIZE = r"(\d+(?:,\d{3})*(?:\.\d+)?) ?(bytes|[KMGT]i?B|[KMGT]\b)"
_REQUEST = re.compile(
    rf"(?:[Tt]r(?:ied|ying) to allocate|[Uu]nable to allocate|[Ff]ailed to allocate|"
    rf"[Cc]annot allocate|[Aa]llocation of|to reserve) {_SIZE}"
)
_TOTAL = re.compile(
    rf"total capaci?ty of {_SIZE}|{_SIZE} total capaci?ty|"
    rf"Used [\d.]+ ?\w+ of {_SIZE} (?:hbm|vmem)\b"
)
_NEEDED = re.compile(rf"Used {_SIZE} of [\d.]+ ?\w+ (?:hbm|vmem)\b")
_FREE = re.compile(rf"of which {_SIZE} is free|{_SIZE} free\b|available memory is only {_SIZE}")
_ALLOCATED = re.compile(
    rf"allocated memory {_SIZE} is allocated|{_SIZE} already allocated|"
    rf"{_SIZE} memory has been allocated|currently allocated: {_SIZE}|"
    rf"MPS allocated: {_SIZE}"
)
_POOLS = re.compile(rf"with {_SIZE} allocated in private pools")
_IDLE = re.compile(rf"{_SIZE} is reserved by \w+ but unallocated|{_SIZE} cached\b")
_RESERVED = re.compile(rf"{_SIZE} reserved in total")
_OWN = re.compile(rf"this process has {_SIZE} memory in use")
_PROCESS = re.compile(rf"Process \d+ has {_SIZE} memory in use")
_SHAPE = re.compile(r"allocating tensor with shape\[([\d,]+)\](?: and type (\w+))?")
_WIDTHS = {"half": 2, "bfloat16": 2, "double": 8, "int64": 8, "int8": 1, "uint8": 1, "bool": 1}

_ON_DEVICE = re.compile(
    r"(?:CUDA|HIP|XPU|NPU|MLU|MPS backend|GPU|ROCm|CUBLAS|cuda|hip)[\w :]{0,20}?[ :]out of memory|"
    r"CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory|"
    r"C(?:UBLAS|UDNN)_STATUS_ALLOC_FAILED|[Oo]ut of memory error on GPU|"
    r"cudaSuccess \(2 vs\. 0\).{0,80}out of memory|cudaMalloc\b.{0,60}out of memory|"
    r"Allocator \(?(?:GPU|TPU|CUDA)\w*\)? ran out of memory|device:GPU|allocator GPU|"
    r"RESOURCE_EXHAUSTED: (?:.{0,40}(?:[Oo]ut of memory|alloc|reserve|HBM))|"
    r"Ran out of memory in memory space (?:hbm|vmem)|"
    r"Failed to allocate a memory region of \d+ bytes|"
    r"[Tt]ried to allocate [\d.]+ [KMGT]i?B\b.{0,80}\btotal capac|"
    r"cuda runtime error \(2\)|cupy\S*OutOfMemoryError|GPU memory (?:is )?(?:exhausted|full)|"
    r"(?:[Ii]nsufficient|[Nn]ot enough) (?:GPU|CUDA|device|VRAM|HBM) ?memory|"
    r"[Nn]o available memory for the cache blocks|"
    r"(?:[Ff]ree|less than desired) .{0,40}GPU memory utilization"
)
_LIKELY_DEVICE = re.compile(
    r"torch\.(?:cuda\.)?OutOfMemoryError|^OutOfMemoryError|OOM when allocating tensor|"
    r"bfc_allocator\S* Ran out of memory trying|"
    r"ResourceExhaustedError.{0,20}failed to allocate memory|"
    r"(?:ran out of memory, retrying batch|recover from OOM in forward)|"
    r"(?:Unable to find a valid cuDNN algorithm|FIND was unable to find an engine)"
)
_KILLED_BY_SYSTEM = re.compile(
    r"oom[_-]kill event|cgroup out-of-memory handler|[Ee]xceeded (?:job |step |task |virtual )?"
    r"memory limit|oom-kill:constraint|(?:slurmstepd|srun)\S*: error: .{0,80}: Out Of Memory|"
    r"\bOOMKilled\b|Out of memory: Kill|[Mm]emory cgroup out of memory|invoked oom-killer|"
    r"TERM_MEMLIMIT|TERM_SWAP|job killed: v?mem|\bOUT_OF_ME(?:MORY|\+)|"
    r"node running low on memory|exceed(?:ed|s) memory limit.{0,40}[Kk]ill"
)
_ON_HOST = re.compile(
    r"DefaultCPUAllocator|alloc_cpu\.cpp|\b_?(?:Array)?MemoryError\b|std::bad_alloc|"
    r"\[Errno 12\]|[Cc]annot allocate memory|[Uu]nable to allocate [\d.]+ [KMGT]iB for an array|"
    r"allocator (?:mklcpu|cpu)\b|device:CPU|Allocator \(?cpu\)? ran out of memory|"
    r"(?:malloc|realloc|mmap) (?:of size )?.{0,20}\bfailed|ArrowMemoryError|"
    r"(?:[Ii]nsufficient|[Nn]ot enough) (?:host|system|CPU|RAM) ?memory"
)
_WORKER_KILLED = re.compile(r"worker \(pid\S* [\d, ]+\) is killed by signal: Killed")
FAR = 16
"""Times the device: a request that no smaller batch would bring below it."""
_NOT_MEMORY = re.compile(r"No space left on device|quota exceeded", re.IGNORECASE)
_HARMLESS = re.compile(r"not a failure, but may mean|there could be performance gains")


@dataclass(frozen=True, slots=True)
class Shortage:
    """One message about missing memory; sizes are None where it does not say them."""

    place: str
    """`device` for accelerator memory, `host` for the machine's own."""
    how: str
    """`states`: says so literally; `likely`: the words fit best; `worker`: a worker was killed."""
    request: float | None = None
    total: float | None = None
    free: float | None = None
    own: float | None = None
    allocated: float | None = None
    idle: float | None = None
    """Reserved by the allocator of this process but not in use."""
    others: float | None = None
    """Held by other processes."""
    needed: float | None = None
    """What the whole program needs, where a compiler knows before it runs."""

    @property
    def sizes(self) -> int:
        """How many of the sizes are known."""
        known = (self.request, self.total, self.free, self.allocated, self.idle)
        return sum(size is not None for size in known)

    @property
    def _context(self) -> float:
        """What the driver's own context may take; more than that belongs to someone else."""
        share = 0.1 if self.own is not None else 0.15
        return max(share * (self.total or 0.0), 1.5 * 1024**3 if self.own is None else 0.0)

    @property
    def pattern(self) -> str:
        """What the arithmetic inside the message says about why."""
        if self.place == "host" or self.request is None or self.total is None:
            return ""
        if self.request > self.total:
            return "absurd"
        if self.free is not None and self.free > max(2 * self.request, 0.1 * self.total):
            return "refused"
        if self.others is not None and self.others > self._context:
            return "shared"
        # A little idle memory is left by every allocator; a small request may be below it.
        if self.idle is not None and self.idle >= self.request and self.idle >= 0.1 * self.total:
            return "fragmented"
        return "capacity" if self.allocated is not None else ""


def read_shortage(text: str) -> Shortage | None:
    """What a message says about missing memory, None if that is not what it is about."""
    if _NOT_MEMORY.search(text) or _HARMLESS.search(text):
        return None
    if _KILLED_BY_SYSTEM.search(text):
        return Shortage("host", "states")
    if _WORKER_KILLED.search(text):
        return Shortage("host", "worker")
    # TensorFlow names both devices: the allocator decides.
    is_host = _ON_HOST.search(text) and not re.search(r"cudaErrorMemory|GPU_\d_bfc", text)
    if is_host:
        return Shortage("host", "states", request=_request(text))
    if _ON_DEVICE.search(text):
        return _on_device(text, "states")
    if _LIKELY_DEVICE.search(text):
        return _on_device(text, "likely")
    return None


def _on_device(text: str, how: str) -> Shortage:
    total, free, own = _size(_TOTAL, text), _size(_FREE, text), _size(_OWN, text)
    allocated, idle = _size(_ALLOCATED, text), _size(_IDLE, text)
    if allocated is not None and (pools := _size(_POOLS, text)) is not None:
        allocated += pools
    if own is not None and allocated is not None and own < allocated:
        # In some containers the driver counts nothing for this process.
        own = None
    reserved = _size(_RESERVED, text)
    if idle is None and reserved is not None and allocated is not None:
        idle = max(0.0, reserved - allocated)
    return Shortage(
        "device",
        how,
        _request(text),
        total,
        free,
        own,
        allocated,
        idle,
        _held_by_others(text, total, free, own, allocated, idle),
        _size(_NEEDED, text),
    )


def _held_by_others(
    text: str,
    total: float | None,
    free: float | None,
    own: float | None,
    allocated: float | None,
    idle: float | None,
) -> float | None:
    if total is None or free is None or allocated is None:
        return None
    mine = own if own is not None else allocated + (idle or 0.0)
    if own is None and (listed := [_bytes(*found) for found in _PROCESS.findall(text)]):
        # In a container this process may be listed by a foreign number: the nearest is it.
        mine = min(listed, key=lambda size: abs(size - mine))
    return max(0.0, total - free - mine)


def _request(text: str) -> float | None:
    if (size := _size(_REQUEST, text)) is not None:
        return size
    if (found := _SHAPE.search(text)) is None:
        return None
    # As floats: no shape is too long to be a number, and what is too large is infinite.
    count = math.prod(float(side) for side in found[1].split(",")[:12] if side)
    return count * _WIDTHS.get(found[2] or "float", 4)


def _size(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    if found is None:
        return None
    number, unit = [group for group in found.groups() if group is not None][:2]
    return _bytes(number, unit)


def _bytes(number: str, unit: str) -> float:
    return float(number.replace(",", "")) * _UNITS["" if unit == "bytes" else unit[0].lower()]


def shown_bytes(size: float) -> str:
    """A size as one reads it: 10.7 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if size < 999.5 else f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.4g} TiB" if size < 1e6 else f"{size:.3g} TiB"
