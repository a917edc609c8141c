"""Reading events from lines in the way the text reader does, for tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mltd.runs.event import Event
from mltd.runs.events import EventRule, classify, collect

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_IGNORED = str.maketrans("", "", "0123456789 \t.+-eE")


def skeleton(line: str) -> str:
    """What is left of a line when everything that varies from line to line is removed."""
    return line.translate(_IGNORED)


def read_events(lines: Sequence[str], cuts: Iterable[int] = ()) -> list[Event]:
    """All events of some lines that arrive in pieces, ending at the cuts."""
    rules: dict[str, EventRule | None] = {}
    events: list[Event] = []
    position = 0
    ends = [*sorted(cuts), len(lines)]
    for number, end in enumerate(ends):
        window = lines[position:end]
        position += _read_window(window, position, rules, events, final=number == len(ends) - 1)
    return events


def _read_window(
    window: Sequence[str],
    offset: int,
    rules: dict[str, EventRule | None],
    events: list[Event],
    *,
    final: bool,
) -> int:
    index = 0
    while index < len(window):
        shape = skeleton(window[index])
        if shape not in rules:
            rules[shape] = classify(window[index])
        if rules[shape] is None:
            index += 1
            continue
        collected = collect(window, index, final=final)
        if collected is None:
            assert not final, "collect must not ask for more when there is no more"
            return index
        assert collected.next_index > index, "collect must move on"
        for event in collected.events:
            event.line += offset
            event.last_line += offset
            events.append(event)
        index = collected.next_index
    return index


def only_event(text: str) -> Event:
    """The one event that a text holds."""
    (event,) = read_events(text.strip("\n").split("\n"))
    return event


def corpus_logs(corpus: Path) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """Every text log of the corpus: its name, what is known about it, its clean lines."""
    for record in (corpus / "INDEX.jsonl").read_text().splitlines():
        entry = json.loads(record)
        name = entry["file"]
        if not name.endswith((".csv", ".tsv", ".wandb")) and "tfevents" not in name:
            yield name, entry["truth"], clean_lines((corpus / name).read_bytes())


def clean_lines(data: bytes) -> list[str]:
    """Decoded lines without escape codes; every state of a progress bar is a line."""
    is_wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = _ANSI.sub("", data.decode("utf-16" if is_wide else "utf-8", "replace"))
    lines = [part for line in text.split("\n") for part in (line.strip("\r").split("\r"))]
    return lines[:-1] if lines and not lines[-1] else lines
