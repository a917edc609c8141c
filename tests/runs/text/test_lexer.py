"""One line of each style that trainings print, read carefully."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.roles import shipped
from mltd.runs.text.lexer import read_line

NAN = math.nan


class Case(NamedTuple):
    line: str
    values: dict[str, float]
    axes: dict[str, float]


def case(line: str, values: dict[str, float], **axes: float) -> Case:
    """A line, its values by name, and its place on the axes."""
    return Case(line, values, axes)


CASES = [
    case(
        "step 10 loss 2.1 lr 0.1 imgs/s 955.1", {"loss": 2.1, "lr": 0.1, "imgs/s": 955.1}, step=10
    ),
    case(
        "step 1, 862.6/s, 107.4/s/gpu LR: 0.1",
        {"items/s": 862.6, "items/s/gpu": 107.4, "LR": 0.1},
        step=1,
    ),
    case("Epoch: 1, Step: 3, Rank: 2, loss = 2.5", {"loss": 2.5}, epoch=1, step=3),
    case("  training loss:\t\t1.5", {"training loss": 1.5}),
    case("epoch: 1, (loss: 2.5), {'step_time': '0.2'}", {"loss": 2.5, "step_time": 0.2}, epoch=1),
    case(
        "{'loss': 2.5, 'global_step/max_steps': '5/800'}",
        {"loss": 2.5, "global_step/max_steps": 5},
        step=5,
    ),
    case("Critic Loss = 5.0 | Learner Steps = 100", {"Critic Loss": 5.0}, step=100),
    case("TRN      76  loss=0.0376  lr=0.0037", {"loss": 0.0376, "lr": 0.0037}, step=76),
    case("validation 40 loss: 0.5 acc: 0.9", {"loss": 0.5, "acc": 0.9}, step=40),
    case("epoch=2 i=240/530 total loss=1.5 vocoder loss=0.5",
         {"total loss": 1.5, "vocoder loss": 0.5}, epoch=2, inner=240),
    case("epoch=2 i=3 loss=1.5", {"i": 3, "loss": 1.5}, epoch=2),
    case("Training: loss = 0.82, acc = 0.14 | Val: loss = 0.85, acc = 0.07",
         {"Training loss": 0.82, "Training acc": 0.14, "Val loss": 0.85, "Val acc": 0.07}),
    case("Epoch 6 | Train Loss: 10.22 | Token Acc: 0.06 | Val Loss: 10.17 | Token Acc: 0.05",
         {"Train Loss": 10.22, "Token Acc": 0.06, "Val Loss": 10.17, "val Token Acc": 0.05},
         epoch=6),
    case("Epoch: 3, Train Auc: 0.92, Acc: 0.89; Val Auc: 0.91, Acc: 0.88; Test Auc: 0.9, Acc: 0.87",
         {"Train Auc": 0.92, "Acc": 0.89, "Val Auc": 0.91, "val Acc": 0.88, "Test Auc": 0.9,
          "test Acc": 0.87}, epoch=3),
    case("s:0 trl:11.0116 lr:0.000001 norm:14.96",
         {"trl": 11.0116, "lr": 1e-6, "norm": 14.96}, step=0),
    case("step:19/3200 train_loss:6.3283 train_time:1232ms",
         {"train_loss": 6.3283, "train_time": 1232}, step=19),
    case("step:0/20000 val_loss:6.9101 step_avg:nanms",
         {"val_loss": 6.9101, "step_avg": NAN}, step=0),
    case("iter 0: loss 10.9779, time 87476.85ms, mfu -100.00%",
         {"loss": 10.9779, "time": 87476.85, "mfu": -100}, step=0),
    case("step 0: train loss 10.9890, val loss 10.9904",
         {"train loss": 10.989, "val loss": 10.9904}, step=0),
    case("Train: [3/300][10/1251]  loss 6.7 (6.9)",
         {"Train loss": 6.7, "Train loss (avg)": 6.9}, epoch=3, inner=10),
    case("valid (3/20) accuracy01: 0.83 | loss: 0.46",
         {"accuracy01": 0.83, "loss": 0.46}, epoch=3),
    case("[2021-03-01 12:00:00] [valid] Ep. 1 : Up. 2000 : perplexity : 4.79931 : new best",
         {"[valid] perplexity": 4.79931}, epoch=1, step=2000),
    case("Epoch: 0 Iteration: 10  average_loss : 10.3  step_loss : 10.2  learning_rate : 5e-4",
         {"average_loss": 10.3, "step_loss": 10.2, "learning_rate": 5e-4}, epoch=0, step=10),
    case("Ep. 1 : Up. 200 : Cost 8.12 : Time 60.12s : 38000.21 words/s : gNorm 1.2",
         {"Cost": 8.12, "Time": 60.12, "words/s": 38000.21, "gNorm": 1.2}, epoch=1, step=200),
    case("report_training_metrics(steps_completed=100, metrics={'loss': 1.25})",
         {"loss": 1.25}, step=100),
    case("Iter(val) [500]\taAcc: 0.9581, mIoU: 0.6",
         {"aAcc": 0.9581, "mIoU": 0.6}),
    case("best metric, acc: 0.43, fps: 12.1",
         {"best acc": 0.43, "best fps": 12.1}),
    case("0 train 11.223622",
         {"train": 11.223622}, step=0),
    case("Epoch [80/500], Validation Loss: 0.0146",
         {"Validation Loss": 0.0146}, epoch=80),
    case("Epoch(train)   [1][50/632]  lr: 4e-08  eta: 4:59:11  loss: 0.42",
         {"lr": 4e-8, "loss": 0.42}, epoch=1, inner=50),
    case("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300000",
         {"Loss": 2.3}, epoch=1, inner=640),
    case("[3/20][100/600] Loss_D: 1.2 Loss_G: 0.5",
         {"Loss_D": 1.2, "Loss_G": 0.5}, epoch=3, inner=100),
    case("[1, 2000] loss: 2.170",
         {"loss": 2.17}, epoch=1, inner=2000),
    case("[100]\ttrain-rmse:0.5\tvalid-rmse:0.6",
         {"train-rmse": 0.5, "valid-rmse": 0.6}, step=100),
    case("Train: 3 [  50/1251 (  4%)]  Loss: 6.94 (6.95)",
         {"Loss": 6.94, "Loss (avg)": 6.95}, epoch=3, inner=50),
    case("1epoch:train:1-100batch: loss_ctc=100.1, loss=90.2",
         {"loss_ctc": 100.1, "loss": 90.2}, epoch=1, inner=100),
    case("2/12epoch started. Estimated time to finish: 3 minutes",
         {"started Estimated time to finish": 3.0}, epoch=2),
    case("2/12 epoch 1 loss 90.2",
         {"loss": 90.2}, epoch=1, step=2),
    case("Ep. 1 : Up. 1000 : Cost 8.1 * 1,234 after 9,999 : Time 1.5s : gNorm 1.2",
         {"Cost": 8.1, "Time": 1.5, "gNorm": 1.2}, epoch=1, step=1000),
    case("INFO:tensorflow:loss = 3.4567, step = 100 (12.345 sec)",
         {"loss": 3.4567}, step=100),
    case("Training loss at step 100: 2.345",
         {"Training loss": 2.345}, step=100),
    case("loss is 2.345",
         {"loss": 2.345}),
    case("Train loss 1200 0.523 Grad Norm 2.3",
         {"Train loss": 0.523, "Grad Norm": 2.3}, step=1200),
    case("| epoch   1 |   200/ 2983 batches | lr 20.00 | loss  7.63",
         {"lr": 20, "loss": 7.63}, epoch=1, inner=200),
    case(" iteration       20/    1000 | consumed samples:           80 | lm loss: 1.2E+01 | "
         "number of nan iterations:   0 |",
         {"consumed samples": 80, "lm loss": 12,
          "number of nan iterations": 0}, step=20, samples=80),
    case(" validation loss at iteration 100 | lm loss value: 8.0E+00 |",
         {"lm loss value": 8}, step=100),
    case("{'loss': 0.69, 'learning_rate': 9.8e-06, 'epoch': 0.02}",
         {"loss": 0.69, "learning_rate": 9.8e-6, "epoch": 0.02}, epoch=0.02),
    case('{"epoch": 10, "loss": "3.922", "gnorm": "0.841"}',
         {"epoch": 10, "loss": 3.922, "gnorm": 0.841}, epoch=10),
    case('{"Loss/G": {"num": 2, "mean": 3.5, "std": 0.1}, "step": 4}',
         {"Loss/G/num": 2, "Loss/G": 3.5, "Loss/G/std": 0.1, "step": 4}, step=4),
    case(':::MLPv0.5.0 ncf 1541731867.07 (ncf.py:450) eval_accuracy: {"epoch": 0, "value": 0.43}',
         {"epoch": 0, "eval_accuracy": 0.43}, epoch=0),
    case("{'loss': tensor(nan, device='cuda:0'), 'acc': np.float64(0.5)}",
         {"loss": NAN, "acc": 0.5}),
    case("I0821 09:21:09.4  5405 solver.cpp:359]     "
         "Test net output #0: loss = 2.65 (* 1 = 2.65 loss)",
         {"Test net output loss": 2.65}),
    case("tick 0     kimg 0.0      time 2m 22s       sec/tick 19.3",
         {"kimg": 0, "sec/tick": 19.3}, step=0, samples=0),
    case("Epoch[0] Batch [49]\tSpeed: 104.7 samples/sec\trmse=0.02",
         {"Speed": 104.7, "rmse": 0.02}, epoch=0, inner=49),
    case("[Epoch 0] validation: err-top1=0.82 err-top5=0.60",
         {"validation err-top1": 0.82, "validation err-top5": 0.6}, epoch=0),
    case("2019-10-12 00:40:00,105 DEV : loss 4.02 - score 0.7491",
         {"DEV loss": 4.02, "DEV score": 0.7491}),
    case("Evaluate on Dev Set. F1: 95.5005.",
         {"Evaluate on Dev Set F1": 95.5005}),
    case("Region 82 Avg IOU: -nan, Class: 0.5, .5R: 0.1,  count: 0",
         {"Region Avg IOU": NAN, "Class": 0.5, ".5R": 0.1, "count": 0}),
    case("Epoch 0: v_t2m/len 1368  v_t2m/R01 1.46%  v_t2m/MedR 66.5%",
         {"v_t2m/len": 1368, "v_t2m/R01": 1.46, "v_t2m/MedR": 66.5}, epoch=0),
    case("📊 Iter     1/1000 | Policy Loss: 0.1287 | Traj Len: 200.0",
         {"Policy Loss": 0.1287, "Traj Len": 200}, step=1),
    case("📈 [Epoch Metrics] Policy Loss:   0.13 | Entropy: 0.97",
         {"[Epoch Metrics] Policy Loss": 0.13, "[Epoch Metrics] Entropy": 0.97}),
    case("损失：[2.7, 30.2]，步数：0，学习率：0.0001",
         {"损失[0]": 2.7, "损失[1]": 30.2, "学习率": 1e-4}, step=0),
    case("bbox_mAP: 0.647, bbox_mAP_copypaste: 0.647 0.935 -1.000",
         {"bbox_mAP": 0.647, "bbox_mAP_copypaste[0]": 0.647, "bbox_mAP_copypaste[1]": 0.935,
          "bbox_mAP_copypaste[2]": -1}),
    case(" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.647",
         {"Average Precision (AP) IoU=0.50:0.95 area=all maxDets=100": 0.647}),
    case("memory: 168.57GiB(94.52%)  tps: 9,982",
         {"memory": 168.57, "memory (%)": 94.52, "tps": 9982}),
    case("Test set: Average loss: 0.05, Accuracy: 9821/10000 (98%)",
         {"Test set Average loss": 0.05, "Test set Accuracy": 9821, "Test set Accuracy (%)": 98}),
    case("Epoch 1, batch 50, loss[loss=0.5, simple_loss=0.9], tot_loss[loss=0.6], lr: 3e-3",
         {"loss/loss": 0.5, "loss/simple_loss": 0.9, "tot_loss/loss": 0.6,
          "lr": 0.003}, epoch=1, inner=50),
    case("global_step=1234, episodic_return=[12.]",
         {"episodic_return": 12}, step=1234),
    case("Steps:   2%|▏         | 11/500 [00:10<07:43,  1.05it/s, lr=1e-5, step_loss=0.01]",
         {"lr": 1e-5, "step_loss": 0.01}),
    case("  256/10000 [>...........] - ETA: 57s - loss: 0.68",
         {"loss": 0.68}),
    case("10/40 ━━━━━━━━━━━━━━━━━━━━ 3s 66ms/step - loss: 0.6",
         {"elapsed": 3, "time/step": 66, "loss": 0.6}),
    case("step    1/18865 | loss 11.01 (+nanz)| norm 15.35 | 3056.36 ms | 42.6% bf16 MFU | "
         "171545 tok/s",
         {"loss": 11.01, "norm": 15.35, "elapsed": 3056.36,
          "bf16 MFU": 42.6, "tok/s": 171545}, step=1),
    case("loss: 1.#IND grad: -1.#INF",
         {"loss": NAN, "grad": -math.inf}),
    case("layer 3 grad_norm: 0.5",
         {"layer 3 grad_norm": 0.5}),
    case("Time: 5.1s,  249.86/s  (5.2s,  249.87/s)",
         {"Time": 5.1, "items/s": 249.86, "items/s #2": 249.87}),
]  # fmt: skip

QUIET = [
    "{'best_train_loss': inf, 'log_interval': 50, 'valid_interval': 3000, 'num_epochs': 12}",
    "Running pytorch 2.5.1+cu124 compiled for CUDA 12.4",
    "| N/A   33C    P0            141W /  700W |    5304MiB /  81559MiB |      4%      Default |",
    "2024-01-01 10:00:00 - INFO - connecting to 10.0.0.1:29500",
    "+ python train.py --lr 0.1 --epochs 20",
    "python -m torch.distributed.launch --nproc_per_node 8 --lr 0.00064 --dropout 0.1",
    "        (2): Fp32GroupNorm(512, 512, eps=1e-05, affine=True)",
    "Epoch   106: reducing learning rate of group 0 to 9.7656e-05.",
    "  lr ............................................ 0.00015",
    "export CONDA_SHLVL=2",
    "[{'label': 'POSITIVE', 'score': 0.9998551607131958}]",
    "val_loss improved from 0.345 to 0.234, saving model to best.h5",
    'File "/home/me/train.py", line 52, in forward',
]


@pytest.mark.parametrize(("line", "values", "axes"), CASES, ids=[case.line[:40] for case in CASES])
def test_names_values_and_coordinates(
    line: str, values: dict[str, float], axes: dict[str, float]
) -> None:
    reading = read_line(line, shipped())
    found = {slot.name: slot.value for slot in reading.slots}
    assert found.keys() == values.keys()
    for name, value in values.items():
        assert found[name] == value or (math.isnan(found[name]) and math.isnan(value)), name
    assert {c.axis: c.value for c in reading.coordinates} == axes


@pytest.mark.parametrize("line", QUIET)
def test_what_only_looks_like_a_metric_is_left_alone(line: str) -> None:
    reading = read_line(line, shipped())
    assert not [slot.name for slot in reading.slots if slot.is_known]
    assert not reading.is_measurement


@pytest.mark.parametrize(
    ("line", "rank"),
    [
        ("[rank3]: loss: 2.0", 3),
        ("[rank0]:[titan] 2026-05-19 19:31:29,955 - root - INFO - loss: 2.0", 0),
        ("Rank 2 | loss: 2.0", 2),
        ("[1,5]<stdout>:loss: 2.0", 5),
        ("[GPU7] loss: 2.0", 7),
        ("(RayTrainWorker 4) loss: 2.0", 4),
        ("[gpu01:1/4] 2022-03-01 10:05:30,441 (trainer:338) INFO: loss: 2.0", 1),
        ("[my-host] 2022-03-01 10:05:30,441 (trainer:338) INFO: loss: 2.0", None),
        ("2022-05-20 03:00:31,001 INFO [train.py:842] (3/4) Epoch 1, loss: 2.0", 3),
        ("loss: 2.0", None),
    ],
)
def test_ranks_are_told_from_the_message(line: str, rank: int | None) -> None:
    reading = read_line(line, shipped())
    assert reading.rank == rank
    assert [(s.name, s.value) for s in reading.slots] == [("loss", 2.0)]


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("Epoch(val) [10][6/6]    coco/AP: 0.5", "val"),
        ("Epoch(train) [10][6/6]    loss: 0.5", "train"),
        ("[2022-04-08 21:30:44,733][valid][INFO] - {'epoch': 10, 'loss': 3.7}", "val"),
        ("[2022-04-08 21:30:44,733][valid][INFO] - train loss: 3.7", "val"),
        ("validation loss at iteration 100 | lm loss value: 8.0", "val"),
        ("valid (3/20) loss: 0.46", "val"),
        ("cur metric, acc: 0.43, norm_edit_dis: 0.9", "val"),
        ("Validation DataLoader 0:  50%|x | 5/10 [00:00<00:00, 40.1it/s]", "val"),
        ("Saving dict for global step 500: accuracy = 0.8, loss = 0.6", "val"),
        ("Epoch 0: : 4%|x   | 5/90 [00:05<16:24, 1.10s/it, v_num=, loss=9.2]", ""),
    ],
)
def test_the_head_of_a_line_names_the_split(line: str, split: str) -> None:
    assert read_line(line, shipped()).split == split


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("step 3 loss: 2.0", "step"),
        ("Epoch 3 [5/20] loss: 2.0", "step"),
        ("Epoch 3 loss: 2.0", "epoch"),
        ("loss: 2.0 epoch 3", ""),
        ("Epoch 3 {'loss': 2.0}", "epoch"),
    ],
)
def test_the_finest_coordinate_before_the_values_is_the_level(line: str, level: str) -> None:
    assert read_line(line, shipped()).level == level


@pytest.mark.parametrize(
    ("line", "is_measurement"),
    [
        ("loss: 2.0 accuracy: 0.5", True),
        ("step 3 loss: 2.0", True),
        ("{'loss': 2.0}", True),
        ("  7%|▋    | 40/600 [00:10<02:20,  3.99it/s, loss=2.0]", True),
        ("29948it [35:34,  7.00s/it, loss=2.0]", True),
        ("loss: 2.0", False),
        ("step 3 apples: 2.0", False),
    ],
)
def test_a_known_name_and_a_place_make_a_measurement(line: str, is_measurement: bool) -> None:
    assert read_line(line, shipped()).is_measurement is is_measurement


@pytest.mark.parametrize(
    ("line", "coordinates"),
    [
        ("Epoch 3", 1),
        ("In epoch 3 of this run nothing was learnt at all", 0),
        ("package.training.epoch_loop - Going into epoch 3", 1),
        ("Eval iter: 100", 0),
        ("[eval_step=10/20]", 0),
    ],
)
def test_a_sentence_that_mentions_a_coordinate_is_no_place(line: str, coordinates: int) -> None:
    assert len(read_line(line, shipped()).coordinates) == coordinates


@given(st.text(max_size=400))
def test_no_text_breaks_the_lexer(text: str) -> None:
    reading = read_line(text.replace("\n", " "), shipped())
    for slot in reading.slots:
        assert 0 <= slot.span[0] < slot.span[1] <= len(text)


PIECES = [
    "loss", "epoch", "'a'", "nan", "12.5", "1e-5", "3/20", "%",
    ":", "=", ",", "|", "-", "[", "]", "(", ")", "{", "}", " ", "  ", "\t",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_no_order_of_pieces_breaks_the_lexer(pieces: list[str]) -> None:
    read_line("".join(pieces), shipped())
    read_line(" ".join(pieces), shipped())


@pytest.mark.parametrize(
    "filler", [" ", "[", "(", "{'a': ", "1 ", "|", "a:", "=", "1,2 ", "9/9 ", "/a", "-", "x\t"]
)
def test_long_hostile_lines_take_no_time(filler: str) -> None:
    # Runs in well under a second; a quadratic pattern would need minutes.
    read_line(filler * (1_000_000 // len(filler)), shipped())


def test_a_coordinate_that_is_no_number_is_survived() -> None:
    read_line("epoch 1.#IND loss 2", shipped())


def test_a_position_in_brackets_is_no_value() -> None:
    reading = read_line("Test: [10/1814] Data 0.336 (0.784)", shipped())
    assert [(slot.name, slot.value) for slot in reading.slots] == [
        ("Test Data", 0.336),
        ("Test Data (avg)", 0.784),
    ]


def test_a_bracketed_position_of_a_training_is_a_coordinate() -> None:
    reading = read_line("Loop: [10/1814] Data 0.336", shipped())
    assert [(c.axis, c.value, c.total) for c in reading.coordinates] == [("inner", 10, 1814)]


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("Evaluation Epoch 4 - Average Loss: 1.55, Samples: 115", "val"),
        ("Test epoch 4 | loss 1.55", "test"),
        ("Epoch 4 - Average Loss: 1.55, Samples: 115", ""),
    ],
)
def test_the_word_before_the_axis_tells_the_split(line: str, split: str) -> None:
    reading = read_line(line, shipped())
    assert (reading.split, reading.coordinates[0].value) == (split, 4)
