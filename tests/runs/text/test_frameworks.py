"""Lines of frameworks that print in ways of their own, read from the file to the series."""

from __future__ import annotations

import pytest

from mltd.runs.formats.tabular import TabularFormat
from mltd.runs.roles import shipped
from mltd.runs.run import Run, SourceFile
from mltd.runs.text.extractor import TextReader


def read(text: str) -> dict[str, tuple[str | None, list[float], list[float]]]:
    """Role, steps and values of each series of a log."""
    run = Run("test")
    file = run.add_file(SourceFile("train.log"))
    run.append(file, TextReader().feed(text.encode(), final=True))
    return {
        one.name: (one.role, one.axis("step").tolist(), one.values.tolist()) for one in run.series
    }


def test_a_padded_number_before_a_value_is_no_step() -> None:
    lines = [
        f"Epoch: [0][{step}/90]\tLoss {9 / (step + 1):.4f}\nPrec@1  05 {step}.167 (4.167)\n"
        f" * Prec@1  05 {step}.5 Prec@5  05 {step}.9"
        for step in (0, 10, 20, 30)
    ]
    found = read("\n".join(lines) + "\n")
    assert found["Prec@1"][1] == [0, 0, 10, 10, 20, 20, 30, 30]
    assert "val acc1" not in found


def test_a_rate_per_second_is_no_learning_rate() -> None:
    lines = [
        f"Progress on: {step}kit/200kit rate:{step / 8}it/s remaining:1:00" for step in range(9)
    ]
    assert read("\n".join(lines) + "\n")["rate"][0] == "throughput"


def test_the_score_of_an_iteration_is_a_loss() -> None:
    lines = [f"10:00:0{n} INFO Listener - Score at iteration {n}00 is {2 / n}" for n in (1, 2, 4)]
    assert read("\n".join(lines) + "\n")["loss"] == ("train/loss", [100, 200, 400], [2, 1, 0.5])


def test_the_gradient_norm_of_lerobot_has_its_role() -> None:
    assert shipped().role_of("grdn") == "grad_norm"


def test_a_table_of_generations_is_a_training() -> None:
    head = b"Generation,Top Fitness,Mean Fitness,Run Time (s)\n1,4,1.01,10.1\n2,9,1.44,10.3\n"
    assert TabularFormat().sniff(head, "log.csv") > 0.5
    assert shipped().role_of("Mean Fitness") == "reward"


def test_values_of_epochs_do_not_stay_at_a_step_printed_before() -> None:
    lines = ["Syncing run [Linear][batch:512]"]
    lines += [f"[epoch:{n}/1200] [loss:{2 / n:.4f}] [lr:0.01]" for n in range(1, 9)]
    run = Run("test")
    file = run.add_file(SourceFile("train.log"))
    run.append(file, TextReader().feed("\n".join(lines).encode(), final=True))
    loss = next(one for one in run.series if one.name == "loss")
    assert loss.axis_name == "epoch"


@pytest.mark.parametrize("count", [3, 200])
def test_fractions_in_a_record_are_places(count: int) -> None:
    lines = [
        f'stats: {{"_type": "train_iter_", "epoch": "{1 + n // 100}/9", "iter": "{n % 100}/100", '
        f'"loss": {2 / (n + 1):.5f}, "lr": 0.1, "eta": "1:00:00"}}'
        for n in range(count)
    ]
    role, steps, _ = read("\n".join(lines) + "\n")["loss"]
    assert (role, steps) == ("train/loss", list(range(count)))


def test_a_printed_tensor_with_a_gradient_is_the_loss() -> None:
    lines = [f"{5 * n} tensor(1.{9 - n}, grad_fn=<NllLossBackward0>)\n" for n in range(1, 6)]
    found = read("".join(lines))
    assert found["loss"] == ("train/loss", [5, 10, 15, 20, 25], [1.8, 1.7, 1.6, 1.5, 1.4])


