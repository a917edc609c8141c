"""What tokens cost, and that nothing is guessed."""

from __future__ import annotations

import pytest

from mltd.diagnosis.client.models import listed, parse_name
from mltd.diagnosis.client.pricing import Tokens, cost_text, dollars_for, price_of


def test_a_request_costs_its_parts() -> None:
    tokens = Tokens(input=1_000_000, output=100_000, cache_write=200_000, cache_read=2_000_000)
    assert dollars_for("claude-opus-5-5", tokens) == pytest.approx(4 + 2 + 1 + 0.4)


def test_a_dated_name_costs_what_its_alias_costs() -> None:
    assert price_of("claude-sonnet-4-5-20250929") == price_of("claude-sonnet-4-5")


def test_a_long_prompt_may_cost_more() -> None:
    short, long = Tokens(input=100_000), Tokens(input=60_000, cache_read=40_001)
    assert dollars_for("claude-haiku-5-5", short) == pytest.approx(0.01)
    assert dollars_for("claude-haiku-5-5", long) == pytest.approx(0.03 + 0.00200005)


@pytest.mark.parametrize(
    "model",
    [
        "claude-sonnet-6",
        "claude-sonnet-5-5[1m]",
        "claude-sonnet-5-5-fast",
        "claude-mythos-preview",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "x-sonnet-5",
        "",
    ],
)
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert price_of(model) is None
    assert dollars_for(model, Tokens(input=1)) is None


def test_every_current_model_that_the_sdk_lists_has_a_price() -> None:
    current = {name for name in listed() if parse_name(name).version >= (4, 5)}
    assert not {name for name in current if price_of(name) is None}


def test_costs_are_written_for_people() -> None:
    assert cost_text(0.0342) == "$0.034"
    assert cost_text(12.3) == "$12.30"
    assert cost_text(None) == "cost unknown"
