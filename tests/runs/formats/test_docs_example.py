"""The worked example in docs/formats.md works as it is printed."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

from mltd.runs.formats.registry import Registry, load
from tests.runs.formats.reading import axis, describe, feed_in_pieces, feed_whole, values

DOCS = Path(__file__).resolve().parents[3] / "docs" / "formats.md"


def test_the_example_reads_its_format() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    module: dict[str, Any] = {}
    exec(code, module)
    formats = Registry([module["AcmeFormat"](), *load([]).formats])
    data = b"ACME" + b"".join(struct.pack("<Qdd", i, 2.0 / (i + 1), 0.1) for i in range(5))
    opened = formats.open(data, "run.acme")
    assert opened is not None
    form, reader = opened
    assert form.name == "acme"
    harvest = feed_whole(reader, data)
    assert values(harvest, "loss") == [2.0 / (i + 1) for i in range(5)]
    assert axis(harvest, "step") == [0, 1, 2, 3, 4]
    pieces = feed_in_pieces(module["AcmeReader"](), data, range(len(data)))
    assert describe(pieces) == describe([harvest])
