"""Settings: those that findings name, those that usually matter, then the rest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from mltd.analyzers.core.finding import EvidenceKind
from mltd.analyzers.core.settings_lookup import spellings
from mltd.runs.roles import normalise

from ...tools.settings_rows import flat_settings
from ...tools.tool import Page, Row
from ...tools.wording import plural
from ..material import PackMaterial, Subject

if TYPE_CHECKING:
    from mltd.sessions.masking import Masker


def config(material: PackMaterial, masker: Masker) -> Iterator[Page]:
    """The settings of each run that has some."""
    for subject in material.subjects():
        # As a mapping: a key that names a secret tells about its value, whatever that looks like.
        settings = flat_settings(masker.clean_value(subject.run.config))
        if settings:
            yield _page(subject, settings)


def _page(subject: Subject, settings: dict[str, str]) -> Page:
    named = [
        evidence.ref.removeprefix("config:")
        for _, _, evidence in subject.evidence()
        if evidence.kind is EvidenceKind.CONFIG
    ]

    def rank(key: str) -> tuple[int, int, str]:
        if key in named:
            return 0, named.index(key), key
        return 1, _ranks().get(normalise(key.rpartition(".")[2]), len(_ranks())), key

    called = subject.called
    return Page(
        brief=f"settings of {called}",
        head=f"{plural(len(settings), 'setting')} of {called}, those that matter most first:",
        rows=[Row(f"{key} = {settings[key]}") for key in sorted(settings, key=rank)],
        about={"run": called, "what": "settings"},
        rest="read_config has them all",
    )


@lru_cache(maxsize=1)
def _ranks() -> dict[str, int]:
    """How much a setting with a known meaning tells, by its usual spellings."""
    known = enumerate(spellings().values())
    return {normalise(name): rank for rank, names in known for name in names}