def test_who_of_how_many_wrote_a_line_is_no_step_of_icefall() -> None:
    lines = ["2025-05-29 08:12:23,535 INFO [train.py:1111] (0/4) Number of model parameters: 5512"]
    for epoch in (1, 2, 3):
        lines += [
            f"2025-05-29 08:12:24,051 INFO [train.py:1013] (0/4) Epoch {epoch}, batch {batch}, "
            f"loss[loss={4 / (epoch + batch):.4f}, over 1495.00 frames. ], batch size: 16, lr: 1e-4"
            for batch in (0, 5, 10, 15)
        ]
        lines += [
            f"2025-05-29 08:14:05,595 INFO [train.py:1045] (0/4) Epoch {epoch}, validation: "
            f"loss={1 / epoch:.4f}, over 1440.00 frames. ",
            "2025-05-29 08:14:05,595 INFO [train.py:1046] (0/4) Maximum memory allocated so far "
            f"is {9000 + epoch}MB",
        ]
    run = Run("test")
    file = run.add_file(SourceFile("log-train"))
    run.append(file, TextReader().feed("\n".join(lines).encode(), final=True))
    found = {one.role: one for one in run.series}
    assert run.totals == {}
    assert found["train/loss"].axis_name == "step"
    assert found["train/loss"].axis("step").tolist() == [*range(0, 60, 5)]
    assert found["val/loss"].axis("step").tolist() == [15, 35, 55]


def test_what_detectron2_prints_to_be_pasted_is_its_evaluation() -> None:
    lines = []
    for step in (19, 39, 59, 79):
        said = "[01/11 14:13:46 d2.evaluation.testing]: copypaste:"
        lines += [
            f"[01/11 14:13:44 d2.utils.events]:  eta: 0:02:19  iter: {step}  "
            f"total_loss: {90 / step:.3f}  data_time: 0.0075  last_data_time: 0.0062   lr: 0.02",
            f"{said} Task: bbox",
            f"{said} AP,AP50,AP75,APs",
            f"{said} {step}.5510,{step + 9}.8367,{step - 9}.5959,nan",
            f"{said} Task: segm",
            f"{said} AP,AP50,AP75,APs",
            f"{said} {step - 5}.5510,{step}.8367,{step}.5959,nan",
        ]
    found = read("\n".join(lines) + "\n")
    assert found["bbox/AP"] == ("val/score", [19, 39, 59, 79], [19.551, 39.551, 59.551, 79.551])
    assert found["segm/AP50"][0] == "val/score"
    assert found["last_data_time"][0] == "data_time"
    assert not {"copypaste", "bbox/APs", "AP"} & found.keys()


def test_a_rate_that_never_changes_is_one_all_the_same() -> None:
    lines = []
    for step in range(0, 400, 10):
        lines += [
            f"   --> TIME: 2024-03-05 03:10:31 -- STEP: {step % 80}/80 -- GLOBAL_STEP: {step}",
            f"     | > loss: {1 + 9 / (step + 9):.4f}  (1.0131)",
            "     | > current_lr: 0.001 ",
            "     | > eval_time: 0.0 ",
        ]
    found = read("\n".join(lines) + "\n")
    assert found["current_lr"] == ("lr", [*range(0, 400, 10)], [0.001] * 40)
    assert "eval_time" not in found
    assert "lr" not in read("lr: 0.1\nlr: 0.1\nlr: 0.1\nlr: 0.1\n")


def totals_of(*lines: str) -> dict[str, float]:
    """What a log says that it means to do."""
    run = Run("test")
    file = run.add_file(SourceFile("train.log"))
    reader = TextReader()
    for line in lines:
        run.append(file, reader.feed(f"{line}\n".encode(), final=False))
    return run.totals


@pytest.mark.parametrize(
    ("line", "totals"),
    [
        ("03/20/2024 12:32:54 - INFO - __main__ -   Total optimization steps = 500", {"step": 500}),
        ("  Total optimization steps = 12,500", {"step": 12500}),
        ("INFO - sequence length 2048, total steps 400 (warmup 20)", {"step": 400}),
        ("[NeMo W] a value and trainer's max_steps was set to 400. Please ensure", {"step": 400}),
        ("Starting training for 30 epochs...", {"epoch": 30}),
        ("Scheduled epochs: 15. LR stepped per update.", {"epoch": 15}),
    ],
)
def test_what_frameworks_say_that_they_mean_to_do(line: str, totals: dict[str, float]) -> None:
    assert totals_of(line) == totals


