"""What tokens cost, at list price; a model that is not in the table has no price."""

from __future__ import annotations

from typing import NamedTuple

from .models import parse_name

AS_OF = "2026-11-16"


class Tokens(NamedTuple):
    """What one request used."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0

    @property
    def prompt(self) -> int:
        """Everything that was sent."""
        return self.input + self.cache_write + self.cache_read


NOTHING = Tokens()


class Price(NamedTuple):
    """Dollars per million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float


class Band(NamedTuple):
    """The price of requests with at most so many tokens sent."""

    limit: int | None
    price: Price


_FLAGSHIP_5 = Price(10, 50, 12.5, 1)
_FLAGSHIP_5_1 = Price(10, 50, 12.5, 0.25)
_FLAGSHIP_5_2 = Price(8, 40, 10, 0.2)
_OPUS = Price(5, 25, 6.25, 0.5)
_SONNET_4 = Price(3, 15, 3.75, 0.3)

_BANDS: dict[tuple[str, tuple[int, ...]], tuple[Band, ...]] = {
    (family, version): (Band(None, price),)
    for family, version, price in (
        ("fable", (5,), _FLAGSHIP_5),
        ("fable", (5, 1), _FLAGSHIP_5_1),
        ("fable", (5, 2), _FLAGSHIP_5_2),
        ("mythos", (5,), _FLAGSHIP_5),
        ("mythos", (5, 1), _FLAGSHIP_5_1),
        ("mythos", (5, 2), _FLAGSHIP_5_2),
        ("opus", (4, 5), _OPUS),
        ("opus", (4, 6), _OPUS),
        ("opus", (4, 7), _OPUS),
        ("opus", (4, 8), _OPUS),
        ("opus", (5,), _OPUS),
        ("opus", (5, 5), Price(4, 20, 5, 0.2)),
        ("sonnet", (4, 5), _SONNET_4),
        ("sonnet", (4, 6), _SONNET_4),
        ("sonnet", (5,), Price(2, 10, 2.5, 0.2)),
        ("sonnet", (5, 5), Price(2, 10, 2.5, 0.1)),
        ("haiku", (4, 5), Price(1, 5, 1.25, 0.1)),
    )
} | {
    ("haiku", (5, 5)): (
        Band(100_000, Price(0.1, 0.5, 0.125, 0.01)),
        Band(None, Price(0.5, 2.5, 0.625, 0.05)),
    )
}


def price_of(model: str, prompt_tokens: int = 0) -> Price | None:
    """The price of a request of this size; None where it is not known."""
    name = parse_name(model)
    if not model.startswith("claude-") or name.is_preview:
        return None
    for limit, price in _BANDS.get((name.family, name.version), ()):
        if limit is None or prompt_tokens <= limit:
            return price
    return None


def dollars_for(model: str, tokens: Tokens) -> float | None:
    """What one request costs; None where the price is not known."""
    price = price_of(model, tokens.prompt)
    if price is None:
        return None
    # Both tuples name their fields in the same order.
    return sum(count * each for count, each in zip(tokens, price, strict=True)) / 1_000_000


def cost_text(dollars: float | None) -> str:
    """`$0.034`, or that nobody knows."""
    if dollars is None:
        return "cost unknown"
    return f"${dollars:.3f}" if dollars < 1 else f"${dollars:.2f}"
