"""What screen and engine say to each other about a second opinion; plain values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mltd.diagnosis.events import Event, Usage
    from mltd.diagnosis.preview import Preview

# -- wishes of the screen ------------------------------------------------------------------


class PackRequest(NamedTuple):
    """Get ready to ask Claude about a run: what would be sent is told, and nothing is sent."""

    ticket: int
    """Of the conversation; a later request with the same one begins it anew."""
    run: int
    """The one that is looked at."""
    session: str = ""
    """JSON of the session; empty if there is none yet."""
    runs: tuple[tuple[str, int], ...] = ()
    """Ids that the session gives to runs, and their numbers here."""
    model: str = ""
    is_disabled: bool = False
    """Somebody said `--no-claude`."""
    is_redacted: bool = False
    """Users, hosts and paths are masked too."""
    named: tuple[str, ...] = ()
    """What the user has named on the command line: may be links to anywhere."""
    sources: tuple[str, ...] = ()
    """Folders of code that the user added, and that Claude may read in."""


class Consult(NamedTuple):
    """Send what was packed for this conversation: somebody has agreed to it."""

    ticket: int


class FollowUp(NamedTuple):
    """Ask on in the same conversation."""

    ticket: int
    question: str


class StopConsult(NamedTuple):
    """End the question that is under way, at once."""

    ticket: int


class OpinionRequest(NamedTuple):
    """Lay out opinions that a session has kept, beside what the analyzers say now."""

    ticket: int
    run: int
    session: str
    runs: tuple[tuple[str, int], ...]
    bodies: tuple[str, ...]
    """JSON of each kept diagnosis."""


# -- an opinion as it is shown ---------------------------------------------------------------


class Cited(NamedTuple):
    """A citation and what its check came to; or a consideration in words."""

    kind: str
    """log, series, config, source, finding, or words."""
    place: str = ""
    """For people: `run1/train.log:812-815`."""
    ref: str = ""
    """As evidence refers to the same place, to jump there; empty if nothing can be shown."""
    run: int | None = None
    """Number of the run that the place is in."""
    quote: str = ""
    shows: str = ""
    verdict: str = "confirmed"
    """confirmed, elsewhere (it stands at `place`, not where it was said), wrong or unreadable."""
    reason: str = ""


class OpinedCause(NamedTuple):
    """A root cause according to Claude, with as much confidence as its evidence bears."""

    id: str
    issue: str
    severity: str
    confidence: float
    said: float
    """What Claude gave."""
    basis: str
    ceiling: float
    is_known: bool
    """False if the id is none of the catalogue."""
    explanation: str = ""
    explains: tuple[str, ...] = ()
    evidence: tuple[Cited, ...] = ()
    against: tuple[Cited, ...] = ()
    notes: tuple[str, ...] = ()
    hypothesis: str = ""
    """JSON of the hypothesis that it would become; its id is to be given anew."""


class OpinedFix(NamedTuple):
    """A fix according to Claude; one with dangers is never copied by a single key."""

    title: str
    change: str = ""
    example: str = ""
    addresses: str = ""
    expected: str = ""
    verify: str = ""
    if_it_fails: str = ""
    is_reversible: bool = True
    is_quick: bool = False
    dangers: tuple[str, ...] = ()
    """Why it is dangerous, each with the words that give it away."""


class Needed(NamedTuple):
    """Data that would settle it."""

    what: str
    why: str = ""
    how: str = ""


class Stand(NamedTuple):
    """One line of analyzers and Claude side by side."""

    relation: str
    """agree, disagree, only Claude or only analyzers."""
    subject: str
    """cause or finding."""
    ours: str = ""
    ours_confidence: float | None = None
    claudes: str = ""
    claudes_confidence: float | None = None
    why: str = ""


class OpinionPage(NamedTuple):
    """A checked opinion, ready to be drawn."""

    status: str
    summary: str
    tally: str
    """`5 of 6 citations confirmed, 1 wrong`."""
    causes: tuple[OpinedCause, ...] = ()
    fixes: tuple[OpinedFix, ...] = ()
    """The quick ones first."""
    needed: tuple[Needed, ...] = ()
    stands: tuple[Stand, ...] = ()
    notes: tuple[str, ...] = ()


# -- news of the engine ----------------------------------------------------------------------


class Packed(NamedTuple):
    """What would be sent, or why nothing can be."""

    ticket: int
    preview: Preview | None = None
    text: str = ""
    """The evidence, word for word."""
    problem: str = ""
    hint: str = ""


class Consulting(NamedTuple):
    """What happened in a conversation since the last time, in order."""

    ticket: int
    events: tuple[Event, ...]


class Consulted(NamedTuple):
    """A question has come to its end: the last that is said about it."""

    ticket: int
    question: str
    """Empty for the first one."""
    text: str
    """All that was said, thoughts left out."""
    usage: Usage
    page: OpinionPage | None = None
    """None if there was no opinion: a follow-up in words, a failure, a cancellation."""
    problem: str = ""
    hint: str = ""
    is_cancelled: bool = False
    status: str = ""
    """For the session's record: that of the opinion, else replied, failed or cancelled."""
    body: str = "{}"
    """JSON for the session's record: the contract's diagnosis object where there is one, and
    `model`, `host`, `is_redacted`, `usage`, `question`, `text`, `looks`, `error`."""


class KeptOpinions(NamedTuple):
    """Opinions of a session, laid out; None for one that holds no opinion."""

    ticket: int
    pages: tuple[OpinionPage | None, ...]


ConsultWish = PackRequest | Consult | FollowUp | StopConsult | OpinionRequest
ConsultNews = Packed | Consulting | Consulted | KeptOpinions
