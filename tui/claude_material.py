"""One run that was read and judged, as the material of what Claude is sent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.pack import PackConstraints, PackMaterial
from mltd.sessions.masking import Masker

from .known_session import id_in, session_about
from .pack_facts import named_files, paths_of, people_in, state_of

if TYPE_CHECKING:
    from mltd.diagnosis.settings import ConsultSettings

    from .headless import Judged


def material_of(
    judged: Judged, names: Sequence[str], settings: ConsultSettings, *, redact: bool = False
) -> tuple[PackMaterial, Masker]:
    """The run with what a session knows about it, and what masks it.

    `names` are what the user has named.
    """
    run = judged.run
    paths = [os.path.abspath(path) for path in paths_of([run]) if os.path.exists(path)]
    root = run.surroundings.root if run.surroundings is not None else ""
    session = session_about(paths, root)
    key = id_in(session, paths) or "run1"
    masker = Masker(redact, paths, people_in(session, {key: run}))
    material = PackMaterial(
        runs={key: run},
        diagnoses={key: judged.diagnosis},
        book=ArtifactBook(
            {key: run}, session, settings.sources, named=named_files(names, [run]), masker=masker
        ),
        session=session,
        constraints=PackConstraints(seconds=settings.seconds),
        states={key: state_of(run)},
        problems=tuple(problem.message for problem in judged.problems),
    )
    return material, masker
