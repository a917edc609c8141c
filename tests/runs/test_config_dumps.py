"""Configuration that programs print into their logs."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path, PurePosixPath
from pprint import pformat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.config import config_from_lines, may_start_config
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run
from tests.blow_up import no_blow_up
from tests.runs.events.reading import corpus_logs


def read(text: str, index: int = 0) -> dict[str, object]:
    lines = text.split("\n")
    assert may_start_config(lines[index])
    found = config_from_lines(lines, index)
    assert found is not None
    return found[0]


def test_a_namespace_as_argparse_prints_it() -> None:
    args = Namespace(
        lr=1e-4,
        name="it's",
        betas=(0.9, 0.95),
        layers=[1, [2]],
        none=None,
        on=True,
        inner=Namespace(x=1),
        path=PurePosixPath("/data"),
        options={"a": {"b": 2}},
        empty=[],
    )
    assert read(f"2021-12-06 19:41:45.382 | INFO | trainer:124 - args: {args}") == {
        "lr": 1e-4, "name": "it's", "betas": [0.9, 0.95], "layers": [1, [2]], "none": None,
        "on": True, "inner": {"x": 1}, "path": "/data", "options": {"a": {"b": 2}}, "empty": [],
    }  # fmt: skip


def test_training_arguments_over_many_lines() -> None:
    text = """\
[INFO] Training/evaluation parameters TrainingArguments(
_n_gpu=1,
adam_beta1=0.9,
evaluation_strategy=IntervalStrategy.NO,
logging_dir=./out/runs/Jan01 12,
fsdp_config={'min_num_params': 0, 'xla': False},
lr_scheduler_type=<SchedulerType.LINEAR: 'linear'>,
report_to=['wandb'],
)
loss 3"""
    found = config_from_lines(text.split("\n"), 0)
    assert found is not None
    assert found[1] == 9
    assert found[0] == {
        "_n_gpu": 1,
        "adam_beta1": 0.9,
        "evaluation_strategy": "IntervalStrategy.NO",
        "logging_dir": "./out/runs/Jan01 12",
        "fsdp_config": {"min_num_params": 0, "xla": False},
        "lr_scheduler_type": "linear",
        "report_to": ["wandb"],
    }


def test_dicts_and_json_over_lines() -> None:
    settings = {"lr": 0.1, "model": {"depth": 3, "names": ["a", "b"] * 20}, "seed": None}
    assert read(f"Config: {settings}") == settings
    assert read(f"Config: {pformat(settings)}") == settings
    assert read(
        '[INFO] [config.py:906:print]   json = {\n "fp16": {"enabled": true},\n "n": null\n}'
    ) == {
        "fp16": {"enabled": True},
        "n": None,
    }


def test_a_part_of_the_configuration_keeps_its_name() -> None:
    assert read("    mp_cfg: {'mp_start_method': 'fork', 'threads': 0}") == {
        "mp_cfg": {"mp_start_method": "fork", "threads": 0}
    }


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("2026-11-14 08:00:00 INFO config: batch_size=64 lr=6e-4 seed=1337 optimizer=adamw",
         {"batch_size": 64, "lr": 6e-4, "seed": 1337, "optimizer": "adamw"}),
        ("args: lr=0.1, seed=3", {"lr": 0.1, "seed": 3}),
        ("INFO:root:Args: lr = 0.1, seed = 3", {"lr": 0.1, "seed": 3}),
        ("hparams {lr: 0.1, seed: 3}", {"lr": 0.1, "seed": 3}),
        ("[rank0]: Config: betas=(0.9, 0.95), max_grad_norm=1.0, name='a b', epochs=3, resume=",
         {"betas": [0.9, 0.95], "max_grad_norm": 1.0, "name": "a b", "epochs": 3, "resume": ""}),
        ("hyperparameters: lr0=0.01, lrf=0.1, momentum=0.937, weight_decay=0.0005",
         {"lr0": 0.01, "lrf": 0.1, "momentum": 0.937, "weight_decay": 0.0005}),
        ("engine/trainer: task=detect, mode=train, epochs=100, time=None, batch=16, seed=0",
         {"task": "detect", "mode": "train", "epochs": 100, "time": None, "batch": 16, "seed": 0}),
    ],
)  # fmt: skip
def test_settings_on_one_line(line: str, wanted: dict[str, object]) -> None:
    assert read(line) == wanted
    found = config_from_lines([line, "step 1 loss 2.0"], 0, final=False)
    assert found is not None
    assert found[1] == 1


def test_megatron_arguments() -> None:
    text = """\
------------------------ arguments ------------------------
  accumulate_allreduce_grads_in_fp32 .............. False
  adam_eps ........................................ 1e-08
[rank1]: noise of another process
  apply_residual_connection_post_layernorm  True
  data_path ....................................... ['/a/b c']
