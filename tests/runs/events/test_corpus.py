"""Real logs: what went wrong is found, and what went well raises no alarm."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from mltd.runs.event import Event, EventKind
from mltd.runs.events import EventLog
from mltd.runs.events.rule import FAILURES
from tests.runs.events.reading import corpus_logs, read_events

SPEAKING = {
    "killed_sigterm": "SIGTERM",
    "slurm_time_limit": "TIME LIMIT",
    "slurm_cancelled": "Slurm cancelled job",
    "type_error": "TypeError: unsupported operand",
    "data_file_missing": "FileNotFoundError",
    "cuda_oom": "CUDA out of memory",
    "keyboard_interrupt": "KeyboardInterrupt",
    "import_version_mismatch": "AttributeError: module 'paddle.fluid.core_avx'",
    "disk_quota": "Disk quota exceeded",
    "device_mismatch": "Expected all tensors to be on the same device",
    "killed_by_owner": "TERM_OWNER",
    "cuda_illegal_memory_access": "an illegal memory access",
    "torchelastic_childfailed": "torchrun: rank ",
    "nccl_error": "NCCL error",
    "attribute_error_config": "AttributeError: 'NoneType' object has no attribute 'module'",
    "encoding_error": "UnicodeEncodeError",
    "network_error": "ConnectionError",
    "import_error": "ModuleNotFoundError: No module named 'swanboard'",
    "data_error": "JSONDecodeError",
    "peft_or_quantization_config": "ValueError: Some modules are dispatched on the CPU",
    "name_error": "NameError: name 'Dataset' is not defined",
}
"""Failure class to words that some event of the log must say."""

SILENT = {"nan_loss", "loss_spike", "broken_metric", "divergence_in_one_run", "overfitting"}
"""Failure classes that only the numbers show."""


def said(event: Event) -> str:
    return "\n".join((event.title, event.text, *event.chain))


def test_every_written_failure_is_found(corpus: Path) -> None:
    missing = []
    checked = 0
    for name, truth, lines in corpus_logs(corpus):
        events = read_events(lines)
        for failure in truth["failures"]:
            if failure["class"] in SILENT:
                continue
            words = SPEAKING[failure["class"]]
            checked += 1
            if not any(words in said(event) for event in events):
                missing.append((name, failure["class"]))
    assert missing == []
    assert checked >= 20


def test_runs_without_failure_raise_no_alarm(corpus: Path) -> None:
    alarms = []
    for name, truth, lines in corpus_logs(corpus):
        if truth["failures"] or truth["outcome"] == "failed":
            continue
        alarms += [(name, e.title) for e in read_events(lines) if e.kind in FAILURES]
    assert alarms == []


def test_counted_events_have_the_right_number(corpus: Path) -> None:
    counted = {
        "gradient_overflow": "overflow",
        "overflow_warning": "overflow",
        "fp16_overflow_skipped_step": "overflow",
        "warning_no_labels": "warning",
    }
    checked = 0
    for name, truth, lines in corpus_logs(corpus):
        for label, number in truth.get("events", {}).items():
            if label in counted:
                kinds = [event.kind for event in read_events(lines)]
                assert kinds.count(EventKind(counted[label])) == number, (name, label)
                checked += 1
    assert checked == 4


def test_logs_may_arrive_in_pieces(corpus: Path) -> None:
    source = random.Random(3)
    for name, _, lines in corpus_logs(corpus):
        cuts = [source.randrange(len(lines) + 1) for _ in range(source.choice((1, 5, 30)))]
        assert read_events(lines, cuts) == read_events(lines), name


def test_events_of_a_log_fit_a_screen(corpus: Path) -> None:
    for name, _, lines in corpus_logs(corpus):
        log = EventLog(read_events(lines))
        spoken = [event for event in log if event.kind in (*FAILURES, EventKind.ERROR)]
        assert len(spoken) <= 25, name
        assert all(0 < len(event.title) <= 200 for event in log), name


# Excerpts in which only numbers are wrong, or which hold no event at all.
WITHOUT_EVENT = {"dev-006", "dev-045"}


def test_every_reported_failure_excerpt_has_an_event(corpus: Path) -> None:
    excerpts = [json.loads(line) for line in (corpus / "failures.jsonl").read_text().splitlines()]
    silent = {one["id"] for one in excerpts if not read_events(one["excerpt"].split("\n"))}
    assert silent == WITHOUT_EVENT


@pytest.mark.parametrize(
    ("failure_class", "kind"),
    [
        ("cuda_oom", EventKind.OOM),
        ("host_oom_kill", EventKind.OOM),
        ("nccl_timeout", EventKind.NCCL),
        ("slurm_time_limit", EventKind.SCHEDULER),
        ("disk_full", EventKind.EXCEPTION),
        ("fp16_overflow", EventKind.EXCEPTION),
        ("state_dict_mismatch", EventKind.EXCEPTION),
        ("var_dof_warning", EventKind.WARNING),
        ("device_side_assert", EventKind.ERROR),
    ],
)
def test_excerpts_of_a_class_have_its_kind(
    corpus: Path, failure_class: str, kind: EventKind
) -> None:
    excerpts = [json.loads(line) for line in (corpus / "failures.jsonl").read_text().splitlines()]
    chosen = [one["excerpt"] for one in excerpts if one["failure_class"] == failure_class]
    assert chosen
    for excerpt in chosen:
        assert kind in {event.kind for event in read_events(excerpt.split("\n"))}, excerpt
