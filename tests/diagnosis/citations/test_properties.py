"""What comes from a file is confirmed, what was changed is not, and no ceiling is broken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mltd.diagnosis.answer import parse_opinion
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.citations import Verdict, check
from mltd.diagnosis.citations.quotation import Laid, find, pieces_of
from mltd.diagnosis.citations.tokens import tokens
from tests.analyzers.made import make_run

from ..answer.answers import answer, cause, log, setting, value
from ..artifacts.making import book_of
from .checking import LINES, verdict

WORDS = st.sampled_from(["loss", "lr", "rank", "val_loss", "OOM", "nan", "epoch", "saved"])
NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str),
    st.floats(-1e3, 1e3).map("{:.4f}".format),
    st.floats(1e-9, 1e-3).map("{:.2e}".format),
)
SIGNS = st.sampled_from([" ", "  ", ": ", "=", ", ", " | ", "/", " [", "] ", "\t"])
LONG = 400
few = settings(max_examples=settings().max_examples // 3)
"""Where a process searches the whole file for each example."""


def line_of(number: int) -> str:
    """A line that stands once in the file."""
    return (
        f"[worker{number % 7}] id{number:05d} loss={number * 0.37:.4f}, lr: {1 / (number + 3):.3e}"
    )


@pytest.fixture(scope="module")
def long_book(tmp_path_factory: pytest.TempPathFactory) -> ArtifactBook:
    text = "\n".join(map(line_of, range(1, LONG + 1)))
    return book_of(
        tmp_path_factory.mktemp("long"), {"train.log": text, "eval.log": "\n".join(LINES)}
    )


@given(st.integers(1, LONG), st.integers(0, 5), st.data())
def test_what_was_cut_out_of_the_file_is_confirmed(
    long_book: ArtifactBook, first: int, more: int, data: st.DataObject
) -> None:
    last = min(LONG, first + more)
    quote = "\n".join(map(line_of, range(first, last + 1)))
    words = quote.split(" ")
    if data.draw(st.booleans()) and len(words) > 4:
        gap = data.draw(st.integers(1, len(words) - 2))
        words[gap : gap + 1] = ["..."]
    quote = data.draw(st.sampled_from([" ", "  ", "\t", "\n"])).join(words)
    assert verdict(long_book, log(quote, first, last)).verdict is Verdict.CONFIRMED


@few
@given(st.integers(1, LONG), st.data())
def test_a_changed_digit_is_never_confirmed(
    long_book: ArtifactBook, number: int, data: st.DataObject
) -> None:
    line = line_of(number)
    places = [at for at, sign in enumerate(line) if sign.isdigit()]
    at = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != line[at]]))
    quote = line[:at] + digit + line[at + 1 :]
    assume([t.key for t in tokens(quote)] != [t.key for t in tokens(line)])
    found = verdict(long_book, log(quote, number))
    assert found.verdict is Verdict.WRONG


@few
@given(st.integers(1, LONG), st.integers(1, LONG))
def test_a_shifted_line_is_found_where_it_is_and_nowhere_else(
    long_book: ArtifactBook, number: int, said: int
) -> None:
    found = verdict(long_book, log(line_of(number), said))
    assert found.is_confirmed
    assert found.verdict is (Verdict.CONFIRMED if said == number else Verdict.ELSEWHERE)
    assert found.line == (None if said == number else number)


@few
@given(st.integers(1, 300))
def test_a_line_of_another_file_is_struck(long_book: ArtifactBook, number: int) -> None:
    assert verdict(long_book, log(line_of(number), number, name="eval.log")).is_struck
    assert verdict(long_book, log(line_of(number), number, name="test.log")).is_struck


@given(st.lists(st.tuples(WORDS, SIGNS, NUMBERS, SIGNS), min_size=1, max_size=8), st.data())
def test_a_part_of_a_text_stands_in_it_whatever_its_blanks(
    parts: list[tuple[str, str, str, str]], data: st.DataObject
) -> None:
    whole = "".join(sign for part in parts for sign in part)
    start = data.draw(st.integers(0, len(parts) - 1))
    cut = "".join(sign for part in parts[start:] for sign in part)
    assert any(find(pieces_of(" ".join(cut.split())), Laid(tokens(whole))))


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.integers(2, 8),
    st.data(),
)
def test_a_value_is_confirmed_in_as_many_digits_as_are_given_and_no_other_is(
    values: list[float], digits: int, data: st.DataObject
) -> None:
    book = ArtifactBook({"run1": make_run({"loss": values})})
    step = data.draw(st.integers(0, len(values) - 1))
    said = f"{values[step]:.{digits}g}"
    assert verdict(book, value(step, said)).verdict is Verdict.CONFIRMED
    actual = values[step]
    other = actual + max(1.0, abs(actual)) * data.draw(st.sampled_from([-0.7, 0.7, 3.0]))
    assert not verdict(book, value(step, f"{other:.12f}")).is_confirmed


citations = st.one_of(
    st.builds(log, st.text(max_size=30), st.integers(1, 400), st.just(None)),
    st.sampled_from(LINES).map(lambda line: log(line, 5)),
    st.builds(value, st.integers(-5, 400), st.sampled_from(["2.5", "nan", "3", "0", "x"])),
    st.builds(setting, st.text("lr.x", min_size=1), st.text("0.1e", min_size=1)),
    st.just(setting("lr", "0.01")),
    st.just({"kind": "finding", "id": "loss_spike"}),
)
causes = st.builds(
    lambda evidence, against, sure, basis, mode: cause(
        *evidence, against=against, confidence=sure, basis=basis, failure_mode=mode
    ),
    st.lists(citations, max_size=4),
    st.lists(st.one_of(citations, st.text(max_size=10)), max_size=2),
    st.floats(0, 1),
    st.sampled_from(["observation", "research", "inference"]),
    st.sampled_from(["lr_too_high", "bad_batch", "anything"]),
)


@few
@given(st.lists(causes, max_size=3), st.sampled_from(["needs_more_data", "diagnosis_complete"]))
def test_no_ceiling_is_ever_broken(book: ArtifactBook, made: list[Any], status: str) -> None:
    assume(made or status == "needs_more_data")
    found = check(parse_opinion(answer(*made, status=status)), book)
    for one in found.causes:
        assert 0 <= one.confidence <= min(one.said, one.cause.basis.ceiling) + 1e-4
        assert one.is_supported or one.confidence <= 0.50
        assert one.confidence >= one.said - 1e-4 or one.notes
    best = max((one.confidence for one in found.causes), default=0.0)
    assert found.status != "diagnosis_complete" or best >= 0.80
    assert [one.confidence for one in found.causes] == sorted(
        (one.confidence for one in found.causes), reverse=True
    )
    assert type(found).model_validate_json(found.model_dump_json()) == found
