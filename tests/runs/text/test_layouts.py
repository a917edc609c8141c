from __future__ import annotations

import random

import pytest

from mltd.runs.harvest import Harvest
from mltd.runs.text.extractor import TextReader
from mltd.runs.text.layouts import Fitting, Layouts


def training(lines: int, seed: int = 1) -> bytes:
    """A log whose numbers change their lengths, signs and exponents now and then."""
    rng = random.Random(seed)
    return b"".join(
        b"2024-01-02 10:%02d:%02d,%03d - INFO - step %d/9000: loss %.4f, delta %+.3f, lr %.3e, "
        b"mem %.2fGiB, n %d.\n"
        % (
            step // 60 % 60,
            step % 60,
            rng.randrange(1000),
            step,
            rng.random() * 12,
            rng.random() - 0.5,
            10.0 ** rng.uniform(-12, 3),
            rng.random() * 120,
            rng.randrange(20),
        )
        for step in range(lines)
    )


def read(data: bytes, pieces: int = 4) -> list[Harvest]:
    """The harvests of a log that comes in several pieces."""
    reader = TextReader()
    lines = data.splitlines(keepends=True)
    size = -(-len(lines) // pieces)
    parts = [b"".join(lines[start : start + size]) for start in range(0, len(lines), size)]
    return [reader.feed(part, final=True) for part in parts]


def values(harvests: list[Harvest]) -> dict[str, list[tuple[int, float]]]:
    """Line in the piece and value of every point, by name."""
    found: dict[str, list[tuple[int, float]]] = {}
    for harvest in harvests:
        for column in harvest.columns:
            lines = harvest.line[column.rows].tolist()
            pairs = zip(lines, column.values.tolist(), strict=True)
            found.setdefault(column.key.name, []).extend(pairs)
        for axis, coordinates in harvest.axes.items():
            found.setdefault(f"axis {axis}", []).extend(enumerate(coordinates.tolist()))
    return found


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines each look at a chunk found by their layout."""
    counts: list[int] = []
    fit = Layouts.fit

    def count(self: Layouts, *arguments: object) -> list[Fitting]:
        found = fit(self, *arguments)  # type: ignore[arg-type]
        counts.append(sum(len(one.indices) for one in found))
        return found

    monkeypatch.setattr(Layouts, "fit", count)
    return counts


def test_layouts_give_the_same_numbers_to_the_last_bit(
    fitted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = training(15_000)
    quick = values(read(data, 15))
    assert sum(fitted) > 2000
    monkeypatch.setattr(Layouts, "fit", lambda *_: [])
    assert quick == values(read(data, 15))


def test_most_lines_of_a_steady_log_are_found_by_their_layout(fitted: list[int]) -> None:
    line = b"step %d loss %.4f\n"
    read(b"".join(line % (1000 + n, n / 1e4) for n in range(8000)), 4)
    assert fitted == [0, 2000, 2000, 2000]


def test_a_line_with_a_letter_among_its_digits_is_no_such_line() -> None:
    lines = [b"step %d loss %.4f\n" % (1000 + n, n / 1e4) for n in range(300)]
    lines[250] = b"step 1250 loss x.0250\n"
    lines[260] = b"step 1260 loss 0x0260\n"
    expected = [n / 1e4 for n in range(300) if n not in (250, 260)]
    assert [loss for _, loss in values(read(b"".join(lines), 3))["loss"]] == expected


def test_lines_in_a_traceback_are_no_metrics_though_they_look_like_them() -> None:
    lines = [b"    loss = %d, 0.25\n" % n for n in range(1000, 1100)]
    trace = [b"Traceback (most recent call last):\n", b'  File "a.py", line 3, in f\n']
    data = b"".join([*lines, *trace, *lines[:20], b"ValueError: loss\n", *lines])
    for harvest in read(data, 1):
        covered = {
            place for event in harvest.events for place in range(event.line, event.last_line)
        }
        assert covered
        assert not covered & set(harvest.line.tolist())


def test_few_layouts_are_remembered_whatever_a_log_prints() -> None:
    reader = TextReader()
    rng = random.Random(3)
    for _ in range(30):
        width = [rng.randrange(1, 12) for _ in range(3)]
        line = b"step %d loss " + b"9" * width[0] + b".%d lr 0." + b"1" * width[1] + b"%d\n"
        reader.feed(b"".join(line % (n, n % 10, n % 10) for n in range(200)), final=True)
    assert len(reader._groups._layouts._known) <= 12
