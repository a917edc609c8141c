"""Accounts of runs made for tests."""

from __future__ import annotations

from mltd.analyzers.memory import Amount, MemoryAccount, WeightFacts, memory_account
from tests.analyzers.made import read_log

GIB = 1024.0**3
GPT2: dict[str, object] = {
    "n_layer": 12,
    "n_head": 12,
    "n_embd": 768,
    "block_size": 1024,
    "vocab_size": 50257,
    "batch_size": 8,
}
MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {request}. GPU 0 has a total "
    "capacity of {total} of which {free} is free. Including non-PyTorch memory, this process has "
    "{own} memory in use. Of the allocated memory {allocated} is allocated by PyTorch, and {idle} "
    "is reserved by PyTorch but unallocated.\n"
)
FULL = {
    "request": "2.00 GiB",
    "total": "79.15 GiB",
    "free": "1.15 GiB",
    "own": "78.00 GiB",
    "allocated": "76.00 GiB",
    "idle": "1.50 GiB",
}


def account(
    log: str = "", config: dict[str, object] | None = None, weights: WeightFacts | None = None
) -> MemoryAccount:
    run = read_log(log)
    run.add_config(config or {})
    return memory_account(run, weights)


def oom(**sizes: str) -> str:
    return "step 1 loss 2.5\n" + MESSAGE.format(**{**FULL, **sizes})


def part(found: MemoryAccount, identity: str) -> Amount:
    amount = next(one.amount for one in found.parts if one.id == identity)
    assert amount is not None, identity
    return amount


def unknown(found: MemoryAccount, identity: str) -> tuple[str, ...]:
    one = next(one for one in found.parts if one.id == identity)
    assert one.amount is None
    return one.missing
