"""Why a consultation ended without an answer.

MltdError
└── ConsultError      a sentence, what to do about it, and whether trying again may help
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from mltd.runs.errors import MltdError

Kind: TypeAlias = Literal[
    "disabled",
    "not_installed",
    "no_key",
    "bad_key",
    "bad_address",
    "other_destination",
    "unauthorized",
    "forbidden",
    "billing",
    "unknown_model",
    "no_service",
    "too_long",
    "invalid",
    "rate_limited",
    "overloaded",
    "server",
    "timeout",
    "refused_connection",
    "dns",
    "tls",
    "proxy",
    "connection",
    "cut",
    "malformed",
    "refusal",
    "filtered",
    "max_tokens",
    "budget",
    "history",
]


class ConsultError(MltdError):
    """One failure of a consultation, told so that a person knows what to do."""

    def __init__(
        self,
        sentence: str,
        *,
        kind: Kind,
        hint: str = "",
        is_temporary: bool = False,
        retry_after: float | None = None,
        unusable: str = "",
    ) -> None:
        super().__init__(sentence, hint=hint)
        self.kind = kind
        self.is_temporary = is_temporary
        self.retry_after = retry_after
        """Seconds that the service asked to wait."""
        self.unusable = unusable
        """What the model sent and nobody can read as an answer."""

    @property
    def sentence(self) -> str:
        """What is wrong, without the hint."""
        return self.message
