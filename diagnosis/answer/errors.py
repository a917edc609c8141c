"""Why an answer cannot be used, told so that the model can mend it.

MltdError
└── AnswerError           not the form that was asked for, or it contradicts itself
"""

from __future__ import annotations

from collections.abc import Sequence

from mltd.runs.errors import MltdError

_MOST = 6
"""Faults that are told; a model that made more has to begin anew."""


class AnswerError(MltdError):
    """An answer that says nothing, or something else than its form allows."""

    problem = ""
    """The same for people: what is wrong, without what the model should do about it."""

    @classmethod
    def of(cls, faults: Sequence[str]) -> AnswerError:
        """All that is wrong, in one message that can be sent back."""
        told = "; ".join(faults[:_MOST])
        more = f"; and {len(faults) - _MOST} more" if len(faults) > _MOST else ""
        error = cls(
            f"the diagnosis cannot be used: {told}{more}",
            hint="send the whole diagnosis again with this corrected",
        )
        # A fault ends with what to give instead: `status is 'x'; give one of ...`.
        error.problem = "; ".join(one.rpartition("; ")[0] or one for one in faults[:_MOST]) + more
        return error
