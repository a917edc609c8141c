"""Citations as models write them: in their own fields, or with the place in one text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .citation import (
    Citation,
    ConfigCitation,
    FindingCitation,
    LogCitation,
    Objection,
    SeriesCitation,
    SourceCitation,
)
from .form import Form, kind_of, said_by
from .wording import one_line, some_lines

_KINDS = ("log", "series", "config", "source", "finding")
_MEANT = {"metric": "series", "code": "source", "setting": "config", "metrics": "series"}
_LINES = re.compile(r"\s*L?(\d{1,15})\s*(?:(?:-|–|\.\.|,|to|:)\s*L?(\d{1,15}))?\s*", re.IGNORECASE)
_LINES_BEHIND = re.compile(r"(?P<name>.+?):L?(?P<lines>\d{1,15}(?:(?:-|–|\.\.)L?\d{1,15})?)")
_STEP_BEHIND = re.compile(r"(?P<name>.+)@(?P<step>[-+\d.,eE]+)", re.DOTALL)
_WRITTEN = re.compile(
    r"(?P<place>[^\s:]{1,200}:L?\d{1,15}(?:(?:-|–|\.\.)\d{1,15})?)[:,]?\s+(?P<quote>\S.*)",
    re.DOTALL,
)
_NAME, _VALUE, _QUOTE, _SHOWS = 400, 400, 1000, 400


def citation_in(form: Form) -> Citation | None:
    """The citation that an object is; None with a fault if it is none."""
    kind = (said_by(form.get("kind", "type")) or _guessed(form)).strip().casefold()
    kind = _MEANT.get(kind, kind)
    before = len(form.faults)
    shows = form.line("shows", "why", "note", most=_SHOWS)
    found: Citation | None = None
    if kind in ("log", "source"):
        found = _lines(form, kind, shows)
    elif kind == "series":
        found = _series(form, shows)
    elif kind == "config":
        found = ConfigCitation(
            run=form.line("run", most=_NAME),
            key=form.line("key", "name", most=_NAME, is_needed=True).removeprefix("config:"),
            value=_value(form),
            shows=shows,
        )
    elif kind == "finding":
        found = FindingCitation(
            id=form.line("id", "finding", most=_NAME, is_needed=True), shows=shows
        )
    else:
        form.fault("kind", f"is {kind[:40]!r}; give one of {', '.join(_KINDS)}")
    return found if len(form.faults) == before else None


def evidence_in(value: object, form: Form, index: int) -> Citation | None:
    """A citation of a list, also one that was written as a line: `train.log:812: Killed`."""
    name = f"evidence[{index}]"
    if isinstance(value, Mapping):
        return citation_in(form.inner(name, value))
    written = _WRITTEN.fullmatch(value.strip()) if isinstance(value, str) else None
    if written is None:
        form.fault(name, f"is {kind_of(value)}; give a citation as an object with its kind")
        return None
    fields = {"kind": "log", "artifact": written["place"], "quote": written["quote"]}
    return citation_in(form.inner(name, fields))


def objection_in(value: object, form: Form, index: int) -> Objection | None:
    """What speaks against something: an object is a citation, a text stays words."""
    if isinstance(value, Mapping):
        inner = form.inner(f"against[{index}]", value)
        words = said_by(inner.get("text", "remark"))
        if words is not None and inner.get("kind", "type") in (None, "text", "remark"):
            return some_lines(words, _QUOTE)
        return citation_in(inner)
    if (said := said_by(value)) is not None:
        return some_lines(said, _QUOTE)
    form.fault(f"against[{index}]", f"is {kind_of(value)}; give a citation or a text")
    return None


def _guessed(form: Form) -> str:
    """The kind by the fields that only it has."""
    fields = {"artifact": "log", "step": "series", "key": "config", "path": "source"}
    return next((kind for name, kind in fields.items() if form.get(name) is not None), "")


def _lines(form: Form, kind: str, shows: str) -> Citation | None:
    name = form.line("artifact", "path", "file", most=_NAME, is_needed=True)
    span = _stated_lines(form)
    behind = _LINES_BEHIND.fullmatch(name)
    if behind is not None:
        name, span = behind["name"], span or _span(behind["lines"])
    quote = form.text("quote", "text", most=_QUOTE)
    if span is None:
        form.fault("first_line", "is missing or no line number; give the line as the tools do")
        return None
    first, last = min(span), max(span)
    if first < 1:
        form.fault("first_line", f"is {first}; lines count from 1")
        return None
    if kind == "source":
        return SourceCitation(path=name, first_line=first, last_line=last, quote=quote, shows=shows)
    return LogCitation(artifact=name, first_line=first, last_line=last, quote=quote, shows=shows)


def _stated_lines(form: Form) -> tuple[int, int] | None:
    first = _span(form.get("first_line", "lines", "line", "line_number"))
    last = _span(form.get("last_line"))
    if first is None:
        return last
    return first if last is None else (first[0], last[1])


def _span(value: object) -> tuple[int, int] | None:
    """Lines as numbers: 812, "812-815", [812, 815]."""
    if isinstance(value, list | tuple) and 1 <= len(value) <= 2:
        ends = [_span(one) for one in value if not isinstance(one, list | tuple)]
        known = [end for end in ends if end is not None]
        return (known[0][0], known[-1][1]) if len(known) == len(value) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return (value, value) if abs(value) < 10**15 else None
    found = _LINES.fullmatch(value) if isinstance(value, str) and len(value) < 60 else None
    return (int(found[1]), int(found[2] or found[1])) if found is not None else None


def _series(form: Form, shows: str) -> Citation | None:
    name = form.line("name", "series", "metric", most=_NAME, is_needed=True)
    behind = _STEP_BEHIND.fullmatch(name) if form.get("step") is None else None
    if behind is not None:
        name = behind["name"]
        form = Form({**form.values, "step": behind["step"]}, form.where, form.faults)
    step = form.number("step", "epoch", "x")
    if step is None:
        return None
    run = form.line("run", most=_NAME)
    return SeriesCitation(run=run, name=name, step=step, value=_value(form), shows=shows)


def _value(form: Form) -> str:
    """What is said to stand there; a null that was a NaN on its way here is said to be missing."""
    value = form.get("value")
    if isinstance(value, Mapping | list | tuple):
        return one_line(_compact(value), _VALUE)
    return form.line("value", "quote", most=_VALUE, is_needed=True)


def _compact(value: object) -> str:
    import json

    try:
        return json.dumps(value, default=str)[: 4 * _VALUE]
    except (RecursionError, ValueError, TypeError):
        return "(nested too deeply)"
