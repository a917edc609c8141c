"""Progress bars of tqdm, Keras and mmcv."""

from __future__ import annotations

import pytest

from mltd.runs.text.bars import find_bar


@pytest.mark.parametrize(
    ("text", "n", "total", "rest"),
    [
        ("  7%|▋    | 40/600 [00:10<02:20,  3.99it/s, loss=0.5]", "40", "600", "loss=0.5]"),
        ("Map:  7%|▋    | 40/600 [00:10<1 day, 02:20:00,  3.99s/it]", "40", "600", None),
        ("  0%|     | 0/600 [00:00<?, ?it/s]", "0", "600", "]"),
        ("29948it [35:34,  7.00s/it, loss=0.5]", "29948", None, "loss=0.5]"),
        ("256/10000 [>.....] - ETA: 57s - loss: 0.68", "256", "10000", " - loss: 0.68"),
        ("12/40 ━━━━━━━━━━ 3s 66ms/step - loss: 0.6", "12", "40", "3s 66ms/step - loss: 0.6"),
        ("[>>>>      ] 10/60, 3.2 task/s, elapsed: 3s, ETA:  5s", "10", "60", None),
    ],
)
def test_how_far_it_is_and_where_it_ends(
    text: str, n: str, total: str | None, rest: str | None
) -> None:
    bar = find_bar(text)
    assert bar is not None
    assert text[slice(*bar.n_span)] == n
    assert (bar.total_span and text[slice(*bar.total_span)]) == total
    assert not bar.is_scaled
    if rest is not None:
        assert text[bar.span[1] :] == rest


def test_an_abbreviated_count_is_marked() -> None:
    bar = find_bar(" 24%|██   | 1.2k/5.0k [00:10<02:20, 3.99kit/s]")
    assert bar is not None
    assert bar.is_scaled


@pytest.mark.parametrize("text", ["Epoch [3/20] loss: 2", "| 40/600 |", "40/600", "[=====]", ""])
def test_a_fraction_alone_is_no_bar(text: str) -> None:
    assert find_bar(text) is None
