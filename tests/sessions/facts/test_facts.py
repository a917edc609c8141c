"""What logs and configs of many kinds say about their circumstances is read, and nothing more."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.sessions.model.constraints import Topic
from mltd.sessions.model.evidence import RefKind

from .reading import STEPS, fact, gathered

SMI = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |
| N/A   31C    P0             62W /  400W |       4MiB /  81920MiB |      0%      Default |
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:0F:00.0 Off |                    0 |
| N/A   30C    P0             61W /  400W |       4MiB /  81920MiB |      0%      Default |
"""
HARDWARE = [
    (SMI, "2x NVIDIA A100-SXM4-80GB, 80 GiB each"),
    ("GPU 0: NVIDIA L4 (UUID: GPU-1-2)\nGPU 1: NVIDIA L4 (UUID: GPU-1-3)", "2x NVIDIA L4"),
    ("GPU 0,1,2,3: Tesla T4", "4x Tesla T4"),
    ("[rank0]: INFO - CUDA capacity: NVIDIA H200 with 139.81GiB memory", "NVIDIA H200, 139.81GiB"),
    (
        "YOLOv5 v7.0 Python-3.10.9 torch-2.0.0 CUDA:0 (NVIDIA GeForce RTX 3090, 24268MiB)",
        "NVIDIA GeForce RTX 3090, 24268MiB",
    ),
    (
        "rank   0: capabilities =  8.0  ; total memory = 39.586 GB ; name = NVIDIA A100\n"
        "rank   1: capabilities =  8.0  ; total memory = 39.586 GB ; name = NVIDIA A100",
        "2x NVIDIA A100, 39.586 GB each",
    ),
    (
        "Created device /device:GPU:0 with 14249 MB memory: -> device: 0, name: Tesla P4, "
        "pci bus id: 0000:00:04.0",
        "Tesla P4",
    ),
    ("Using device: NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"),
    (
        "2026-11-14 08:00:00 INFO torch 2.3.0 cuda 12.1 NVIDIA A100-SXM4-80GB x8 host gpu-node-07",
        "8x NVIDIA A100-SXM4-80GB; on gpu-node-07",
    ),
    ("[INFO] 4x NVIDIA H100 80GB HBM3, bf16", "4x NVIDIA H100 80GB HBM3"),
    ("hardware: 8xA100", "8x A100"),
    ("training on V100-SXM2-32GB", "V100-SXM2-32GB"),
    ("Running on TPU v4-8", "TPU v4-8"),
    ("Using cpu device", "CPU only"),
    ("INFO device: cpu", "CPU only"),
    ("GPU available: True (cuda), used: False", "no GPU in use"),
    ("using world size: 64, data-parallel-size: 8", "world size 64"),
    ("+ torchrun --nproc_per_node=8 train.py", "8 processes per node"),
    ("LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1,2,3]", "4 GPUs visible"),
    ("#SBATCH --gres=gpu:a100:4", "requested gpu:a100:4"),
    ("SLURM_NNODES=16\nSLURM_JOB_NODELIST=gpu[01-16]", "16 nodes; on gpu[01-16]"),
    (
        "Process rank: 0, device: cuda:0, n_gpu: 1\nProcess rank: 1, device: cuda:1, n_gpu: 1",
        "2 processes, a GPU each",
    ),
]
NO_HARDWARE = [
    "See https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html",
    "training progress: 10%",
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver",
    "nvidia-cublas-cu12==12.1.3.1",
    'device = torch.device("cuda:0")',
    "This kernel was tested on NVIDIA A100-SXM4-80GB",
    "we recommend 8x H100 for this model",
    "saving to runs/8xa100/A100",
    "You are trying to run PPO on the GPU, but it is meant to run on CPU when not using a CNN",
]


@pytest.mark.parametrize(("said", "value"), HARDWARE)
def test_hardware_is_read_from_what_programs_print(tmp_path: Path, said: str, value: str) -> None:
    assert fact(tmp_path, Topic.HARDWARE, said) == value


@pytest.mark.parametrize("said", NO_HARDWARE)
def test_a_word_about_hardware_is_not_hardware(tmp_path: Path, said: str) -> None:
    assert fact(tmp_path, Topic.HARDWARE, said) == ""


@pytest.mark.parametrize(
    ("said", "is_complete"),
    [
        ("using world size: 64, data-parallel-size: 8", False),
        ("+ torchrun --nproc_per_node=8 train.py", False),
        ("SLURM_NNODES=16", False),
        ("CUDA_VISIBLE_DEVICES: [0,1,2,3]", False),
        ("#SBATCH --gres=gpu:4", False),
        ("#SBATCH --gres=gpu:a100:4", True),
        ("GPU 0: NVIDIA L4 (UUID: GPU-1-2)", True),
        ("GPU available: True (cuda), used: False", True),
    ],
)
def test_hardware_is_known_once_it_has_a_name(tmp_path: Path, said: str, is_complete: bool) -> None:
    found = gathered(tmp_path, said + "\n" + STEPS).facts[Topic.HARDWARE]
    assert found.is_complete is is_complete


