"""Messages that a console wrapped are read as they were said."""

from __future__ import annotations

import pytest

from .test_extractor import feed_pieces, points, read

SHORT = "[09:12:31] INFO     Loading the data                                 train.py:12\n"
WRAPPED = [
    f"[09:12:{n:02d}] INFO     Epoch {n} | train_loss: {3 - n / 8:.3f} | val_loss:    train.py:88\n"
    f"                    {4 - n / 8:.3f} | lr: 0.{n + 1}                                        \n"
    for n in range(9)
]
RECORDS = "".join(
    f"[09:12:{n:02d}] INFO     {{'loss': {3 - n / 8:.3f}, 'grad_norm': 0.5,         train.py:88\n"
    f"                    'learning_rate': 0.1, 'step':                               \n"
    f"                    {n}}}                                                       \n"
    for n in range(9)
)


def test_a_name_and_its_number_on_two_lines_are_a_pair() -> None:
    found = points(read(SHORT + "".join(WRAPPED)))
    assert [value for _, _, value in found["val_loss"]] == [4 - n / 8 for n in range(9)]
    assert [line for line, _, _ in found["val_loss"]] == list(range(2, 20, 2))


def test_a_record_is_read_whole() -> None:
    found = points(read(RECORDS))
    assert [step for _, step, _ in found["loss"]] == list(range(9))


@pytest.mark.parametrize("size", [3, 50, 170])
def test_a_message_may_be_cut_by_a_chunk(size: int) -> None:
    head, rest = WRAPPED[0].encode(), "".join(WRAPPED[1:]).encode()
    pieces = [head, *(rest[n : n + size] for n in range(0, len(rest), size))]
    assert points(feed_pieces(pieces)) == points(read("".join(WRAPPED)))


def test_lines_that_are_only_indented_are_lines_of_their_own() -> None:
    log = "".join(
        f"[09:12:{n:02d}] INFO     Epoch {n} is done\n                      loss: {3 - n / 8:.3f}\n"
        for n in range(9)
    )
    assert [line for line, _, _ in points(read(log))["loss"]] == list(range(2, 20, 2))
