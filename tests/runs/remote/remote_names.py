"""A host, places on it, and runs found there in a form that can be compared with local ones."""

from __future__ import annotations

import os
from pathlib import Path

from mltd.runs.discovery import Discovery
from mltd.runs.remote.address import Address, Host

HOST = Host("login01")


def address(path: Path | str) -> Address:
    return Address(HOST, os.fsencode(path))


Comparable = list[tuple[str, str, list[tuple[str, str]]]]


def comparable(found: Discovery, root: str = "") -> Comparable:
    return [
        (
            run.name.removeprefix("login01:"),
            run.root.removeprefix(root),
            [(file.path.removeprefix(root), str(file.purpose)) for file in run.files],
        )
        for run in found.runs
    ]


def there(found: Discovery, mirror: Path) -> Comparable:
    return comparable(found, f"{mirror}/login01:")
