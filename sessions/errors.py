"""What can go wrong with a session, as sentences.

MltdError
└── SessionError          anything about sessions
    ├── Refused           an action that the rules of a triage do not allow
    └── StorageError      a session that cannot be read, or not written
"""

from __future__ import annotations

from mltd.runs.errors import MltdError


class SessionError(MltdError):
    """Anything about sessions that a person should read."""


class Refused(SessionError):
    """An action that the rules of a triage do not allow, and why."""


class StorageError(SessionError):
    """A session that cannot be read, or not written."""
