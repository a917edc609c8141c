"""A pack never goes beyond its budget, and says what did not fit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.diagnosis.pack import build_pack, tokens_of
from mltd.diagnosis.pack.allotting import by_share, in_turn
from mltd.diagnosis.pack.material import PackMaterial
from mltd.sessions.masking import Masker

from .made_packs import TRACEBACK, diverging, material, packed, section

SIZES = st.lists(st.integers(0, 5000), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def rich() -> Iterator[PackMaterial]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.log")
        path.write_text(diverging(tail=TRACEBACK, steps=2000))
        Path(folder, "config.yaml").write_text("".join(f"key{n}: {n}\n" for n in range(900)))
        yield material(Path(folder))


@settings(max_examples=20, deadline=None)
@given(budget=st.integers(1, 30_000))
def test_the_budget_is_never_exceeded(rich: PackMaterial, budget: int) -> None:
    pack = build_pack(rich, budget_tokens=budget, masker=Masker())
    assert pack.tokens <= budget
    assert tokens_of(pack.text) <= pack.tokens
    assert pack.text.count("<data") == pack.text.count("\n</data>")


def test_what_did_not_fit_is_told_with_the_tool_that_reads_it(rich: PackMaterial) -> None:
    pack = build_pack(rich, budget_tokens=1500, masker=Masker())
    assert any(what.startswith("Configuration: ") for what in pack.left_out)
    assert "more lines did not fit: read_config has them all" in section(pack, "Configuration")
    assert pack.tokens > 1200, "room is used where there is something to tell"


def test_sections_that_are_not_there_at_all_are_named(rich: PackMaterial) -> None:
    pack = build_pack(rich, budget_tokens=700, masker=Masker())
    told = section(pack, "What is missing")
    gone = {what.partition(": ")[0] for what in pack.left_out} - {
        one.title for one in pack.sections
    }
    assert len(gone) >= 2
    assert all(title in told for title in gone)


def test_nothing_is_left_out_where_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(diverging())
    assert packed(path).left_out == ()


def test_a_budget_of_nothing_is_refused(rich: PackMaterial) -> None:
    with pytest.raises(ValueError, match="at least one token"):
        build_pack(rich, budget_tokens=0, masker=Masker())


@given(needs=SIZES, total=st.integers(0, 10_000), data=st.data())
def test_nobody_gets_more_than_needed_and_all_is_given(
    needs: list[int], total: int, data: st.DataObject
) -> None:
    shares = data.draw(st.lists(st.floats(0, 1), min_size=len(needs), max_size=len(needs)))
    for given_ in (by_share(needs, shares, total), in_turn(needs, total)):
        assert sum(given_) == min(total, sum(needs))
        assert all(0 <= got <= need for got, need in zip(given_, needs, strict=True))
