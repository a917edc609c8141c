"""From a line that a rule took to the whole event, over as many lines as it has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ..event import Event, EventKind
from .classify import match_rule
from .dask import collect_dask_worker
from .log import EventLog
from .native import collect_faulthandler, collect_native
from .prefix import rank_of, split_label, strip_header
from .rule import Collected, EventRule, shorten
from .samples import collect_sample
from .stack import HEADER, is_log_line, kind_of, parse_raised
from .streams import read_block

_UNBROKEN = re.compile(r"""[^\s"'`(),\uff0c]++""")
_PARTS_OF_PATHS = re.compile(r"[/\\.]")
_WORD = re.compile(r"\w")
_SHELL_TRACE = re.compile(r"^\s*\++ ")
_AFTER_LEVEL = re.compile(
    r"""
    ^(?::[\w.]{1,60}:(?=\S))?[\s\]|:>)-]*
    (?:
        \[[^\]]{1,80}\]\s*
      | [\w.<>]{1,80}:[\w<>]{1,80}:\d{1,6}\s-\s
      | (?:[\w.]{1,60}:\d{1,6}\])?[\d:.,\s-]{0,40}>>\s*
    )?
    """,
    re.VERBOSE,
)
"""What stands between the level and the message."""
_ANNOUNCEMENT = re.compile(r"(?i):$|exception|error has been|traceback|report|uncaught|failed")
"""What an error line says that only introduces the traceback below it."""
_EXIT = re.compile(r"(?:code|status|signal|with)\)?[: ]*(-?\d{1,6})")
_STATUS = re.compile(r"\s*Status: [A-Z_]{5,30}: .*")
"""What the libraries below TensorFlow and JAX print under a line that only says where it was."""
_MOST_WARNING_LINES = 25
_CALL_STACK, _ARGUMENTS = "Call stack:", "Arguments:"
_MOST_STACK = 400

Handler = Callable[[EventRule, re.Match[str], Sequence[str], int, bool], Collected | None]


def collect(lines: Sequence[str], index: int, *, final: bool) -> Collected | None:
    """The events that begin at a line, or None if they need more lines than these.

    Line numbers in the events are relative to `lines`. With `final` the answer is never None.
    """
    found = match_rule(lines[index])
    if found is None or (found[0].is_guarded and _SHELL_TRACE.match(lines[index])):
        return Collected((), index + 1)
    taken, match = found
    return _HANDLERS[taken.collector](taken, match, lines, index, final)


