"""Crashes below Python: C++ exceptions with their frames, and the fault handler's dump."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..event import Event, EventKind, Frame
from .prefix import rank_of, split_label
from .rule import Collected, EventRule, shorten
from .stack import kind_of, parse_frame

_NATIVE = re.compile(
    r"^\s*(?:what\(\):|frame #\d|Exception raised from|CUDA kernel errors|Search for `"
    r"|For debugging|Compile with|Device-side assert|Last error:|nccl[A-Z]|\[?PG ID|\*\*\*|@ +0x|$)"
)
_DUMP = re.compile(
    r"^\s*(?:Thread 0x|Current thread|Stack \(|File \"|Extension modules:|<no Python frame>"
    r"|Python runtime state|Garbage-collecting|Binary file |Cannot show|\.\.\.|$)"
)
_WHAT = re.compile(r"what\(\): *(?P<what>.*)")
_MOST_LINES = 400


def _run(
    lines: Sequence[str], index: int, pattern: re.Pattern[str], final: bool
) -> tuple[list[str], int] | None:
    """The lines from `index` on that belong to a dump, without their label, and their end."""
    stream = split_label(lines[index]).stream
    texts, end = [split_label(lines[index]).body], index + 1
    for position in range(index + 1, min(len(lines), index + _MOST_LINES)):
        label = split_label(lines[position])
        # What NCCL names as the reason stands alone on the line below.
        is_reason = texts[-1].strip() == "Last error:"
        if label.stream != stream or not (is_reason or pattern.match(label.body)):
            return texts[: end - index], end
        texts.append(label.body)
        if label.body.strip():
            end = position + 1
    if len(lines) < index + _MOST_LINES and not final:
        return None
    return texts[: end - index], end


def collect_native(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected | None:
    """A C++ exception or GPU error, with what the library says about it."""
    found = _run(lines, index, _NATIVE, final)
    if found is None:
        return None
    texts, end = found
    groups = match.groupdict("")
    exception = groups.get("exception", "")
    message = groups.get("message") or match.string[match.start() :]
    if exception:
        what = next((said["what"] for text in texts if (said := _WHAT.search(text))), "")
        message = what.strip()
    title = ": ".join(filter(None, (exception, message)))
    rank = rank_of(lines[index])
    if rank is None:
        rank = rank_of(" ".join(texts)[:400])
    event = Event(
        kind_of(exception, message) if exception else rule.kind,
        shorten(title),
        index + 1,
        text="\n".join(text.rstrip() for text in texts)[:50_000],
        last_line=end,
        ranks=() if rank is None else (rank,),
        exception=exception,
        message=message[:2000],
    )
    return Collected((event,), end)


def collect_faulthandler(
    rule: EventRule, match: re.Match[str], lines: Sequence[str], index: int, final: bool
) -> Collected | None:
    """The dump of all threads that Python's fault handler writes when a signal ends it."""
    found = _run(lines, index, _DUMP, final)
    if found is None:
        return None
    texts, end = found
    rank = rank_of(lines[index])
    event = Event(
        EventKind.SIGNAL,
        shorten(match[0]),
        index + 1,
        text="\n".join(text.rstrip() for text in texts)[:50_000],
        last_line=end,
        ranks=() if rank is None else (rank,),
        message=match["reason"].strip(),
        frames=_current_frames(texts),
    )
    return Collected((event,), end)


def _current_frames(texts: Sequence[str]) -> tuple[Frame, ...]:
    """Frames of the thread that crashed, or of the last one listed, which is the main one."""
    threads: list[tuple[bool, list[Frame]]] = []
    for text in texts:
        if "most recent call first" in text:
            threads.append(("Current thread" in text, []))
        elif threads and (frame := parse_frame(text)):
            threads[-1][1].append(frame)
    chosen = next((frames for is_current, frames in threads if is_current and frames), None)
    if chosen is None:
        chosen = threads[-1][1] if threads else []
    return tuple(reversed(chosen))
