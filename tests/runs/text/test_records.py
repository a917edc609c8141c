"""Dicts and JSON objects in a line."""

from __future__ import annotations

import math

import pytest

from mltd.runs.text.records import MAX_DEPTH, find_record, scan_record


def numbers_of(text: str) -> dict[str, float]:
    """Names and numbers of the record in a text, after checking that the spans fit."""
    span = find_record(text)
    assert span is not None
    leaves = scan_record(text, *span)
    assert leaves is not None
    assert all(text[slice(*leaf.span)] == leaf.text for leaf in leaves if leaf.value is not None)
    return {leaf.name: leaf.value for leaf in leaves if leaf.value is not None}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("{'loss': 0.69, 'epoch': 2}", {"loss": 0.69, "epoch": 2}),
        ('INFO {"loss": "3.922"} done', {"loss": 3.922}),
        ('{"val": {"acc": 0.5, "n": 3}}', {"val/acc": 0.5, "val/n": 3}),
        ('{"loss": {"mean": 0.5, "max": 3}}', {"loss": 0.5, "loss/max": 3}),
        ("{loss: 0.5, lr: 1e-4}", {"loss": 0.5, "lr": 1e-4}),
        ("{'loss': tensor(0.5, device='cuda:0')}", {"loss": 0.5}),
        ("{'acc': np.float64(0.5), 'n': 3}", {"acc": 0.5, "n": 3}),
        ("{'betas': [0.9, 0.95], 'lr': 0.1}", {"lr": 0.1}),
        ('{"step": [3, 1200], "loss": 2}', {"epoch": 3, "step": 1200, "loss": 2}),
        ('{"step": [3], "val_loss": 2}', {"epoch": 3, "val_loss": 2}),
        ("{'runs': [{'lr': 0.1}], 'loss': 2}", {"loss": 2}),
        ("{'loss': -Infinity}", {"loss": -math.inf}),
        ("{'name': 'run 3', 'best': None, 'loss': 2}", {"loss": 2}),
    ],
)
def test_names_and_numbers(text: str, numbers: dict[str, float]) -> None:
    assert numbers_of(text) == numbers


def test_words_are_leaves_without_a_number() -> None:
    text = "{'name': 'run 3', 'best': None, 'last': True}"
    leaves = scan_record(text, 0, len(text))
    assert leaves is not None
    assert [(leaf.name, leaf.text, leaf.value) for leaf in leaves] == [
        ("name", "run 3", None),
        ("best", "None", None),
        ("last", "True", None),
    ]


@pytest.mark.parametrize("text", ["no braces", "} {", "{}", "loss {", "{ }"])
def test_no_record_is_found_without_a_key_in_braces(text: str) -> None:
    assert find_record(text) is None


def test_unbalanced_brackets_are_no_record() -> None:
    assert scan_record("{'a': 1}}", 0, 9) is None


def test_nesting_has_a_limit() -> None:
    text = "{'a': " * (MAX_DEPTH + 2)
    assert scan_record(text, 0, len(text)) is None
    text = "{'a': " * (MAX_DEPTH + 1)
    assert scan_record(text, 0, len(text)) == []


def test_a_list_of_one_number_is_that_number() -> None:
    assert numbers_of('{"lr": [0.5], "betas": [0.1, 0.2], "deep": [[3]], "loss": 2}') == {
        "lr": 0.5,
        "loss": 2,
    }


def test_a_text_that_counts_is_a_number() -> None:
    assert numbers_of('{"step": "10/400", "loss": "2.5"}') == {"step": 10, "loss": 2.5}
