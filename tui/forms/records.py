"""What is written down along the way: notes, decisions, and what keeps it from coming back."""

from __future__ import annotations

from mltd.sessions.actions.records import PutDecision, PutNote, PutPrevention
from mltd.sessions.model.records import Decision, Note, Prevention, PreventionKind

from .field import Field, Kind, Values, fitting_kind
from .form import Form, Reading

_KINDS = (
    (PreventionKind.MONITOR, "something that rings before it happens again"),
    (PreventionKind.TEST, "something that fails before it is merged"),
    (PreventionKind.CHANGE, "a change that makes it impossible"),
    (PreventionKind.DOCUMENT, "something that the next person can read"),
)


def note_form(new_id: str, note: Note | None = None) -> Form[PutNote]:
    """A note, or an older one to be written anew; `new_id` is only used without one."""
    note_id = note.id if note is not None else new_id

    def read(values: Values) -> PutNote:
        return PutNote(id=note_id, text=Reading(values).text("text"))

    text = note.text if note is not None else ""
    hint = "worth remembering, or telling whoever comes next"
    if note is not None:
        hint = "an empty note is removed"
    return Form(
        "Note" if note is None else f"Note {note.id}",
        (Field("text", "Note", text, Kind.TEXT, hint=hint, is_required=note is None),),
        read,
    )


def decision_form(new_id: str, decision: Decision | None = None) -> Form[PutDecision]:
    """What was decided and why, or an older decision; `new_id` is only used without one."""
    decision_id = decision.id if decision is not None else new_id

    def read(values: Values) -> PutDecision:
        reading = Reading(values)
        return PutDecision(
            id=decision_id, text=reading.text("text"), because=reading.text("because")
        )

    text, because = (decision.text, decision.because) if decision is not None else ("", "")
    hint = "what is done, or not done, from now on"
    return Form(
        "Decision" if decision is None else f"Decision {decision.id}",
        (
            Field(
                "text",
                "Decided",
                text,
                fitting_kind(text),
                hint=hint,
                is_required=decision is None,
            ),
            Field("because", "Because", because, fitting_kind(because), hint="what it rests on"),
        ),
        read,
        note="" if decision is None else "A decision without a text is removed.",
    )


def prevention_form(
    new_id: str, prevention: Prevention | None = None, owner: str = ""
) -> Form[PutPrevention]:
    """What keeps it from coming back; `owner` is who answers for the session."""
    text, kind = "", PreventionKind.MONITOR
    if prevention is not None:
        new_id, text, kind, owner = (
            prevention.id,
            prevention.text,
            prevention.kind,
            prevention.owner,
        )

    def read(values: Values) -> PutPrevention:
        reading = Reading(values)
        new = Prevention(
            id=new_id,
            text=reading.text("text"),
            kind=PreventionKind(reading.text("kind")),
            owner=reading.text("owner"),
            is_done=prevention is not None and prevention.is_done,
        )
        return PutPrevention(prevention=new)

    return Form(
        "Prevention" if prevention is None else f"Prevention {new_id}",
        (
            Field(
                "text",
                "What",
                text,
                hint="e.g. alert when grad_norm is above 10 for 50 steps",
                is_required=True,
            ),
            Field(
                "kind",
                "Kind",
                kind.value,
                Kind.CHOICE,
                choices=tuple((one.value, one.value) for one, _ in _KINDS),
                hint=_meaning,
            ),
            Field("owner", "Owner", owner, hint="who sees to it: a name or a team"),
        ),
        read,
    )


def _meaning(values: Values) -> str:
    return next((words for kind, words in _KINDS if kind.value == values.get("kind")), "")
