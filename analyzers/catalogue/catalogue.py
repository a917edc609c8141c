"""All pages there are: one per finding and per root cause, by family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from ..core.registry import FAMILIES, registry
from .page import Page, page_of
from .saved_weights import FAMILY as WEIGHTS
from .saved_weights import saved_weights_pages

FINDING, CAUSE = "finding", "root cause"
_TITLES = {
    "loss": "Loss and optimisation",
    "gradients": "Gradients, precision, weights",
    "outputs": "What the model puts out",
    "resources": "Resources and speed",
    "errors": "Errors",
    "distributed": "Distributed and scheduler",
    "reproducibility": "Reproducibility",
    "weights": "Saved weights",
    "causes": "Root causes",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A page and where it belongs."""

    kind: str
    """`finding` or `root cause`."""
    family: str
    """A folder of ours, or the module of a third party."""
    page: Page

    @property
    def title(self) -> str:
        """The family's name for readers."""
        return _TITLES.get(self.family, f"From {self.family}")

    @property
    def is_ours(self) -> bool:
        """False for a third party's."""
        return self.family in _TITLES


def entries() -> list[Entry]:
    """All pages, family by family, sorted by id inside each."""
    parts = registry()
    found = [Entry(FINDING, _family(part), page_of(part)) for part in parts.analyzers.values()]
    found += [Entry(FINDING, WEIGHTS, page) for page in saved_weights_pages()]
    found += [Entry(CAUSE, _family(part), page_of(part)) for part in parts.causes.values()]
    order = [*FAMILIES, WEIGHTS, "causes"]
    return sorted(
        found,
        key=lambda entry: (
            order.index(entry.family) if entry.is_ours else len(order),
            entry.family,
            entry.page.id,
        ),
    )


def pages(identity: str) -> list[Entry]:
    """The pages of an id: some ids are a finding and a root cause."""
    return [entry for entry in entries() if entry.page.id == identity]


def similar(identity: str) -> list[str]:
    """Ids that someone who wrote this may have meant."""
    ids = sorted({entry.page.id for entry in entries()})
    wanted = identity.casefold().replace("-", "_").replace(" ", "_")
    inside = [name for name in ids if len(wanted) > 2 and (wanted in name or name in wanted)]
    close = get_close_matches(wanted, ids, n=5, cutoff=0.6)
    return list(dict.fromkeys([*close, *inside]))[:5]


def by_family() -> Iterator[tuple[str, list[Entry]]]:
    """Titles of families with their entries."""
    grouped: dict[str, list[Entry]] = {}
    for entry in entries():
        grouped.setdefault(entry.title, []).append(entry)
    yield from grouped.items()


def _family(part: object) -> str:
    package = __package__.rpartition(".")[0]
    module = type(part).__module__
    if not module.startswith(f"{package}."):
        return module
    return module.removeprefix(f"{package}.").partition(".")[0]
