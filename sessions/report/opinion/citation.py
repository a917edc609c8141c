"""One citation as Markdown: its place, what is quoted, and what its check came to."""

from __future__ import annotations

from ..pen import Pen
from ..pieces import Described, number, text
from .reading import CONFIRMED, WRONG, part


def cited(pen: Pen, checked: Described) -> str:
    """The citation; struck through, with the reason, if the artifact shows something else."""
    citation = part(checked, "citation")
    quoted = pen.code(quote_of(citation))
    said = (pen.code(place_of(citation)) or "no place") + (f" {quoted}" if quoted else "")
    shows, reason = pen.text(text(citation, "shows")), pen.text(_reason(checked))
    verdict = text(checked, "verdict")
    if verdict == WRONG:
        claimed = f" ~~{shows}~~" if shows else ""
        return f"~~{said}~~{claimed} (wrong{_after(': ', reason)})"
    said += _after(": ", shows)
    if verdict in CONFIRMED:
        return f"{said} (confirmed{_after('; ', reason)})"
    # The contract's object has no verdicts: what is evidence in it did hold.
    return f"{said} (not checked{_after(': ', reason)})" if verdict else said


def place_of(citation: Described) -> str:
    """Where it says that something stands, in the form in which evidence refers to places."""
    match text(citation, "kind"):
        case "log" | "source" if "ref" not in citation:
            name = text(citation, "artifact") or text(citation, "path")
            first, last = number(citation, "first_line"), number(citation, "last_line")
            lines = "" if first is None else f":{first:.15g}"
            more = f"-{last:.15g}" if last not in (None, first) else ""
            return f"{name}{lines}{more}"
        case "series" if "ref" not in citation:
            step = number(citation, "step")
            at = "" if step is None else f"@{step:.15g}"
            return f"{_in_run(citation)}{text(citation, 'name')}{at}"
        case "config" if "ref" not in citation:
            return f"{_in_run(citation)}config:{text(citation, 'key')}"
        case "finding":
            return f"finding:{text(citation, 'id')}"
    return text(citation, "ref")


def quote_of(citation: Described) -> str:
    """What it says that stands there; nothing for a finding."""
    return text(citation, "quote") or text(citation, "value")


def _reason(checked: Described) -> str:
    """Why, or where it stands instead of where it was said to."""
    if reason := text(checked, "reason"):
        return reason
    if text(checked, "verdict") == "elsewhere":
        for name in ("line", "step"):
            if (instead := number(checked, name)) is not None:
                return f"it is at {name} {instead:.15g}"
    return ""


def _in_run(citation: Described) -> str:
    run = text(citation, "run")
    return f"{run} " if run else ""


def _after(sign: str, said: str) -> str:
    return f"{sign}{said}" if said else ""
