"""No message, however odd, breaks the analyzers of errors, and looking again costs little."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.analyzers.core.view import RunView
from mltd.analyzers.diagnosis import Diagnostician
from mltd.analyzers.errors.book import entries
from mltd.analyzers.errors.told import named_path, told

from .told_log import diagnosis_of, run_of

LINES = [example for entry in entries() for example in entry.examples]
ODD = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=80)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(LINES), ODD, st.just("step 3 loss 2.5")), max_size=8))
def test_any_mixture_of_lines_is_judged(lines: list[str]) -> None:
    found = diagnosis_of("\n".join(lines) + "\n")
    sure = [(one.confidence, one.basis) for one in found.findings]
    sure += [(one.confidence, one.basis) for one in found.root_causes]
    assert all(0 <= confidence <= basis.ceiling for confidence, basis in sure)
    for fix in found.fixes:
        assert "{" not in fix.change


@given(ODD)
def test_any_text_may_be_searched_for_a_path(text: str) -> None:
    assert isinstance(named_path(text), str)


def test_healthy_points_do_not_make_a_fault_surer() -> None:
    run = run_of("ValueError: could not broadcast input array from shape (3) into shape (4)\n")
    before = {f.id: f.confidence for f in Diagnostician(run).diagnose().findings}
    more = "ValueError: could not broadcast input array from shape (3) into shape (4)\n"
    more += "".join(f"step {n} loss {3 - n / 40}\n" for n in range(30))
    after = {f.id: f for f in Diagnostician(run_of(more)).diagnose().findings if f.is_alarm}
    assert before
    assert all(one.confidence <= before.get(key, 0.0) for key, one in after.items())


def test_many_events_are_read_once() -> None:
    words = [chr(97 + n % 26) * (n % 40 + 1) for n in range(3000)]
    text = "".join(f"/a.py:1: UserWarning: odd thing {word}\n" for word in words)
    run = run_of(text)
    view = RunView(run)
    once = told(view)
    assert all(told(view) is once for _ in range(50))
    assert told(RunView(run)) is not once
