"""Element types: their names, their sizes, and how their bytes become numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

RAW: dict[str, str] = {
    "float64": "f8", "float32": "f4", "float16": "f2", "bfloat16": "u2",
    "float8_e4m3fn": "u1", "float8_e4m3fnuz": "u1", "float8_e5m2": "u1", "float8_e5m2fnuz": "u1",
    "float8_e8m0fnu": "u1",
    "int64": "i8", "int32": "i4", "int16": "i2", "int8": "i1",
    "uint64": "u8", "uint32": "u4", "uint16": "u2", "uint8": "u1", "bool": "u1",
    "complex64": "c8", "complex128": "c16",
}  # fmt: skip
"""How numpy holds the bytes of a type that it may not know itself."""
WHOLE = frozenset(name for name in RAW if name.startswith(("int", "uint", "bool")))
_EIGHT_BITS = {
    # exponent bits, mantissa bits, bias
    "float8_e4m3fn": (4, 3, 7), "float8_e4m3fnuz": (4, 3, 8),
    "float8_e5m2": (5, 2, 15), "float8_e5m2fnuz": (5, 2, 16),
}  # fmt: skip


def item_bytes(dtype: str) -> int:
    """Bytes of one element; 0 if the type is not known here."""
    return np.dtype(RAW[dtype]).itemsize if dtype in RAW else 0


def decoded(raw: Array, dtype: str) -> Array:
    """Numbers that numpy can calculate with; those of complex types are their parts."""
    if dtype == "bfloat16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if dtype.startswith("float8"):
        return _table(dtype)[raw]
    if dtype.startswith("complex"):
        return raw.view(np.float32 if dtype == "complex64" else np.float64)
    return raw


@lru_cache(maxsize=8)
def _table(dtype: str) -> Array:
    """The 256 numbers of an 8-bit type."""
    codes = np.arange(256)
    if dtype == "float8_e8m0fnu":
        numbers = np.ldexp(np.ones(256), codes - 127)
        numbers[255] = np.nan
        return numbers.astype(np.float32)
    exponent_bits, mantissa_bits, bias = _EIGHT_BITS[dtype]
    exponent = (codes >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = (codes & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    tiny = np.ldexp(mantissa, 1 - bias)
    numbers = np.where(exponent == 0, tiny, np.ldexp(1 + mantissa, exponent - bias))
    numbers = np.where(codes >= 128, -numbers, numbers)
    if dtype.endswith("fnuz"):
        numbers[128] = np.nan  # the place of minus zero
    elif dtype == "float8_e4m3fn":
        numbers[[127, 255]] = np.nan
    else:
        numbers[[124, 252]] = (np.inf, -np.inf)
        numbers[[125, 126, 127, 253, 254, 255]] = np.nan
    return numbers.astype(np.float32)
