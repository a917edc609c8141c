"""Names of two models side by side: wrappers' prefixes, and what may be meant by a strange name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import NamedTuple

WRAPPERS = ("module.", "_orig_mod.", "model.", "net.", "network.", "base_model.model.", "encoder.")
"""DataParallel and DDP, torch.compile, Lightning and others put these before all names."""
MOST_STRANGE = 300
"""Names for which the closest is looked for; comparing all with all takes its time."""


class Prefixes(NamedTuple):
    """What stands before all names of one model alone."""

    first: str
    second: str

    @property
    def sentence(self) -> str:
        """What that means for whoever loads one into the other."""
        parts = [
            f"every name in the {which} checkpoint begins with {prefix!r}{_maker(prefix)}"
            for which, prefix in (("first", self.first), ("second", self.second))
            if prefix
        ]
        return f"{' and '.join(parts)}; they are compared without" if parts else ""


def _maker(prefix: str) -> str:
    makers = {"module.": "DistributedDataParallel", "_orig_mod.": "torch.compile"}
    found = [maker for part, maker in makers.items() if part in prefix]
    return f" (added by {' and '.join(found)})" if found else ""


def prefixes_of(first: Collection[str], second: Collection[str]) -> Prefixes:
    """The prefixes without which the most names are the same; none if they are so already."""
    best, most = Prefixes("", ""), len(set(first) & set(second))
    for left in _chains(first):
        for right in _chains(second):
            plain = {name.removeprefix(left) for name in first}
            common = len(plain & {name.removeprefix(right) for name in second})
            if common > most:
                best, most = Prefixes(left, right), common
    return best


def _chains(names: Collection[str]) -> list[str]:
    """Prefixes that all names have, longer ones from wrappers inside wrappers."""
    chains = [""]
    for _ in range(4):
        longer = [
            chain + wrapper
            for chain in chains
            for wrapper in WRAPPERS
            if names and all(name.startswith(chain + wrapper) for name in names)
        ]
        chains += [chain for chain in longer if chain not in chains]
    return chains


def closest_name(name: str, others: Iterable[str]) -> tuple[str, float] | None:
    """The most similar of the other names, if any is similar at all."""
    found = difflib.get_close_matches(name, others, n=1, cutoff=0.6)
    if not found:
        return None
    return found[0], difflib.SequenceMatcher(None, name, found[0]).ratio()
