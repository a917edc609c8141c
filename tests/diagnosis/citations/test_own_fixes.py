"""The analyzers' own fixes are ordinary advice: all that are no commands may be copied."""

from __future__ import annotations

import re

import pytest

from mltd.analyzers.core.case import Case
from mltd.analyzers.core.registry import registry
from mltd.analyzers.errors.book import by_rule
from mltd.diagnosis.citations import dangers_of_text
from tests.analyzers.made import falling, view_of

CONFIG: dict[str, object] = {
    "optimizer": {"lr": 0.1, "weight_decay": 0.1, "name": "adam"},
    "batch_size": 32, "gradient_accumulation_steps": 2, "num_workers": 8, "dropout": 0.1,
    "warmup_steps": 100, "max_grad_norm": 0, "activation": "relu", "seed": 1, "hidden_size": 256,
    "precision": "fp16", "init_std": 2.0,
}  # fmt: skip
FILLED = {"place": "train.py:88", "file": "/data/x.pt", "s_lr": "lr 0.1", "size": "512"}

STARTING = (
    "CUDA_", "HF_HOME=", "NCCL_", "PYTORCH_CUDA_ALLOC_CONF=", "bash ", "compute-sanitizer ", "cp ",
    "dcgmi ", "gcloud ", "diff ", "docker ", "export REQUESTS_CA_BUNDLE", "find ", "git ",
    "huggingface-cli ", "py-spy ",
    "ldd ", "ls ", "module ", "mltd-tui ", "nvidia-smi ", "p=/", "pip ", "python ", "rsync ",
    "sacct ", "sbatch ", "scontrol ", "set -", "source ", "srun ", "ulimit ", "wandb ", "wget ",
    "./out/", "ps ", "env ", "du ", "df ", "lsof ", "cat ", "grep ", "tail ", "head ", "sinfo ",
)  # fmt: skip
"""Commands."""
WRITING = {
    "#SBATCH --signal=USR1@300 --requeue\nsignal.signal(signal.SIGUSR1, lambda *_: "
    "trainer.request_save())",
    "#SBATCH --requeue --open-mode=append --signal=TERM@120\nsignal.signal(signal.SIGTERM, "
    "lambda *_: trainer.request_save())",
    "dataset.map(tokenize, num_proc=8).save_to_disk(path)",
    "torch.save(state, path + '.part'); os.replace(path + '.part', path)",
    "torch.save(state, tmp); os.replace(tmp, path)",
    "torch.save(model.module.state_dict(), path)",
    "torch.save({'model': model.state_dict(), 'step': step}, path)",
    "torch.save({'model': m.state_dict(), 'optimizer': o.state_dict(), 'scheduler': "
    "s.state_dict(), 'scaler': a.state_dict(), 'step': step}, path)",
    "torch.cuda.memory._record_memory_history(); _dump_snapshot('step500.pickle')",
    "if time.monotonic() - last_save > 1800: save_checkpoint()",
    "keep only the best and the last two checkpoints",
    "Path(output_dir).mkdir(parents=True, exist_ok=True)",
    "save_total_limit: 3  # or ModelCheckpoint(save_top_k=1, save_last=True)",
}
"""They write, or let older checkpoints be deleted."""
RUNNING = {
    "joblib.load('preprocess.joblib').transform(frame)[columns]",
    "torch.serialization.add_safe_globals([TheClass])   # or torch.load(path, weights_only=False)",
    "start it the way it expects (python -m package.module), in the environment that has its "
    "packages",
    "export WANDB_MODE=offline; sbatch --dependency=afterany:JOB sync.sh",
    "export NCCL_SOCKET_IFNAME=ib0 GLOO_SOCKET_IFNAME=ib0 MASTER_ADDR=$(scontrol show hostnames "
    "$SLURM_JOB_NODELIST | head -n1)",
    "--nproc_per_node=$(nvidia-smi -L | wc -l)   # CPU only: map_location='cpu'",
    "#SBATCH --gres=gpu:1   # srun nvidia-smi; echo $CUDA_VISIBLE_DEVICES",
    "export WANDB_MODE=offline   # later: wandb sync wandb/offline-run-*",
    "# install a torch wheel built for that CUDA version, then: python -c 'import torch; "
    "print(torch.version.cuda)'",
}
"""They hold a command beside something else, or run what a file holds."""


def own_fixes() -> list[str]:
    found: dict[str, None] = {}
    for config in (CONFIG, {}):
        series = {"train/loss": falling(5, 1, 300), "grad_norm": falling(5, 1, 300)}
        case = Case(view_of(series, config=config), ())
        for cause in registry().causes.values():
            for fix in cause.fixes(case):
                found |= dict.fromkeys((fix.change, fix.example))
    for entry in by_rule().values():
        for advice in entry.fixes:
            found |= dict.fromkeys(map(_filled, (advice.change, advice.example)))
    return [text for text in found if text]


def _filled(template: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: FILLED.get(name[1], "name"), template)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return own_fixes()


def test_own_fixes_may_be_copied_but_for_those_that_write_or_run(texts: list[str]) -> None:
    flagged = [text for text in texts if dangers_of_text(text)]
    named = WRITING | RUNNING
    assert [one for one in flagged if one not in named and not one.startswith(STARTING)] == []


def test_all_own_commands_are_flagged(texts: list[str]) -> None:
    assert len(texts) > 500
    is_command = re.compile(r"(?:\w+=\S* )?(?:python|srun|sbatch|pip|git|ls|docker|rsync|cp) -?\w")
    commands = [text for text in texts if is_command.match(text)]
    assert len(commands) > 30
    assert [text for text in commands if not dangers_of_text(text)] == []