def _collect_line(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected:
    return Collected((_line_event(rule, match, lines[index], index),), index + 1)


def _line_event(rule: EventRule, match: re.Match[str], line: str, index: int) -> Event:
    groups = match.groupdict("")
    message = (groups.get("message") or groups.get("rest") or "").strip()
    if rule.kind in (EventKind.CHECKPOINT, EventKind.RESTART):
        message = _path_in(message) or (message if _WORD.search(message) else "")
        groups["path"] = message
    rank = rank_of(line)
    return Event(
        rule.kind,
        _fill(rule.title, match, groups),
        index + 1,
        text=line.strip()[:20_000],
        last_line=index + 1,
        ranks=() if rank is None else (rank,),
        message=message[:2000],
    )


def _path_in(message: str) -> str:
    """The first thing in a message that looks like a path, without the full stop behind it."""
    words = (found[0].rstrip(".") for found in _UNBROKEN.finditer(message))
    return next((word for word in words if _PARTS_OF_PATHS.search(word, 0, len(word) - 1)), "")


def _fill(template: str, match: re.Match[str], groups: Mapping[str, str]) -> str:
    body = match.string
    values = {**groups, "tail": body[match.start() :], "line": strip_header(body)}
    title = re.sub(r"\{(\w+)\}", lambda name: values.get(name[1], ""), template)
    return shorten(title).rstrip(" :,;-[(=*").lstrip("=* ")


def _collect_traceback(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected | None:
    head = ""
    if "label" in match.re.groupindex:
        body = split_label(lines[index]).body
        head = body[: body.index(match["exception"])]
    block = read_block(lines, index, has_header=rule.collector == "traceback", head=head)
    if block.is_cut and not final:
        return None
    log = EventLog(event for reader in block.readers if (event := reader.event()))
    if not len(log):
        if rule.collector == "traceback" and index + 1 == len(lines):
            return Collected((_line_event(rule, match, lines[index], index),), index + 1)
        if rule.collector != "traceback":
            return Collected((), block.next_index)
        return Collected((), _end_of_headers(lines, index + 1, block.next_index))
    end = block.next_index
    for position in block.foreign:
        if position < end and (found := match_rule(lines[position])):
            log.add(_line_event(*found, lines[position], position))
    return Collected(tuple(log), end)


def _end_of_headers(lines: Sequence[str], index: int, end: int) -> int:
    """Index after the headers at `index`; nothing follows them before `end`, so none is read."""
    while index < end and HEADER.search(lines[index]):
        index += 1
    return index


def _collect_exception(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected | None:
    body = split_label(lines[index]).body
    if body.startswith(("  ", "\t")) and "label" not in match.re.groupindex:
        # An indented `ValueError: if ...` is the docstring of some code, not an error.
        return Collected((), index + 1)
    return _collect_traceback(rule, match, lines, index, final)


def _collect_warning(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected | None:
    label = split_label(lines[index])
    groups = match.groupdict("")
    category, message = groups.get("category", ""), groups.get("message", "").strip()
    if index + 1 >= len(lines) and not final:
        return None
    if index + 1 < len(lines) and HEADER.search(lines[index + 1]):
        block = read_block(lines, index + 1)
        if block.is_cut and not final:
            return None
        end = _end_of_call_stack(lines, block.next_index)
        if end < 0 and not final:
            return None
        end = end if end >= 0 else len(lines)
    else:
        end = _end_of_warning(lines, index, label.stream, has_text=bool(message or not category))
        if end < 0 and not final:
            return None
        if end < 0:
            has_text = bool(message or not category)
            end = index + 1 if has_text else _end_of_paragraph(lines, index, label.stream)
    texts = [split_label(line).body.rstrip() for line in lines[index:end]]
    if category and not message:
        below = texts[1:-1] if texts[-1].startswith("  ") else texts[1:]
        message = " ".join(text.strip(" !") for text in below if text.strip(" !"))
    title = f"{category}: {message}" if category else match[0]
    event = Event(
        rule.kind,
        shorten(title).rstrip(" :"),
        index + 1,
        text="\n".join(texts)[:20_000],
        last_line=end,
        ranks=() if label.rank is None else (label.rank,),
        exception=category,
        message=message[:2000],
    )
    return Collected((event,), end)


def _end_of_call_stack(lines: Sequence[str], index: int) -> int:
    """Index after the call stack that Python's logging prints below a traceback; -1 if cut off."""
    if index >= len(lines) or not split_label(lines[index]).body.startswith(_CALL_STACK):
        return index
    for position in range(index + 1, min(len(lines), index + _MOST_STACK)):
        if split_label(lines[position]).body.startswith(_ARGUMENTS):
            return position + 1
    return index + 1 if len(lines) > index + _MOST_STACK else -1


def _end_of_warning(lines: Sequence[str], index: int, stream: str, *, has_text: bool) -> int:
    """Index after the source line that Python prints below; -1 if that is still to come."""
    last = index + 1 if has_text else index + _MOST_WARNING_LINES
    for position in range(index + 1, last + 1):
        if position >= len(lines):
            return -1
        label = split_label(lines[position])
        is_source = label.body.startswith("  ") and label.body[2:3].strip() != ""
        if is_source and label.stream == stream and "%|" not in label.body:
            return position + 1
    return index + 1 if has_text else _end_of_paragraph(lines, index, stream)


def _end_of_paragraph(lines: Sequence[str], index: int, stream: str) -> int:
    """Index after the text of a warning that begins on the line below and has no source line."""
    for position in range(index + 1, min(len(lines), index + _MOST_WARNING_LINES)):
        label = split_label(lines[position])
        is_other = label.stream != stream or not label.body.strip() or is_log_line(label.body)
        if (
            is_other
            or HEADER.search(label.body)
            or parse_raised(label.body.strip(), is_after_stack=False)
        ):
            return position
    return min(len(lines), index + _MOST_WARNING_LINES)


def _collect_level(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected | None:
    message = _AFTER_LEVEL.sub("", match["message"], count=1).strip()
    if rule.kind is EventKind.ERROR:
        below = lines[index + 1 : index + 3]
        following = next((line for line in below if line.strip()), "")
        if not following and len(below) < 2 and not final:
            return None
        if HEADER.search(following) and _ANNOUNCEMENT.search(message):
            return Collected((), index + 1)
    event = _line_event(rule, match, lines[index], index)
    event.title, event.message = shorten(message), message[:2000]
    end = index + 1
    if rule.kind is EventKind.ERROR and (raised := parse_raised(message, is_after_stack=False)):
        event.exception, event.message = raised
        if not raised[1] and (below := _said_below(lines, index)):
            event.message, end = below, index + 2
            event.title = shorten(f"{raised[0]}: {below}")
        event.kind = kind_of(event.exception, event.message)
    elif rule.kind is EventKind.ERROR and (status := _STATUS.match(_below(lines, index))):
        event.message, end = f"{message} {status[0].strip()}"[:2000], index + 2
        event.title = shorten(event.message)
    if end > index + 1:
        event.text, event.last_line = f"{event.text}\n{_below(lines, index)}", end
    return Collected((event,), end)


def _below(lines: Sequence[str], index: int) -> str:
    return split_label(lines[index + 1]).body if index + 1 < len(lines) else ""


def _said_below(lines: Sequence[str], index: int) -> str:
    """The message of an exception whose type alone stands on a line, if the next one has it."""
    text = _below(lines, index).strip()
    is_prose = " " in text and sum(map(str.isalpha, text[:500])) >= 12
    return text if is_prose and not is_log_line(text) and not HEADER.search(text) else ""


def _collect_exit_code(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected:
    event = _line_event(rule, match, lines[index], index)
    code = _EXIT.search(match[0])
    if code is not None and int(code[1]) == 0:
        event.kind = EventKind.FINISHED
    elif "SIG" in match[0] and event.kind is EventKind.SCHEDULER:
        event.kind = EventKind.SIGNAL
    return Collected((event,), index + 1)


_HANDLERS: dict[str, Handler] = {
    "line": _collect_line,
    "traceback": _collect_traceback,
    "stack": _collect_traceback,
    "exception": _collect_exception,
    "warning": _collect_warning,
    "level": _collect_level,
    "exit_code": _collect_exit_code,
    "native": collect_native,
    "faulthandler": collect_faulthandler,
    "sample": collect_sample,
    "dask_worker": collect_dask_worker,
}
