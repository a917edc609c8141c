"""A second opinion as a session keeps it: plain JSON of which anything may be missing."""

from __future__ import annotations

from .reading import opinion_in, tally_of
from .writing import OpinionWriter

__all__ = ["OpinionWriter", "opinion_in", "tally_of"]
