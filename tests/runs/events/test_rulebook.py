"""The quick way to a line's rules finds the very rules that a search for every needle finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.events import rulebook

RULES = rulebook.rules()
EXAMPLES = [line for rule in RULES for line in (*rule.examples, *rule.quiet)]
NEEDLES = sorted({needle for rule in RULES for needle in rule.needles})


def searched(lowered: str) -> list[int]:
    return [
        number
        for number, rule in enumerate(RULES)
        if any(needle in lowered for needle in rule.needles)
    ]


def test_every_example_has_the_rules_of_its_needles() -> None:
    for line in EXAMPLES:
        assert rulebook.candidates(line.lower()) == searched(line.lower())


@given(st.lists(st.sampled_from(NEEDLES) | st.text(max_size=6), max_size=5).map("".join))
def test_so_has_any_other_line(line: str) -> None:
    assert rulebook.candidates(line.lower()) == searched(line.lower())


def test_every_needle_stands_under_one_stem_that_it_contains() -> None:
    shared = [*rulebook._stems(is_ascii=True), *rulebook._stems(is_ascii=False)]
    listed = [(stem, needle) for stem, needles in shared for needle, _ in needles]
    assert sorted(needle for _, needle in listed) == NEEDLES
    assert all(stem in needle for stem, needle in listed)
    assert len(shared) < len(NEEDLES) / 2
