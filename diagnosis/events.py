"""What happens during a consultation, one plain value per thing that happened.

They cross threads and processes, so each holds texts and numbers alone.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Thinking(NamedTuple):
    """The next piece of what the model lets us see of its thoughts."""

    text: str


class Text(NamedTuple):
    """The next piece of what the model says."""

    text: str


class ToolCalled(NamedTuple):
    """The model asked for a look at something."""

    id: str
    name: str
    brief: str
    """The arguments on one line."""


class ToolDone(NamedTuple):
    """The look is over; `brief` says on one line what came of it."""

    id: str
    brief: str
    is_error: bool = False


class Usage(NamedTuple):
    """What the consultation has used so far, follow-up questions included."""

    input: int
    """Tokens sent and paid in full, those written to the cache included."""
    output: int
    cached: int
    """Tokens sent that the cache already had."""
    dollars: float | None
    """None where the price of the model is not known."""
    seconds: float


class Retrying(NamedTuple):
    """The service asked for patience; the question is sent again after `seconds`."""

    seconds: float
    why: str


class Wrapping(NamedTuple):
    """A budget is used up, so the model was told to answer with what it has."""

    why: str


class Answered(NamedTuple):
    """The structured answer, as JSON; its citations are not checked yet."""

    opinion_json: str


class Checking(NamedTuple):
    """So many of the citations of the answer were looked up."""

    done: int
    total: int


class Replied(NamedTuple):
    """A follow-up question was answered in words alone; the diagnosis stands."""

    text: str


class Failed(NamedTuple):
    """The consultation ended without an answer; what was said until then stands."""

    sentence: str
    hint: str = ""


class Cancelled(NamedTuple):
    """The user ended it; what was said until then stands."""


Event: TypeAlias = (
    Thinking
    | Text
    | ToolCalled
    | ToolDone
    | Usage
    | Retrying
    | Wrapping
    | Answered
    | Checking
    | Replied
    | Failed
    | Cancelled
)
