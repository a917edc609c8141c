"""Free text, piece by piece: heads, coordinates, values and what belongs to them."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped
from mltd.runs.text.pairs import read_pairs
from mltd.runs.text.reading import Coordinate


def values_of(text: str) -> dict[str, float]:
    return {slot.name: slot.value for slot in read_pairs(text, 0, shipped()).slots}


def places_of(text: str) -> dict[str, float]:
    return {c.axis: c.value for c in read_pairs(text, 0, shipped()).coordinates}


def only_coordinate(text: str) -> Coordinate:
    (coordinate,) = read_pairs(text, 0, shipped()).coordinates
    return coordinate


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("12: loss 2.1", {"step": 12}),
        ("4/4 - 0s - 85ms/step - loss: 1.05", {"inner": 4}),
        ("4/9 loss: 1.05", {"step": 4}),
        ("4/9.5 loss: 1.05", {}),
        ("[2/9][3/8][4/7] loss: 1.05", {"epoch": 2, "inner": 3}),
        ("[Step] loss: 1.05", {}),
    ],
)
def test_heads(text: str, places: dict[str, float]) -> None:
    assert places_of(text) == places


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Epoch 3, step 5/10, loss 2", {"epoch": 3, "inner": 5}),
        ("Epoch 3, step 5, loss 2", {"epoch": 3, "step": 5}),
        ("Epoch 3 it 5 loss 2", {"epoch": 3, "inner": 5}),
        ("Epoch 3 [50/632] loss 2", {"epoch": 3, "inner": 50}),
        ("Epoch 3 0.5/0.6 loss 2", {"epoch": 3}),
        ("Epoch 3 | 50 of 632 | loss 2", {"epoch": 3, "inner": 50}),
        ("Epoch 3 | 50/632 images | loss 2", {"epoch": 3}),
        ("step -3 loss 2", {}),
        ("step 2.5 loss 2", {}),
        ("step 3ms loss 2", {}),
        ("number of skipped iterations: 3", {}),
        ("we then went on and ran iteration 3", {}),
        ("loss 2, saved after 500 steps", {}),
        ("loss 2, steps 500", {}),
        ("train step: 3 loss 2", {"step": 3}),
        ("Train: 3 [50/1251] loss 2", {"epoch": 3, "inner": 50}),
        ("Train: 3 50/1251 loss 2", {}),
    ],
)
def test_coordinates(text: str, places: dict[str, float]) -> None:
    assert places_of(text) == places


def test_a_broken_epoch_yields_to_a_whole_one() -> None:
    assert only_coordinate("epoch 0.5").precedence > only_coordinate("epoch 3").precedence


def test_the_planned_total_is_kept_with_its_place() -> None:
    step = only_coordinate("step 10 of 2,000")
    assert (step.total, step.total_span) == (2000, (11, 16))


def test_places_are_counted_from_the_start_of_the_line() -> None:
    passage = read_pairs("step 10 layer 3 loss: 2.5", 100, shipped())
    assert passage.coordinates[0].span == (105, 107)
    assert passage.slots[0].span == (122, 125)
    assert passage.slots[0].index_span == (114, 115)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("loss at step 3: 2.5", {"loss": 2.5}),
        ("colour at step 3: 2.5", {}),
        ("score: 0.5 (+0.1)", {"score": 0.5, "score (change)": 0.1}),
        ("score: -0.5 (-0.6)", {"score": -0.5, "score (avg)": -0.6}),
        ("acc: 1 (50%)", {"acc": 1, "acc (%)": 50}),
        ("loss: 2 (best)", {"loss": 2}),
        ("loss: 1 2 three", {"loss": 1}),
        ("speed: 3 | 250tok/s", {"speed": 3, "tok/s": 250}),
        ("speed: 3 | 250GB", {"speed": 3}),
        ("losses = [1.0, 2.0]", {"losses[0]": 1, "losses[1]": 2}),
        ("Linear(20, 30)", {}),
        ("pause 3ms loss: 2", {"pause": 3, "loss": 2}),
        ("shard #3, loss 2", {"loss": 2}),
        ("42 more loss", {"more loss": 42}),
        ("42 of so much loss", {}),
        ("epoch: [1.0, 2.0]", {}),
        ("loss .......... 2.5", {}),
    ],
)
def test_values(text: str, values: dict[str, float]) -> None:
    assert values_of(text) == values


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("time: 3ms", "ms"),
        ("time: 3 ms", "ms"),
        ("speed: 3 samples/sec", "samples/sec"),
        ("lr: 3", ""),
    ],
)
def test_units(text: str, unit: str) -> None:
    assert [slot.unit for slot in read_pairs(text, 0, shipped()).slots] == [unit]


@pytest.mark.parametrize(
    "text",
    [
        "train/loss: 4.51 train/lr: 0.003",
        "loss=4.51 grad/blocks.0.norm1=0.07",
        "rss_mb=312.8 samples/s=141.5",
        "loss: 4.51 val/loss: nan",
    ],
)
def test_the_next_name_is_no_unit(text: str) -> None:
    assert [slot.unit for slot in read_pairs(text, 0, shipped()).slots] == ["", ""]


@pytest.mark.parametrize(
    ("text", "is_known"),
    [("loss: 2.5", True), ("apples: 2.5", False), ("we think that the loss is 2.5", False)],
)
def test_names_of_measurements_are_known_unless_in_a_sentence(text: str, is_known: bool) -> None:
    assert [slot.is_known for slot in read_pairs(text, 0, shipped()).slots] == [is_known]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("100 loss=2.1 lr=0.1", {"step": 100}),
        ("#100 loss=2.1", {"step": 100}),
        ("ep3-it40 loss 2.1", {"epoch": 3, "inner": 40}),
        ("[E3/B40] loss: 2.1", {"epoch": 3, "inner": 40}),
        ("ep3 val_loss 2.1", {"epoch": 3}),
        ("ep 3 (50/250) | loss 2.1", {"epoch": 3, "inner": 50}),
        ("Train: [3][50/100] loss 2.1", {"epoch": 3, "inner": 50}),
        ("[E  3/20][B 40/600][loss 2.1]", {"epoch": 3, "inner": 40}),
        ("第3轮 训练损失: 2.1", {"epoch": 3}),
        ("第 300 步 损失: 2.1", {"step": 300}),
        ("【训练】第3轮，第20/50批，损失：2.1", {"epoch": 3, "inner": 20}),
        ("Epoche 3 von 20: Verlust = 2.1", {"epoch": 3}),
        ("level=info msg=train iter=30 loss=2.1", {"step": 30}),
        ("finished a step step=30 loss=2.1", {"step": 30}),
        ("reached best step=30 loss=2.1", {}),
        ("Epoch: 1/20 Train steps: 150 Val steps: 20 loss: 2.1", {"epoch": 1}),
    ],
)
def test_places_as_people_write_them_by_hand(text: str, places: dict[str, float]) -> None:
    assert places_of(text) == places


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("100 loss=2.1 lr=0.5", {"loss": 2.1, "lr": 0.5}),
        ("loss tensor(2.1, device='cuda:0', grad_fn=<NllLossBackward0>) lr 0.5",
         {"loss": 2.1, "lr": 0.5}),
        ("loss np.float64(2.1), lr 0.5", {"loss": 2.1, "lr": 0.5}),
        ("('loss', 2.1, 'lr', 0.5)", {"loss": 2.1, "lr": 0.5}),
        ("loss→2.1  lr->0.5", {"loss": 2.1, "lr": 0.5}),
        ("perte : 2.1 - perte de validation : 2.2 - précision : 0.5 - gain : 3",
         {"perte": 2.1, "perte de validation": 2.2, "précision": 0.5, "gain": 3}),
        ("train_loss = 2.1f0", {"train_loss": 2.1}),
        ("1m11.41s loss: 2.1", {"loss": 2.1}),
        ("loss (train/val): 2.1 / 2.2", {"train loss": 2.1, "val loss": 2.2}),
        ("train/val acc: 0.9/0.8", {"train acc": 0.9, "val acc": 0.8}),
        ("loss (train/val): 2.1", {"loss (train/val)": 2.1}),
        ("Loss at iteration 30 is 2.1", {"Loss": 2.1}),
    ],
)  # fmt: skip
def test_values_as_people_write_them_by_hand(text: str, values: dict[str, float]) -> None:
    assert values_of(text) == values


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("loss 2.1 |g| 0.31", "‖g‖"),
        ("loss 2.1  ||grad||=0.31", "‖grad‖"),
        ("loss 2.1 | |∇| 0.31 |", "‖∇‖"),
        ("loss 2.1, |g|_2: 0.31", "‖g‖"),
        ("loss 2.1 |grad 0.31|", "grad"),
    ],
)
def test_bars_around_a_name_are_a_norm(text: str, name: str) -> None:
    assert values_of(text) == {"loss": 2.1, name: 0.31}