def test_what_is_offloaded_to_the_cpu_does_not_make_it_the_hardware(tmp_path: Path) -> None:
    config: dict[str, object] = {"zero": {"offload_optimizer": {"device": "cpu"}}}
    assert fact(tmp_path, Topic.HARDWARE, "hello", config) == ""
    assert fact(tmp_path, Topic.HARDWARE, "hello", {"device": "cpu"}) == "CPU only"


def test_a_commit_is_only_half_an_answer(tmp_path: Path) -> None:
    found = gathered(tmp_path, "git commit 3f2a9c1b7d\n" + STEPS).facts[Topic.REVISION]
    assert found.value == "commit 3f2a9c1b7d"
    assert not found.is_complete


def test_settings_on_one_line_are_settings(tmp_path: Path) -> None:
    log = "2026-11-14 08:00:00 INFO config: batch_size=64 lr=6e-4 seed=1337 optimizer=adamw\n"
    found = gathered(tmp_path, log + STEPS)
    assert found.seen.settings == 4
    assert found.facts[Topic.SEEDS].evidence[0].ref == "config:seed"
    assert [metric.name for metric in found.seen.metrics] == ["loss"]


def test_hardware_is_read_from_the_config(tmp_path: Path) -> None:
    config: dict[str, object] = {"gpu": "NVIDIA A10G", "gpu_count": 4, "trainer": {"num_nodes": 2}}
    value = fact(tmp_path, Topic.HARDWARE, "hello", config)
    assert value == "NVIDIA A10G; 4 GPUs; 2 nodes"


def test_an_out_of_memory_message_tells_how_much_there_was(tmp_path: Path) -> None:
    log = STEPS + (
        "Traceback (most recent call last):\n"
        '  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py", line 9, in f\n'
        "    return forward()\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
        "capacity of 79.10 GiB of which 1.20 GiB is free.\n"
    )
    found = gathered(tmp_path, log).facts
    assert found[Topic.HARDWARE].value == "GPU with 79.10 GiB"
    assert found[Topic.HARDWARE].evidence[0].ref == "train.log:24"
    assert found[Topic.FRAMEWORK].value == "python 3.11; torch (version not logged)"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Running pytorch 2.5.1+cu124 compiled for CUDA 12.4", "torch 2.5.1+cu124; cuda 12.4"),
        ("PyTorch: 1.13.1\nPython: 3.9.16 (main)\nMMCV: 1.7.0", "torch 1.13.1; mmcv 1.7.0; "
         "python 3.9.16"),
        ("PyTorch version: 2.1.0", "torch 2.1.0"),
        ("torch==2.3.0\nnumpy==1.26.4\ntransformers==4.41.2", "torch 2.3.0; transformers 4.41.2"),
        ("[INFO] [logging.py:60:log_dist] [Rank 0] DeepSpeed info: version=0.14.2, git-hash=x",
         "deepspeed 0.14.2"),
        ("[rank0]:NCCL version 2.20.5+cuda12.4", "nccl 2.20.5+cuda12.4"),
        ("PyTorch                 1.9.0+cu111 @/opt/conda/lib/torch", "torch 1.9.0+cu111"),
        ("YOLOv8.0.20 Python-3.10.9 torch-2.0.0 CUDA:0 (Tesla T4, 15110MiB)",
         "torch 2.0.0; python 3.10.9"),
        ("/env/lib/python3.12/site-packages/jax/_src/api.py:9: UserWarning: x",
         "python 3.12; jax (version not logged)"),
    ],
)  # fmt: skip
def test_versions_are_read_where_a_program_states_them(
    tmp_path: Path, said: str, value: str
) -> None:
    assert fact(tmp_path, Topic.FRAMEWORK, said) == value


@pytest.mark.parametrize(
    "said",
    [
        "DeprecationWarning: deprecated in PyTorch version 1.9",
        "this example requires torch version 2.1",
        "torch>=1.10 is needed",
        "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4  |",
        "loss was 2.5 before torch 1 epoch",
    ],
)
def test_a_sentence_about_versions_is_no_version(tmp_path: Path, said: str) -> None:
    assert fact(tmp_path, Topic.FRAMEWORK, said) == ""


def test_versions_are_read_from_the_config(tmp_path: Path) -> None:
    config: dict[str, object] = {"transformers_version": "4.46.1", "python": "3.11.4"}
    value = fact(tmp_path, Topic.FRAMEWORK, "hello", config)
    assert value == "transformers 4.46.1; python 3.11.4"


