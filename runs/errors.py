"""What can go wrong, as sentences for the person who has to act on them.

MltdError                 anything we explain instead of crashing
├── InputError            a path, job or stream that cannot be used (exit code 2)
│   └── LeadsOutError     a found file that is left out of its run (no reason for an exit code)
├── FormatError           a file whose content contradicts its format
└── SettingsError         the user's own configuration file is at fault
"""

from __future__ import annotations


class MltdError(Exception):
    """One sentence about what is wrong and where, and a hint about what to do."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Join message and hint on one line, ready for stderr."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class InputError(MltdError):
    """A path, job or stream that cannot be used."""


class LeadsOutError(InputError):
    """A file that was found in a run's folder leads out of it: the run is used without it."""


class FormatError(MltdError):
    """A file whose content contradicts its format."""


class SettingsError(MltdError):
    """The user's own configuration file is at fault."""
