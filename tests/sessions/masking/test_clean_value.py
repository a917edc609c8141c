"""Masking of what JSON can hold: keys name the secrets, the shape stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.sessions.masking import Masker


@pytest.mark.parametrize(
    "key",
    ["password", "passwd", "secret", "token", "api_key", "apikey", "access_key", "authorization",
     "private_key", "credentials", "connection_string", "hf_token", "AWS_SECRET_ACCESS_KEY"],
)  # fmt: skip
def test_a_key_that_names_a_secret_masks_its_value(key: str) -> None:
    cleaned = Masker().clean_value({key: "x9-hidden-value", "lr": 0.1})
    assert cleaned[key].startswith("[masked: ")
    assert cleaned["lr"] == 0.1


@pytest.mark.parametrize(
    ("key", "value"),
    [("tokenizer", "gpt2"), ("max_tokens", 100), ("token_count", 7), ("num_tokens", "12"),
     ("pad_token", "<pad>"), ("keyframe", "a7b9c2d4e6f8"), ("monkey", "banana"), ("password", None),
     ("token", 3), ("use_auth_token", True), ("eos_token_id", 2), ("cache_key", "3f2a1b9c8d7e")],
)  # fmt: skip
def test_other_keys_keep_their_value(key: str, value: object) -> None:
    assert Masker().clean_value({key: value}) == {key: value}


@pytest.mark.parametrize("key", ["password", "secret", "token", "api_key", "credential"])
def test_a_short_value_below_such_a_key_is_secret_too(key: str) -> None:
    assert Masker().clean_value({key: "abc"})[key].startswith("[masked: ")


def test_everything_below_a_secret_key_is_secret() -> None:
    value = {"password": ["a1b2", {"old": "c3d4", "n": 1234}], "credentials": {"k": "e5f6g7"}}
    cleaned = Masker().clean_value(value)
    assert cleaned == {
        "password": [
            "[masked: password]",
            {"old": "[masked: password]", "n": "[masked: password]"},
        ],
        "credentials": {"k": "[masked: credentials]"},
    }


def test_environments_and_arguments_are_understood() -> None:
    value = {
        "env": [{"name": "WANDB_API_KEY", "value": "abc"}, {"name": "LR", "value": "3"}],
        "args": ["train.py", "--password", "abc", "--lr", "3"],
    }
    assert Masker().clean_value(value) == {
        "env": [
            {"name": "WANDB_API_KEY", "value": "[masked: API key]"},
            {"name": "LR", "value": "3"},
        ],
        "args": ["train.py", "--password", "[masked: password]", "--lr", "3"],
    }


def test_strings_anywhere_are_cleaned_keys_too() -> None:
    masker = Masker(redact=True)
    cleaned = masker.clean_value({"/home/jane/a.py": ["/home/jane/a.py"], "/home/bob/a.py": 1})
    assert cleaned == {"…/a.py": ["…/a.py"], "…/a.py (2)": 1}


def test_very_deep_values_are_cut_off_instead_of_breaking() -> None:
    deep: Any = "password=abc"
    for _ in range(5000):
        deep = [deep]
    assert "abc" not in str(Masker().clean_value(deep))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner),
    max_leaves=12,
)


@given(JSON)
def test_the_shape_stays(value: Any) -> None:
    masker = Masker()
    cleaned = masker.clean_value(value)
    assert _shape(cleaned) == _shape(value)
    assert masker.clean_value(cleaned) == cleaned


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return [_shape(item) for item in value.values()]
    return [_shape(item) for item in value] if isinstance(value, list) else None
