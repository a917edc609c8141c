"""The book of messages: every entry is taken by its examples and has complete fixes."""

from __future__ import annotations

import re

import pytest

from mltd.analyzers.core.registry import registry
from mltd.analyzers.errors.book import Entry, compiled, entries, fill, match
from mltd.runs.event import Event, EventKind

_TYPE = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>(?s:.*)))?")
ENTRIES = entries()
_HARMFUL = re.compile(r"\brm\b|chmod 777|\bkill(?:all)?\b|mkfs|--force\b")


def event_of(text: str) -> Event:
    raised = _TYPE.fullmatch(text)
    is_text = ": error: " in text or text.startswith(("WARNING", "Error:", "AMP", "wandb: "))
    if raised is None or is_text or re.search(r"Warning$|^ERROR$", raised["type"]):
        return Event(EventKind.ERROR, text, 1, text=text)
    kind, message = raised["type"], raised["message"] or ""
    return Event(EventKind.EXCEPTION, text, 1, text=text, exception=kind, message=message)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.rule)
def test_examples_are_taken_by_their_own_entry(entry: Entry) -> None:
    for example in entry.examples:
        found = match(event_of(example))
        assert found is not None, example
        assert found.entry.rule == entry.rule, (example, found.entry.rule)
        title = fill(entry.title, {**found.groups, "quote": found.quote, "file": "f", "code": "c"})
        assert title or entry.finding == "exception"
    for example in entry.quiet:
        found = match(event_of(example))
        assert found is None or found.entry.rule != entry.rule


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.rule)
def test_entries_are_complete(entry: Entry) -> None:
    assert entry.examples or entry.code
    assert entry.causes
    assert entry.issue
    assert set(entry.causes) <= set(registry().causes)
    assert entry.finding in registry().analyzers
    for cause in entry.causes:
        assert entry.finding in registry().causes[cause].explains, cause
    for advice in entry.fixes:
        assert advice.cause in entry.causes
        assert not _HARMFUL.search(f"{advice.change} {advice.example}")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.rule)
def test_patterns_are_sound_before_they_are_needed(entry: Entry) -> None:
    assert entry.pattern
    for pattern in (entry.pattern, entry.exception, entry.code, entry.unless):
        compiled(pattern)


def test_names_are_unique() -> None:
    names = [entry.rule for entry in ENTRIES]
    assert len(names) == len(set(names))


def test_a_template_leaves_no_trace_of_what_is_unknown() -> None:
    assert fill("a {known} b {unknown} c", {"known": "1"}) == "a 1 b c"


@pytest.mark.parametrize(
    ("said", "finding"),
    [
        ("mylib.errors.ShapeMismatchError: layer 3", "shape_mismatch"),
        ("some.DatasetNotFoundError: coco", "missing_file"),
        ("some.CheckpointNotFoundError: step_100", "checkpoint_missing"),
        ("some.DeviceMismatchError: query", "device_mismatch"),
        ("some.EmptyDatasetError: train", "empty_data"),
        ("some.IndexOutOfBoundsError: 7", "index_out_of_range"),
        ("some.TrainingFailedError: giving up", ""),
        ("some.RayTaskError: giving up", ""),
    ],
)
def test_the_name_of_an_unknown_exception_is_read_as_a_sentence(said: str, finding: str) -> None:
    found = match(event_of(said))
    assert (found.entry.finding if found is not None else "") == finding
    if found is not None:
        assert found.quote == said