-------------------- end of arguments ---------------------
setting number of micro-batches to constant 256"""
    found = config_from_lines(text.split("\n"), 0)
    assert found == (
        {
            "accumulate_allreduce_grads_in_fp32": False,
            "adam_eps": 1e-8,
            "apply_residual_connection_post_layernorm": True,
            "data_path": ["/a/b c"],
        },
        7,
    )


XLM = """\
INFO - 06/21/21 23:13:46 - 0:00:00 - ============ Initialized logger ============
INFO - 06/21/21 23:13:46 - 0:00:00 - batch_size: 32
                                     data_folder: /gpfs/conll2003
                                     dropout: 0.1
                                     lr: 5e-05
INFO - 06/21/21 23:13:46 - 0:00:00 - The experiment will be stored in logs/conll2003/1"""


def test_a_block_under_an_initialized_logger() -> None:
    found = config_from_lines(XLM.split("\n"), 0)
    assert found == (
        {"batch_size": 32, "data_folder": "/gpfs/conll2003", "dropout": 0.1, "lr": 5e-5},
        5,
    )


def test_fields_with_a_prefix_on_every_line() -> None:
    prefix = "[INFO|trainer.py:2314] 2024-12-04 06:05:15,244 >>"
    lines = [
        f"{prefix} ***** Running training *****",
        f"{prefix}   Num examples = 900",
        f"{prefix}   Total train batch size (w. parallel, distributed & accumulation) = 64",
        f"{prefix}   Total optimization steps = 28",
        "  0%|          | 0/28 [00:00<?, ?it/s]",
    ]
    found = config_from_lines(lines, 0)
    assert found is not None
    assert found[0]["Total optimization steps"] == 28
    assert found[1] == 4


def test_quoted_values_of_flair() -> None:
    prefix = "2019-10-12 00:35:18,196"
    lines = [
        f"{prefix} Parameters:",
        f'{prefix}  - learning_rate: "0.1"',
        f'{prefix}  - shuffle: "True"',
    ]
    assert read("\n".join([*lines, f"{prefix} ------------"])) == {
        "learning_rate": 0.1,
        "shuffle": True,
    }


def test_a_table_with_a_frame() -> None:
    text = """\
2021-12-06 19:41:45.382 | INFO     | yolox.core.trainer:before_train:125 - exp value:
╒══════════════════╤═══════════════╕
│ keys             │ values        │
╞══════════════════╪═══════════════╡
│ seed             │ None          │
├──────────────────┼───────────────┤
│ scale            │ (0.1, 2)      │
╘══════════════════╧═══════════════╛"""
    assert read(text) == {"seed": None, "scale": [0.1, 2]}


def test_python_assignments_of_openmmlab() -> None:
    text = """\
2023/06/05 20:09:48 - mmengine - INFO - Config:
default_scope = 'mmpose'
hooks = dict(
    timer=dict(type='IterTimerHook', interval=1),
    sizes=[(1, 2), (3, 4)])
lr = 0.004

