"""The rules in `rules.toml` take what they should, leave the rest, and stay fast."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.event import EventKind
from mltd.runs.events import EventRule, classify
from mltd.runs.events.rulebook import read_rule, rules
from tests.blow_up import no_blow_up
from tests.runs.events.reading import corpus_logs

every_rule = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]\d+)?")


def taken(lines: Iterable[str]) -> dict[str, str | None]:
    """The id of the rule that takes each line."""
    return {line: found.id if (found := classify(line)) else None for line in lines}


@every_rule
def test_a_rule_takes_its_examples(rule: EventRule) -> None:
    assert taken(rule.examples) == dict.fromkeys(rule.examples, rule.id)


@every_rule
def test_no_rule_takes_what_must_stay_quiet(rule: EventRule) -> None:
    assert taken(rule.quiet) == dict.fromkeys(rule.quiet)


@pytest.mark.parametrize(
    "line",
    [
        'raise RuntimeError("CUDA out of memory")',
        "    except RuntimeError as error:",
        'logger.warning("Gradient overflow. Skipping step")',
        'print(f"Training completed in {seconds}")',
        'message = "Saving model checkpoint to disk"',
        "assert not torch.isnan(loss), 'loss is nan, stopping'",
        "test error: 6.47e-03",
        "{'loss': 1.3129, 'error_rate': 0.03, 'epoch': 0.0}",
        "errors='ignore', warnings=False",
        "iter 100: nan_count 0, overflow 0",
        "Finance banana nanosecond",
        "wandb: train/loss 0.123",
        "Number of warnings: 3",
    ],
)
def test_code_settings_and_metrics_are_no_events(line: str) -> None:
    assert classify(line) is None


def test_every_rule_shows_what_it_is_for() -> None:
    assert [rule.id for rule in rules() if not rule.examples] == []
    assert len({rule.id for rule in rules()}) == len(rules())


def test_a_rule_needs_a_lower_case_needle() -> None:
    with pytest.raises(ValueError, match="lower-case"):
        read_rule({"id": "x", "kind": "error", "any": ["Loud"]})


def test_failures_are_terminal_by_default() -> None:
    oom = read_rule({"id": "x", "kind": "oom", "any": ["x"]})
    warning = read_rule({"id": "x", "kind": "warning", "any": ["x"]})
    assert oom.is_terminal
    assert not warning.is_terminal


def respaced(line: str, source: random.Random) -> str:
    """The same line with other numbers and other blanks around them."""

    def number(found: re.Match[str]) -> str:
        digits = source.randint(1, 6)
        text = str(source.randint(10 ** (digits - 1), 10**digits - 1))
        fraction = f".{source.randint(0, 99):02d}" if "." in found[0] else ""
        return text + fraction

    text = NUMBER.sub(number, line)
    return re.sub(" ", lambda _: " " * source.choice((1, 1, 1, 4)), "  " + text)


@every_rule
def test_numbers_and_blanks_do_not_matter(rule: EventRule) -> None:
    variants = [respaced(line, random.Random(seed)) for line in rule.examples for seed in range(8)]
    assert taken(variants) == dict.fromkeys(variants, rule.id)


def test_numbers_do_not_matter_in_real_logs(corpus: Path) -> None:
    source = random.Random(7)
    for name, _, lines in corpus_logs(corpus):
        for line in source.sample(lines, min(60, len(lines))):
            variant = respaced(line, source)
            assert classify(variant) == classify(line), (name, line, variant)


@given(st.text(max_size=300))
def test_any_text_can_be_classified(line: str) -> None:
    assert classify(line) is None or isinstance(classify(line), EventRule)


WORDS = sorted({word for rule in rules() for word in rule.needles})


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), max_size=30))
def test_any_mixture_of_needles_can_be_classified(parts: list[str]) -> None:
    classify(" ".join(parts))


HOSTILE = [
    "a" * 1_000_000,
    "a." * 500_000,
    "A" * 500_000 + "Error",
    "-" * 1_000_000,
    " " * 1_000_000 + "x",
    "(" * 1_000_000,
    "[rank0]:" * 100_000,
    "Saving the best " * 60_000,
    "saved model " * 90_000,
    "Checkpoint a b c d e " * 50_000,
    "loss is nan " * 90_000,
    "Traceback (most recent call" * 40_000,
    "ERROR " * 170_000,
    "warning: " * 120_000,
    'File "' * 170_000,
    "ErrorError" * 100_000 + ": x",
    "1:" * 500_000,
    "*** JOB CANCELLED " * 60_000,
    "NCCL error cuda error: out of memory " * 30_000,
    "\t" * 1_000_000,
    "evaluating " * 100_000 + "...",
    "skipping step nan " * 60_000,
    "/" * 1_000_000 + ".py:1: x",
    "Assertion `" * 100_000,
]


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: line[:12])
def test_a_line_of_a_megabyte_is_no_problem(line: str) -> None:
    # Milliseconds; whole, instead of its two ends, it would take some patterns half an hour.
    with no_blow_up():
        classify(line)


@every_rule
def test_no_pattern_explodes(rule: EventRule) -> None:
    pieces = ["a", " ", "1", "a.", "_", "- ", "x: ", "'", "(", *rule.needles[:2], rule.examples[0]]
    for pattern in map(re.compile, filter(None, (rule.pattern, rule.unless))):
        for piece in pieces:
            text = rule.examples[0][:40] + piece * (8192 // len(piece)) + "!"
            # A tenth of a second at most; with one more repetition in a repetition, hours.
            with no_blow_up():
                pattern.search(text)


def test_kinds_of_the_vocabulary_are_all_used() -> None:
    assert {rule.kind for rule in rules()} == set(EventKind)
