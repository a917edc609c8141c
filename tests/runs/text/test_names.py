"""How names are cut out of the words before a number."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.text.names import clean_key, name_of, note_heading
from mltd.runs.text.numbers import FILLER
from mltd.runs.text.passage import Passage


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("  - loss: ", "loss"),
        ("'grad_norm'", "grad_norm"),
        ("(loss", "loss"),
        ("((loss)", "(loss)"),
        ("[valid] loss", "[valid] loss"),
        ("[Avg]loss", "loss"),
        ("[Valid]loss", "[Valid]loss"),
        (") loss", "loss"),
        ("(]loss", "loss"),
        ("loss)", "loss"),
        ("loss (ema)", "loss (ema)"),
        ("saved (best loss", "best loss"),
        (f"eta {FILLER}{FILLER} loss", "loss"),
        ("current loss", "loss"),
        ("current", "current"),
        ("lm   loss", "lm loss"),
        ("…!", ""),
    ],
)
def test_a_key_is_freed_from_what_surrounds_it(text: str, key: str) -> None:
    assert clean_key(text, shipped()) == key


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("loss", "loss"),
        ("DEV results: loss", "DEV loss"),
        ("Done. loss", "loss"),
        ("[Valid Set] loss", "[Valid Set] loss"),
        ("Region 82 loss", "Region loss"),
        ("layer 3 loss", "layer 3 loss"),
        ("top5", "top5"),
        ("42", ""),
    ],
)
def test_names(phrase: str, name: str) -> None:
    assert name_of(Passage(phrase, 0, shipped()), phrase, 0)[0] == name


def test_a_group_gives_its_name_to_its_members() -> None:
    passage = Passage("tot_loss[loss=0.6]", 0, shipped())
    assert name_of(passage, "tot_loss[loss", 0)[0] == "tot_loss/loss"


@pytest.mark.parametrize(
    ("segment", "context"),
    [
        ("DEV :", "DEV"),
        ("validation results:", "validation"),
        ("validation", ""),
        (f"eta: {FILLER}:", ""),
        ("summary:", ""),
        ("one two three four five:", ""),
    ],
)
def test_a_heading_gives_context(segment: str, context: str) -> None:
    passage = Passage(segment, 0, shipped())
    note_heading(passage, segment)
    assert passage.context == context
    assert passage.head_words == f" {segment}"