2023/06/05 20:09:53 - mmengine - INFO - Distributed training is not used"""
    found = config_from_lines(text.split("\n"), 0)
    assert found == (
        {
            "default_scope": "mmpose",
            "hooks": {"timer": {"type": "IterTimerHook", "interval": 1}, "sizes": [[1, 2], [3, 4]]},
            "lr": 0.004,
        },
        6,
    )


def test_yaml_under_a_headline_and_without_one() -> None:
    text = (
        "trainer:\n  devices: 2\n  precision: 16\nmodel:\n  lr: 1e-4\n  layers:\n  - 1\n  - 2\nGo"
    )
    wanted = {"trainer": {"devices": 2, "precision": 16}, "model": {"lr": 1e-4, "layers": [1, 2]}}
    assert read(text) == wanted
    assert read("**** Experiment configuration ****\n" + text) == wanted


@pytest.mark.parametrize(
    "line",
    [
        "{'loss': 1.3129, 'learning_rate': 1e-06, 'epoch': 0.0}",
        '{"lr": 0.1, "train_loss": 2.5, "epoch": 3}',
        "step 3 loss 4.5 lr 1e-4",
        "Number of parameters: 123",
        "Total params: 361,729",
        "  (conv): Conv2d(3, 64, kernel_size=(7, 7))",
        "Saving config and results to ./run",
        "config: see config.yaml, which has seed=3",
        "args: step=3 lr=0.1 seed=4 loss=2.4",
        "params: lr=0.0009 momentum=0.9",
        "Parameters: encoder=1.2M, decoder=3.4M, head=0.1M, total=4.7M",
        "train: loss=0.5, acc=0.7, lr=0.1, batch=3, epochs=4, seed=4",
        "train: lr=0.1 batch=3 seed=4",
        "Options: batch size: 3 and seed: 4",
    ],
)
def test_measurements_and_models_are_no_configuration(line: str) -> None:
    assert config_from_lines([line, "x: 1", "y: 2"], 0) is None


@pytest.mark.parametrize(
    "text", [XLM, f"args = {pformat({'a' * 30: list(range(60)), 'lr': 1})}\nnext"]
)
def test_a_dump_that_is_not_there_yet_is_asked_for_again(text: str) -> None:
    lines = text.split("\n")
    whole = config_from_lines(lines, 0, final=False)
    assert whole is not None
    assert whole[1] == len(lines) - 1
    for number in range(1, len(lines) - 1):
        assert config_from_lines(lines[:number], 0, final=False) == ({}, 0), number


def test_dumps_of_real_logs_are_read(corpus: Path) -> None:
    least = {
        "fairseq/hydra_train_json.log": ("optimization", 300),
        "fairseq/mlperf-transformer-pipe.txt": ("adam_betas", 112),
        "megatron/slurm-timelimit-n64.out": ("micro_batch_size", 138),
        "openmmlab/mmengine-rtmpose.log": ("train_dataloader", 600),
        "openmmlab/mmdet2-nohup.out": ("optimizer", 160),
        "yolo/yolox-train_log-oom.txt": ("basic_lr_per_img", 30),
        "caffe/regression-glog.log": ("base_lr", 16),
        "plain/ner-xlm-logger-restarts.log": ("hidden_dim", 15),
        "flair/ace2005-slurm.out": ("learning_rate", 7),
        "nemo/nemo_log-attributeerror.txt": ("trainer", 100),
        "paddle/so-vits-svc-zh.log": ("train", 50),
        "mxnet/gluon-octconv-imagenet.log": ("lr", 29),
        "hf/llamafactory-sft-stalled.log": ("Total optimization steps", 40),
        "deepspeed/megatron-deepspeed-3d.out": ("gradient_clipping", 150),
    }
    seen = set()
    for name, _, lines in corpus_logs(corpus):
        merged: dict[str, object] = {}
        index = 0
        while index < len(lines):
            found = config_from_lines(lines, index) if may_start_config(lines[index]) else None
            if found is not None:
                assert found[1] > index
                merged |= found[0]
            index = found[1] if found is not None else index + 1
        if name in least:
            key, number = least[name]
            assert key in merged, name
            assert count(merged) >= number, name
            seen.add(name)
    assert seen == least.keys()


def count(found: dict[str, object]) -> int:
    return sum(count(value) if isinstance(value, dict) else 1 for value in found.values())


HOSTILE = [
    "args: Namespace(" + "a=(" * 100_000,
    "Namespace(" + "a=1, " * 200_000,
    "config: {" + "'a': {" * 100_000,
    "config: {'a': '" + "\\" * 1_000_000,
    "config: {'a': <" + "<" * 1_000_000,
    "config: {" + " " * 1_000_000,
    "x" * 1_000_000 + " Namespace(",
    "Arguments:" + " " * 1_000_000,
    "a." * 500_000 + "Config(",
    "config: " + "a=1 " * 250_000,
    "config: " + "a=[" * 300_000,
    "config: a=" + "'" * 1_000_000,
    "_'-" * 300_000 + " config: lr=1",
    "config: lr" + " " * 1_000_000,
]


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: line[:16])
def test_a_hostile_line_is_no_problem(line: str) -> None:
    # A tenth of a second at most. A pattern that backtracks takes minutes.
    with no_blow_up():
        may_start_config(line)
        config_from_lines([line] * 20, 0)


def test_a_hostile_block_is_no_problem() -> None:
    for filler in (
        "a" * 3000,
        " " * 3000,
        "a " * 1500,
        "." * 3000,
        "| " * 1500,
        "- " * 1500,
        "a: " * 900,
    ):
        with no_blow_up():
            config_from_lines(["Config:", *[filler] * 3000], 0)


PARTS = st.sampled_from(
    ["Namespace(", "Config(", "a=", "1", ")", "{", "}", "'k'", ":", "[", "]", ",", "\n", " ", "<",
     ">", "args: ", "Config:", "\nkey: value", "\n  x .... 1", "arguments ---", "│ a │ 1 │",
     "\\", '"', "-"]
)  # fmt: skip


@given(st.lists(st.one_of(PARTS, st.text(max_size=5)), max_size=40), st.booleans())
def test_no_text_crashes_the_reader(parts: list[str], final: bool) -> None:
    lines = "".join(parts).split("\n")
    for index in range(len(lines)):
        found = config_from_lines(lines, index, final=final)
        if found is not None:
            assert found[1] >= index + final
            assert found[1] <= len(lines)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-10**9, 10**9), st.floats(allow_nan=False),
                  st.text("abc'\" \\{}()[],:=", max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.text("abc_", min_size=1), inner, max_size=3),
        ),
        max_leaves=12,
    )
)  # fmt: skip
def test_what_python_prints_is_read_back(value: object) -> None:
    assert read(f"Config: {{'first': 1, 'value': {value!r}}}")["value"] == value


def test_a_bare_record_of_settings_is_no_measurement() -> None:
    log = (
        "{'lr': 0.005, 'steps': 800, 'batch_size': 16, 'optimizer': 'AdamW', 'max_grad_norm': 1.0, "
        "'seed': 5469}\n"
    )
    log += "".join(
        f"Epoch {n:02d}/10 | train_loss {2 - n / 10:.3f} | 32.3s\n" for n in range(1, 11)
    )
    run = Run("log")
    read_stream(run, "train.log", iter([log.encode()]))
    (loss,) = [series for series in run.series if series.name == "train_loss"]
    assert loss.axis_name == "epoch"
    assert run.config["lr"] == 0.005
    assert not any(series.name in ("lr", "batch_size") for series in run.series)