def test_the_total_of_an_epoch_is_not_that_of_global_steps() -> None:
    lines = [
        f" --> TIME: 2024-03-05 03:10:31 -- STEP: {step % 80}/80 -- GLOBAL_STEP: {step}\n"
        f"     | > loss: {9 / (step + 9):.4f}"
        for step in range(0, 400, 10)
    ]
    assert totals_of(*lines[:4]) == {"step": 80}
    assert totals_of(*lines) == {}
    assert totals_of(*(f"iteration {n}/9 global_step {n} loss: {9 / n}" for n in (1, 2, 3))) == {
        "step": 9
    }


def test_a_bar_over_fractions_of_epochs_ends_where_the_training_does() -> None:
    lines = [
        f" {n}%|##   | {10 * n}/1000 [00:16<13:38,  1.20it/s]\n"
        f"{{'loss': {3 - n / 50:.4f}, 'learning_rate': 0.001, 'epoch': {n / 20}}}"
        for n in range(1, 60)
    ]
    assert totals_of(*lines) == {"step": 1000}


def test_batches_of_espnet_and_wenet_are_counted_on() -> None:
    said = "[gpu01:0/2] 2022-01-01 10:00:02,123 (trainer:732) INFO:"
    lines = [
        f"{said} {epoch}epoch:train:{last - 49}-{last}batch: iter_time=0.012, loss={9 / last:.3f}, "
        f"optim0_lr0=1.5e-04, train_time=1.1"
        for epoch in (1, 2, 3)
        for last in (50, 100, 150)
    ]
    assert read("\n".join(lines))["loss"][1] == [*range(50, 451, 50)]
    lines = []
    for epoch in range(3):
        lines += [
            f"2023-01-01 10:00:02,123 DEBUG {split} Batch {epoch}/{batch} loss {9 / (batch + 9)} "
            f"loss_att 8.1 loss_ctc 14.2 {rest}rank 0"
            for split, rest in (("TRAIN", "lr 0.0001 "), ("CV", "history loss 9.1 "))
            for batch in ((0, 100, 200) if split == "TRAIN" else (0,))
        ]
    found = {role: steps for role, steps, _ in read("\n".join(lines)).values()}
    assert found["lr"] == [*range(0, 900, 100)]
    assert found["val/loss"] == [200, 500, 800]
    assert found["train/loss"] == [*range(0, 900, 100)]


def test_what_catboost_calls_learn_is_the_training() -> None:
    lines = [
        f"{n}:\tlearn: {2 / (n + 1):.4f}\ttest: {3 / (n + 1):.4f}\ttotal: {50 * n}ms"
        for n in range(12)
    ]
    found = read("\n".join(lines) + "\n")
    assert (found["learn"][0], found["test"][0]) == ("train/loss", "test/loss")


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["train_loss", "valid_loss", "accuracy"], ["train/loss", "val/loss", "val/accuracy"]),
        (
            ["train_loss", "val_loss", "auc", "val_auc"],
            ["train/loss", "val/loss", "score", "val/score"],
        ),
        (
            ["train_loss", "val_loss", "val_acc", "acc"],
            ["train/loss", "val/loss", "val/accuracy", "train/accuracy"],
        ),
    ],
)
def test_a_measure_behind_both_losses_is_of_validation_unless_that_has_one(
    names: list[str], roles: list[str]
) -> None:
    lines = [
        f"epoch {n} "
        + " ".join(f"{name}={1 / (n + place):.4f}" for place, name in enumerate(names))
        for n in range(1, 9)
    ]
    found = read("\n".join(lines) + "\n")
    assert [found[name][0] for name in names] == roles
