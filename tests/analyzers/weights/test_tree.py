"""Modules as a tree, and the tree as rows."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from mltd.analyzers.weights import module_tree, tree_rows

from .facts import shaped, summary, tensor


def blocks(count: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (100, 8)}
    for number in range(count):
        shapes[f"model.layers.{number}.attn.q_proj.weight"] = (8, 8)
        shapes[f"model.layers.{number}.mlp.up.weight"] = (16, 8)
    shapes["lm_head.weight"] = (100, 8)
    return shapes


def test_a_module_has_its_own_parameters_and_those_below_it() -> None:
    root = module_tree(shaped({"a.weight": (3,), "a.b.weight": (4, 5), "c": (7,)}))
    assert (root.own, root.total, root.tensors) == (7, 30, 3)
    a = root.children["a"]
    assert (a.own, a.total, a.bytes) == (3, 23, 92)
    assert a.children["b"].total == 20
    assert a.share == 23 / 30


def test_a_tied_tensor_is_counted_once() -> None:
    made = summary(
        tensor("wte.weight", (10, 4)),
        tensor("lm_head.weight", (10, 4), tied_to="wte.weight"),
    )
    root = module_tree(made)
    assert root.total == 40
    assert root.children["lm_head"].total == 0
    assert root.children["lm_head"].tensors == 1


def test_buffers_have_bytes_and_no_parameters() -> None:
    root = module_tree(shaped({"bn.weight": (8,), "bn.running_mean": (8,)}))
    assert (root.total, root.bytes) == (8, 64)


def test_alike_blocks_are_one_row_with_the_sum_of_all() -> None:
    rows = tree_rows(module_tree(shaped(blocks(32))), 2)
    labels = [(row.depth, row.label) for row in rows]
    assert labels == [(0, "model"), (1, "embed_tokens"), (1, "layers.0-31 (32x)"), (0, "lm_head")]
    layers = rows[2]
    assert (layers.count, layers.parameters) == (32, 32 * (64 + 128))
    assert layers.bytes == 4 * layers.parameters


def test_inside_alike_blocks_rows_sum_over_all_of_them() -> None:
    rows = {row.label: row for row in tree_rows(module_tree(shaped(blocks(32))), 3)}
    assert rows["attn.q_proj"].parameters == 32 * 64
    assert rows["attn.q_proj"].cumulative is None


def test_a_block_that_differs_has_a_row_of_its_own() -> None:
    shapes = blocks(6)
    shapes["model.layers.3.mlp.up.weight"] = (17, 8)
    labels = [row.label for row in tree_rows(module_tree(shaped(shapes)), 3) if row.depth == 2]
    assert labels == ["0-2 (3x)", "3", "4-5 (2x)"]


def test_cumulative_shares_end_at_the_whole() -> None:
    rows = tree_rows(module_tree(shaped(blocks(3))), 1)
    shares = [row.cumulative for row in rows]
    assert shares == sorted(share for share in shares if share is not None)
    assert shares[-1] == 1.0


def test_what_a_module_holds_itself_is_a_row_beside_its_children() -> None:
    rows = tree_rows(module_tree(shaped({"pos_embed": (1, 4, 8), "head.weight": (2, 8)})), 1)
    assert [(row.label, row.parameters) for row in rows] == [("= pos_embed", 32), ("head", 16)]


def test_of_very_many_different_modules_the_smallest_are_summed_up() -> None:
    made = module_tree(shaped({f"m{number}x.weight": (number + 1,) for number in range(50)}))
    rows = tree_rows(made, 1)
    assert len(rows) == 16
    assert rows[-1].is_rest
    assert sum(row.parameters for row in rows) == made.total


def test_a_hundred_thousand_tensors_make_a_short_table() -> None:
    one = {f"attn.w{number}": (2, 2) for number in range(8)}
    shapes = {f"layers.{n}.{name}": shape for n in range(12_500) for name, shape in one.items()}
    (row,) = tree_rows(module_tree(shaped(shapes)), 1)
    assert (row.label, row.parameters) == ("layers.0-12499 (12500x)", 400_000)


NAMES = st.text(st.sampled_from("ab01._\x1b\n"), max_size=12)


@given(st.dictionaries(NAMES, st.lists(st.integers(0, 4), max_size=3).map(tuple), max_size=12))
def test_no_name_breaks_the_tree_and_nothing_is_lost(shapes: dict[str, tuple[int, ...]]) -> None:
    made = shaped(shapes)
    root = module_tree(made)
    assert root.total == made.total
    for depth in (1, 3):
        top = [row for row in tree_rows(root, depth) if row.depth == 0]
        assert sum(row.parameters for row in top) == root.total


def test_a_name_of_a_thousand_dots_is_no_thousand_levels() -> None:
    root = module_tree(shaped({".".join("a" * 1000): (2,)}))
    assert len(tree_rows(root, 2000)) < 100
