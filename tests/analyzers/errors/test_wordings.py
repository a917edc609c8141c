"""Failures in many wordings are recognised by the form of the sentence, and plain bugs are not."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from mltd.analyzers.errors.book import entries, match
from mltd.runs.event import Event, EventKind
from tests.blow_up import no_blow_up

from .told_log import alarms, diagnosis_of, traceback

WORDINGS = tomllib.loads((Path(__file__).parent / "wordings.toml").read_text(encoding="utf-8"))
KINDS = [(frozenset(kind["any"]), said) for kind in WORDINGS["kind"] for said in kind["said"]]
PLAIN = [said for kind in WORDINGS["plain"] for said in kind["said"]]
_RAISED = re.compile(
    r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*(?::? |:?$)|[A-Z]\w*(?:Error|Exception)(?:: |$)"
)
PROSE = (
    "Note that {} is a common message, see the docs",
    '    raise RuntimeError("{}")',
    "# TODO: explain {}",
)


def log_of(said: str) -> str:
    """The log of a run that ended with a message, in a traceback if it is an exception."""
    before = "step 1 loss 2.5\nstep 2 loss 2.4\n"
    if not _RAISED.match(said) and said not in ("MemoryError", "KeyboardInterrupt"):
        return f"{before}{said}\n"
    return before + traceback(
        said,
        "/home/me/train.py:88 main()",
        "/home/me/net/model.py:41 y = self.layer(x)",
        "/env/lib/python3.11/site-packages/torch/nn/modules/module.py:1500 return fn(*args)",
    )


def name_of(part: object) -> str:
    """Sets have no order that two processes would agree on."""
    return "-".join(sorted(part)) if isinstance(part, frozenset) else str(part)[:60]


@pytest.mark.parametrize(("findings", "said"), KINDS, ids=name_of)
def test_a_failure_in_these_words_is_recognised(findings: frozenset[str], said: str) -> None:
    found = diagnosis_of(log_of(said))
    assert findings & {one.id for one in found.findings}


@pytest.mark.parametrize("said", PLAIN, ids=lambda text: text[:60])
def test_a_plain_bug_is_an_exception_and_nothing_else(said: str) -> None:
    found = diagnosis_of(log_of(said))
    assert {one.id for one in found.findings} - {"stall"} <= {"exception"}


@pytest.mark.parametrize("form", PROSE)
def test_prose_and_code_that_mention_a_message_are_quiet(form: str) -> None:
    steps = [f"step {n} loss {3 - n / 500:.3f}" for n in range(3 * len(KINDS))]
    lines = []
    for number, (_, said) in enumerate(KINDS):
        text = said.partition(": ")[2].partition("\n")[0].replace('"', "'") or "a failure"
        lines += [*steps[3 * number : 3 * number + 3], form.format(text)]
    found = diagnosis_of("\n".join([*lines, *steps[-3:], "Training completed"]) + "\n")
    assert not {entry.finding for entry in entries()} & set(alarms(found))


def test_no_long_message_makes_a_pattern_explode() -> None:
    texts = ["size of tensor must match expected index not found " * 80]
    texts += ["a_b-c.d/e " * 400, "(" * 3900, "no data not found in /a/b " * 150, "'a' " * 999]
    for text in texts:
        for kind in ("ValueError", "KeyError"):
            # A tenth of a second at most; a repetition in a repetition takes hours.
            with no_blow_up():
                match(Event(EventKind.EXCEPTION, text, 1, text=text, exception=kind, message=text))
