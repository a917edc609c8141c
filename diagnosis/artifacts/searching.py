"""A search through one artifact, done by a process that can be ended."""

from __future__ import annotations

import json

from .artifact import Artifact, BookLine, Hits
from .belonging import opened
from .errors import ArtifactError
from .half_copied import refuse_half
from .timely import ask_process

SEARCH_SECONDS = 2.0
_GRACE_SECONDS = 1.0
"""For the process to start, and to tell what it found."""
LONGEST_PATTERN = 1000
_PROCESS = "mltd.diagnosis.artifacts.scan_process"


def search(
    artifact: Artifact,
    pattern: str,
    *,
    most: int,
    context: int = 0,
    first: int = 1,
    longest: int = 4000,
    seconds: float = SEARCH_SECONDS,
) -> Hits:
    """Lines that match a regular expression; one without capitals ignores case."""
    if not pattern:
        raise ArtifactError("an empty pattern matches everything", hint="read lines instead")
    if len(pattern) > LONGEST_PATTERN or "\0" in pattern:
        raise ArtifactError(
            f"a pattern may have at most {LONGEST_PATTERN:,} characters, and no NUL",
            hint="search for the part that is rare",
        )
    wishes = json.dumps([pattern, most, context, max(1, first), longest, seconds])
    with opened(artifact) as descriptor:
        refuse_half(artifact, descriptor)
        said = ask_process(_PROCESS, [descriptor], [wishes], seconds + _GRACE_SECONDS)
    try:
        found = json.loads(said or b"")
    except ValueError:
        raise ArtifactError(
            f"the search through {artifact.name} took too long and was given up",
            hint="use a simpler pattern: no repetition inside a repetition",
        ) from None
    if "invalid" in found:
        raise ArtifactError(f"the pattern is {found['invalid']}", hint="escape special characters")
    if "problem" in found:
        raise ArtifactError(f"{artifact.name} {found['problem']}")
    lines = tuple(BookLine(*line) for line in found["lines"])
    is_late = found["stopped"] == "time"
    return Hits(artifact, lines, found["count"], found["searched"], _problem(found), is_late)


def _problem(found: dict[str, object]) -> str:
    searched = found["searched"]
    if found["stopped"] == "slow":
        return (
            f"the pattern is too slow for some lines and the search was given up after line "
            f"{searched:,}; use a simpler pattern: no repetition inside a repetition"
        )
    if found["stopped"]:
        return f"the time for a search was over after line {searched:,}"
    return (
        f"{found['slow']} lines were left out: the pattern is too slow for them"
        if found["slow"]
        else ""
    )
