"""How frameworks say how many parameters a model has."""

from __future__ import annotations

import pytest

from mltd.runs.statements import StatementKind, may_state, statements_in


def said(line: str) -> list[tuple[str, float | None]]:
    return [
        (stated.subject, stated.value)
        for stated in statements_in(line)
        if stated.kind is StatementKind.PARAMETERS
    ]


@pytest.mark.parametrize(
    ("line", "subject", "value"),
    [
        ("number of parameters: 124.44M", "total", 124.44e6),
        ("Total params: 361,729 (1.38 MB)", "total", 361_729),
        ("Trainable params: 361,601", "trainable", 361_601),
        ("Non-trainable params: 128", "frozen", 128),
        ("16.1 M    Trainable params", "trainable", 16.1e6),
        ("124 M     Total params", "total", 124e6),
        ("  Number of trainable parameters = 124,439,808", "trainable", 124_439_808),
        ("Model resnet50 created, param count:25557032", "total", 25_557_032),
        ("number of params (M): 111.65", "total", 111.65e6),
        ("| num. model params: 210808832", "total", 210_808_832),
        ("INFO - Model llama3 8B size: 8,030,261,248 total parameters", "total", 8_030_261_248),
        ("Model Summary: 283 layers, 7071633 parameters, 16.4 GFLOPs", "total", 7_071_633),
        ("trainer:before_train:130 - Model Summary: Params: 8.97M, Gflops: 26", "total", 8.97e6),
        ("speechbrain.core - INFO - 4.6M trainable parameters in Brain", "trainable", 4.6e6),
        (" > number of parameters on model parallel rank 3    52.005 Billion", "rank", 52.005e9),
        (
            " > number of parameters on (tensor, pipeline) model parallel rank (2, 1): 805560320",
            "rank",
            805_560_320,
        ),
        ("| num_parameters        | 124475904       |", "total", 124_475_904),
    ],
)
def test_a_count_is_read_in_the_words_of_each_framework(
    line: str, subject: str, value: float
) -> None:
    ((about, count),) = said(line)
    assert about == subject
    assert count == pytest.approx(value)
    assert may_state(line)


def test_a_line_may_state_both_all_and_trained_parameters() -> None:
    line = "trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.0622"
    assert said(line) == [("trainable", 4_194_304), ("total", 6_742_609_920)]
    line = "num. shared model params: 95,044,608 (num. trained: 95,000,000)"
    assert said(line) == [("total", 95_044_608), ("trainable", 95_000_000)]


@pytest.mark.parametrize(
    "line",
    [
        "num decayed parameter tensors: 50, with 124,354,560 parameters",
        "using torch.float16 for parameters ...",
        "loaded 3 parameters from model.bin",
        "hyperparameters: 1200",
        "param_norm: 1234.5",
        "FP16 params swapping is False, Max params in CPU is 1000000000.0",
        "Total params: 0",
        "step 300 loss 2.1",
        "",
    ],
)
def test_other_lines_about_parameters_state_no_count(line: str) -> None:
    assert said(line) == []


def test_whether_a_line_may_state_something_does_not_depend_on_its_digits() -> None:
    assert may_state("Total params: 361,729") is may_state("Total params: ")
