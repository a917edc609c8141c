"""The session's files: which there are, and a bounded, read-only look into each."""

from __future__ import annotations

from .artifact import Artifact, ArtifactKind, BookLine, Excerpt, Hits, Place
from .book import ArtifactBook
from .errors import ArtifactError

__all__ = [
    "Artifact",
    "ArtifactBook",
    "ArtifactError",
    "ArtifactKind",
    "BookLine",
    "Excerpt",
    "Hits",
    "Place",
]
