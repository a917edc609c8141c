"""The process that reads the headers of checkpoints: a hostile one costs its own time alone.

It is given descriptors, answers with one line of JSON for each and ends. Nothing in a checkpoint is
ever run, here no more than elsewhere.
"""

from __future__ import annotations

import json
import resource
import sys

from mltd.runs.checkpoints.shapes import tensor_shapes
from mltd.runs.errors import MltdError

_MEMORY_BYTES = 4 << 30
_CPU_SECONDS = 20


def describe(descriptor: int) -> dict[str, object]:
    """The tensors behind a descriptor, or why they cannot be told."""
    try:
        # The open file itself, whatever stands at its path by now.
        found = tensor_shapes(f"/proc/self/fd/{descriptor}")
    except MltdError as problem:
        return {"problem": problem.message, "hint": problem.hint}
    except (MemoryError, RecursionError):
        return {"problem": f"{descriptor} describes more than can be read", "hint": ""}
    return {"tensors": [(t.name, t.shape, t.dtype, t.storage) for t in found]}


def main() -> None:
    """Run with descriptors."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    for descriptor in sys.argv[1:]:
        sys.stdout.write(json.dumps(describe(int(descriptor))) + "\n")


if __name__ == "__main__":
    main()