@pytest.mark.parametrize(
    ("said", "config", "value"),
    [
        ("x", {"data_path": "/data/c4"}, "data_path: /data/c4"),
        ("x", {"data": {"train_files": ["a.json", "b.json", "c.json"]}},
         "train_files: a.json, b.json and 1 more"),
        ("x", {"dataset": None, "data_dir": ""}, ""),
        ("x", {"dataset": {"type": "CocoDataset"}}, ""),
        ("INFO - Loading dataset alpaca_en.json...", {}, "dataset alpaca_en.json"),
        ("Preparing c4_mini dataset from assets/c4", {}, "c4_mini dataset from assets/c4"),
        ("+ DATA_PATH=/gpfs/openwebtext/text", {}, "data_path: /gpfs/openwebtext/text"),
        ("***** Running training *****\n  Num examples = 1,000", {}, "1,000 examples"),
        ("Using the dataset for training", {}, ""),
        ("Using a dataset cached earlier", {}, ""),
        ("    dataset = load_dataset(name)", {}, ""),
    ],
)  # fmt: skip
def test_data_is_named_by_settings_or_by_what_is_loaded(
    tmp_path: Path, said: str, config: dict[str, object], value: str
) -> None:
    assert fact(tmp_path, Topic.DATA, said, config) == value


@pytest.mark.parametrize(
    ("said", "config", "value"),
    [
        ("git commit: 4f1c2ab9", {}, "commit 4f1c2ab9"),
        ("**** Git info for Megatron: git_hash=0a1b2c3 git_branch=main ****", {}, "commit 0a1b2c3"),
        ("commit 0123456789abcdef0123456789abcdef01234567", {},
         "commit 0123456789abcdef0123456789abcdef01234567"),
        ("Git SHA: 4f1c2ab-dirty", {}, "commit 4f1c2ab with uncommitted changes"),
        ("x", {"git": {"commit": "4f1c2abd00"}}, "commit 4f1c2abd00"),
        ("x", {"git_sha": "4F1C2AB"}, "commit 4f1c2ab"),
        ("x", {"commit": "initial"}, ""),
        ("- Intel(R) MKL-DNN v2.7.3 (Git Hash 6dbeffbae1f23cbbeae17adb7b5b13f1f37c080e)", {}, ""),
        ("DeepSpeed info: version=0.3.17, git-hash=abc1234, git-branch=x", {}, ""),
        ("commit: 20240101", {}, ""),
    ],
)  # fmt: skip
def test_the_revision_is_a_commit_of_the_code_that_ran(
    tmp_path: Path, said: str, config: dict[str, object], value: str
) -> None:
    assert fact(tmp_path, Topic.REVISION, said, config) == value


@pytest.mark.parametrize(
    ("said", "config", "value"),
    [
        ("Global seed set to 42", {}, "seed = 42"),
        ("[rank: 0] Seed set to 7", {}, "seed = 7"),
        ("> setting random seeds to 1234 ...", {}, "seed = 1234"),
        ("Using seed = 8059502", {}, "seed = 8059502"),
        ("+ SEED=30947", {}, "seed = 30947"),
        ("x", {"seed": 0, "data_seed": 5}, "seed = 0; data_seed = 5"),
        ("x", {"seed": None, "no_seed_provided": False, "seed_layers": 3}, ""),
        ("x", {"seed": -1}, ""),
        ("we seed 5 trees", {}, ""),
    ],
)
def test_seeds_are_numbers_that_seed_something(
    tmp_path: Path, said: str, config: dict[str, object], value: str
) -> None:
    assert fact(tmp_path, Topic.SEEDS, said, config) == value


@pytest.mark.parametrize(
    ("config", "value"),
    [
        ({"target_accuracy": 0.749}, "target_accuracy = 0.749"),
        ({"max_steps": 10000, "metric_for_best_model": "val_loss"},
         "no target stated; best model by val_loss; 10,000 steps planned"),
        ({"early_stopping_patience": 5},
         "no target stated; early stopping after 5 without improvement"),
        ({"target_modules": 8, "target_kl": 0.1, "target_length": 3}, ""),
        ({"scheduler": {"warmup_num_steps": 8}}, ""),
    ],
)  # fmt: skip
def test_a_planned_length_is_not_a_target(
    tmp_path: Path, config: dict[str, object], value: str
) -> None:
    assert fact(tmp_path, Topic.TARGETS, "hello", config) == value


def test_a_setting_is_quoted_with_its_key(tmp_path: Path) -> None:
    found = gathered(tmp_path, STEPS, {"model": {"seed": 3}}).facts[Topic.SEEDS]
    assert found.source == "config"
    assert [(e.kind, e.ref, e.quote) for e in found.evidence] == [
        (RefKind.CONFIG, "config:model.seed", "3")
    ]
    assert found.is_prefilled
