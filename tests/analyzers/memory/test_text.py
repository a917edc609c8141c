"""The account in words: nothing unknown is hidden, nothing known is without its source."""

from __future__ import annotations

from mltd.analyzers.memory import lines, remedy_rows, rows

from .accounts import GPT2, account, oom

MODEL = "number of parameters: 124.44M\n"
CONFIG: dict[str, object] = {**GPT2, "optimizer": "adamw", "precision": "32"}


def test_an_empty_account_has_nothing_to_say() -> None:
    assert lines(account()) == ()


def test_unknown_parts_are_rows_that_name_what_is_missing() -> None:
    found = {row.name: row for row in rows(account(MODEL))}
    assert found["optimizer state"].size == "unknown"
    assert found["optimizer state"].how == "not stated: optimizer"
    assert found["parameters"].source == "train.log:1"


def test_every_known_row_says_how_it_is_known() -> None:
    for row in rows(account(MODEL + oom(), CONFIG)):
        assert row.origin in ("measured", "derived", "estimated")
        assert row.size != "unknown"


def test_the_message_is_explained_with_its_sum() -> None:
    text = "\n".join(lines(account(MODEL + oom(), CONFIG)))
    assert "Asked for 2 GiB" in text
    assert "76 GiB in tensors + 1.5 GiB reserved but idle" in text
    assert "Idle memory is 1.9% of the device" in text
    assert "Weights, gradients and optimizer state: 1.85 GiB (derived)" in text
    assert "The largest known part" in text


def test_remedies_are_rows_with_their_arithmetic() -> None:
    found = {row.name: row for row in remedy_rows(account(MODEL + oom(), CONFIG))}
    half = found["half the batch, twice the accumulation"]
    assert half.origin == "estimated"
    assert "fits" in half.how
    assert "%" in half.size


def test_what_is_assumed_is_said() -> None:
    text = "\n".join(lines(account(MODEL, {"optimizer": "adamw"})))
    assert "no precision is stated" in text
    assert "neither ZeRO nor FSDP is stated" in text
    stated = account(MODEL, {"optimizer": "adamw", "precision": "32", "world_size": 1})
    assert stated.assumptions == ()
