"""How parameters are divided, and when that is a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.weights import Kind, balance_of, inspect_weights

from .facts import shaped, summary, tensor


def language_model(words: int, *, is_tied: bool = True) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (words, 64)}
    for number in range(2):
        shapes[f"h.{number}.attn.c_attn.weight"] = (64, 192)
        shapes[f"h.{number}.mlp.c_fc.weight"] = (64, 256)
    if not is_tied:
        shapes["lm_head.weight"] = (words, 64)
    return shapes


def severities(shapes: Mapping[str, tuple[int, ...]]) -> list[tuple[str, Severity]]:
    return [(f.id, f.severity) for f in inspect_weights(shaped(shapes)).findings]


def test_an_embedding_of_three_quarters_is_a_warning_with_its_numbers() -> None:
    found = inspect_weights(shaped(language_model(5000)))
    (finding,) = found.findings
    assert (finding.id, finding.severity) == ("param_imbalance", Severity.WARNING)
    assert finding.title.startswith("85% of the 377,344 parameters are in the embedding (wte.wei")
    assert finding.evidence[0].ref == "m.pt:wte.weight"
    assert "5000 x 64" in finding.evidence[0].quote
    assert {fix.addresses for fix in found.fixes} == {"embedding_heavy"}
    assert len(found.fixes) >= 3


@pytest.mark.parametrize(("words", "expected"), [(1000, []), (1600, [Severity.INFO])])
def test_smaller_shares_are_nothing_or_only_worth_knowing(
    words: int, expected: list[Severity]
) -> None:
    assert [severity for _, severity in severities(language_model(words))] == expected


def test_a_recommender_is_a_table_by_design() -> None:
    shapes = {"user_embedding.weight": (9000, 16), "mlp.0.weight": (8, 16)}
    assert severities(shapes) == [("param_imbalance", Severity.INFO)]


def test_a_head_as_large_as_the_table_is_no_part_of_it() -> None:
    assert severities(language_model(5000, is_tied=False)) == []


def test_tied_tensors_are_counted_once_and_named() -> None:
    made = summary(
        tensor("wte.weight", (100, 8)),
        tensor("h.0.mlp.weight", (8, 8)),
        tensor("lm_head.weight", (100, 8), tied_to="wte.weight"),
    )
    found = balance_of(made)
    assert found.total == 864
    assert found.ties == (("wte.weight", "lm_head.weight"),)
    assert found.of(Kind.HEAD) is None
    assert found.embedding == 800 / 864


def test_a_table_that_was_saved_twice_is_counted_once() -> None:
    made = replace(
        shaped({"lm_head.weight": (100, 8), "wte.weight": (100, 8), "h.0.mlp.weight": (8, 8)}),
        duplicates=(("lm_head.weight", "wte.weight"),),
    )
    found = balance_of(made)
    assert found.total == 864
    assert found.embedding == 800 / 864
    assert found.ties == (("wte.weight", "lm_head.weight"),)


def test_packed_weights_are_counted_as_saved_and_their_balance_is_not_judged() -> None:
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (2000, 512)}
    for number in range(2):
        shapes[f"model.layers.{number}.self_attn.q_proj.qweight"] = (64, 512)
    found = inspect_weights(shaped(shapes))
    assert found.findings == ()
    assert any("quantised and packed" in remark for remark in found.remarks)


def test_adapters_that_were_saved_alone_are_told_from_those_with_their_base() -> None:
    pair: dict[str, tuple[int, ...]] = {"q.lora_A.weight": (8, 64), "q.lora_B.weight": (64, 8)}
    alone = " ".join(inspect_weights(shaped(pair)).remarks)
    assert "adapters alone" in alone
    whole = " ".join(inspect_weights(shaped({**pair, "q.weight": (64, 64)})).remarks)
    assert "a frozen base" in whole
