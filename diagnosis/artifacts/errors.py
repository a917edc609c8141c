"""Why something of the session's files cannot be looked at, as a sentence.

MltdError
└── ArtifactError         no such file in the session, or one that is not read, or not in time
"""

from __future__ import annotations

from mltd.runs.errors import MltdError


class ArtifactError(MltdError):
    """A file that is not part of the session, or cannot be read as wished."""
