"""Where the files behind a name are on this machine: themselves, or the copies of remote ones."""

from __future__ import annotations

import os

from ..errors import InputError
from .names import mirror_root


def place_of(name: str) -> str:
    """The path for a name that a user gave."""
    if ":" in name and mirror_root():
        from .address import parse_address

        try:
            address = parse_address(name)
        except InputError:
            address = None
        if address is not None:
            from .links import links

            return links().place(address)
    return os.path.expanduser(name)
