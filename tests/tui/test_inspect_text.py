"""The page of `inspect`: within its width, in ASCII too, and nothing from a file steers it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.cells import cell_len

from mltd.analyzers.weights import inspect_weights
from mltd.runs.checkpoints import CheckpointSummary
from mltd.tui.inspect.layout import Layout
from mltd.tui.inspect.memory_text import account_of
from mltd.tui.inspect.page import page
from mltd.tui.inspect.target import Target
from tests.analyzers.weights.facts import shaped, summary, tensor

WIDTHS = (40, 80, 112, 160)
LONG = "a_very_long_name_of_a_module_that_nobody_would_type"


def lines(made: CheckpointSummary, layout: Layout, *, depth: int = 3) -> Iterator[str]:
    found = inspect_weights(made)
    account = account_of(made, None)
    return page(found, account, Target("m.pt"), layout, depth=depth, has_tensors=True)


def big() -> CheckpointSummary:
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (50_257, 64)}
    for number in range(12):
        shapes[f"h.{number}.{LONG}.{LONG}.weight"] = (64, 256)
        shapes[f"h.{number}.attn.c_attn.weight"] = (64, 192)
    shapes["深層学習.重み.weight"] = (64, 64)
    return shaped(shapes)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_terminal(columns: int, unicode: bool) -> None:
    shown = lines(big(), Layout(columns, unicode), depth=5)
    assert [line for line in shown if cell_len(line) > columns] == []


def test_an_ascii_terminal_gets_ascii_alone() -> None:
    text = "\n".join(lines(big(), Layout(80, unicode=False)))
    assert text.isascii()
    assert "#" in text


def test_names_from_the_file_cannot_steer_the_terminal() -> None:
    made = shaped({"bad\x1b[31m\x07\n.weight": (4, 4), "b\u202eidi.weight": (4, 4)})
    for line in lines(made, Layout(80)):
        assert line.isprintable()


def test_tied_modules_and_kinds_are_told_in_the_tree() -> None:
    made = summary(
        tensor("wte.weight", (100, 8)),
        tensor("h.0.attn.q_proj.weight", (8, 8)),
        tensor("lm_head.weight", (100, 8), tied_to="wte.weight"),
    )
    rows = list(lines(made, Layout(80)))
    assert any("lm_head" in row and row.endswith("tied") for row in rows)
    assert any(row.startswith("    wte ") and row.endswith("embedding") for row in rows)
    assert any("wte.weight and lm_head.weight are tied" in row for row in rows)


def test_an_empty_model_is_a_page_too() -> None:
    assert "m.pt" in next(iter(lines(summary(), Layout(80))))
    assert list(lines(summary(), Layout(80)))


@pytest.mark.parametrize(
    ("share", "bar"), [(0, "    "), (0.001, "▏   "), (0.5, "██  "), (2, "████")]
)
def test_a_bar_shows_whatever_is_more_than_nothing(share: float, bar: str) -> None:
    assert Layout(80).bar(share, 4) == bar


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_kinds_of_modules_are_whole_words_in_every_width(columns: int) -> None:
    rows = [line for line in lines(big(), Layout(columns)) if "wte" in line]
    assert any(row.endswith(" embedding") for row in rows)


def test_a_checkpoint_without_weights_is_not_called_healthy() -> None:
    second = list(lines(summary(), Layout(80)))[1]
    assert "there are no weights in it" in second
    assert "worry" not in second
