"""Whole training scripts with one mistake each, run by a real interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field

REPORTS = {
    "plain": """
def report(step, **values):
    print(f"step {step:5d} | " + " | ".join(f"{k} {v:.4f}" for k, v in values.items()), flush=True)
""",
    "jsonl": """
metrics = open("metrics.jsonl", "w")
def report(step, **values):
    metrics.write(json.dumps({"step": step, **values}) + "\\n")
    metrics.flush()
""",
    "slurm": """
def report(step, **values):
    print(f"[rank0]: {time.strftime('%H:%M:%S')} iter {step}/{cfg['max_steps']} " + " ".join(f"{k}: {v:.5f}" for k, v in values.items()), flush=True)
""",
}

BASE = """import json
import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
{imports}
torch.set_num_threads(1)
cfg = json.load(open("config.json"))
torch.manual_seed(cfg["seed"])
{report}

class Net(nn.Module):
    def __init__(self, vocab, width, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.body = nn.Sequential(nn.Linear(width, {wide}), nn.ReLU(), nn.Linear({wide}, width), nn.ReLU())
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens).mean(1)))


def make_data(count):
    tokens = torch.randint(0, cfg["vocab_size"], (count, 12))
    labels = (tokens.float().mean(1) * cfg["num_classes"] / cfg["vocab_size"]).long()
    return tokens, labels.clamp(0, cfg["num_classes"] - 1)


def train_step(model, optimizer, tokens, labels):
    optimizer.zero_grad()
    logits = model(tokens)
    loss = nn.functional.cross_entropy(logits, labels)
{inside}
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    model = Net(cfg["vocab_size"], cfg["width"], cfg["num_classes"])
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["learning_rate"])
    tokens, labels = make_data(cfg["train_size"])
{before}
    loader = {loader}
    print("starting training", flush=True)
    step = 0
    while step < cfg["max_steps"]:
        for tokens, labels in loader:
{batch}
            loss = train_step(model, optimizer, tokens, labels)
            if step % cfg["log_every"] == 0:
                report(step, loss=loss, lr=cfg["learning_rate"])
            step += 1
            if step >= cfg["max_steps"]:
                break
{after}
    print("training finished")


if __name__ == "__main__":
    main()
"""

LOADER = 'DataLoader(TensorDataset(tokens, labels), cfg["batch_size"], shuffle=True)'


@dataclass(frozen=True)
class Crash:
    """A script's mistake and which answers about it are right."""

    id: str
    findings: tuple[str, ...]
    causes: tuple[str, ...]
    imports: str = ""
    inside: str = ""
    before: str = ""
    batch: str = ""
    after: str = ""
    loader: str = LOADER
    wide: str = 'cfg["hidden"]'
    config: dict[str, object] = field(default_factory=dict)
    has_onset: bool = False
    """It strikes at `fail_at`, and a series shows it."""
    is_fault: bool = True

    def source(self, style: str, fail_at: int) -> str:
        """The script."""
        parts = {
            "imports": self.imports,
            "report": REPORTS[style],
            "inside": _indent(self.inside, 4),
            "before": _indent(self.before, 4),
            "batch": _indent(self.batch, 12),
            "after": _indent(self.after, 4),
            "loader": self.loader,
            "wide": self.wide,
        }
        text = BASE
        for name, part in parts.items():
            text = text.replace("{" + name + "}", part)
        lines = [line for line in text.replace("FAIL_AT", str(fail_at)).splitlines()]
        return "\n".join(line for line in lines if line.strip() or not line) + "\n"


def _indent(text: str, columns: int) -> str:
    return "\n".join(" " * columns + line for line in text.strip("\n").splitlines())


CRASHES = (
    Crash("index_out_of_range", ("index_out_of_range",), ("label_out_of_range", "code_bug", "bad_config", "bad_batch"),
          batch="if step == FAIL_AT:\n    tokens = tokens + 9"),
    Crash("target_out_of_bounds", ("index_out_of_range",), ("label_out_of_range", "code_bug", "bad_config"),
          batch="if step == FAIL_AT:\n    labels = labels + cfg['num_classes']"),
    Crash("shape_mismatch", ("shape_mismatch",), ("code_bug", "bad_config", "data_pipeline_change"),
          batch="if step == FAIL_AT:\n    model.body[0] = nn.Linear(cfg['width'] + 8, cfg['hidden'])"),
    Crash("batch_size_mismatch", ("shape_mismatch",), ("code_bug", "data_pipeline_change", "bad_batch"),
          batch="if step == FAIL_AT:\n    labels = labels[:-3]"),
    Crash("dtype_mismatch", ("dtype_mismatch",), ("code_bug", "bad_config"),
          batch="if step == FAIL_AT:\n    model.head.half()"),
    Crash("empty_data", ("empty_data",), ("empty_input", "bad_path", "bad_config"), config={"train_size": 0}),
    Crash("missing_file", ("missing_file",), ("bad_path", "bad_config"),
          before='tokens = torch.load(os.path.join(cfg["data_dir"], "train_tokens.pt"))', config={"data_dir": "data/processed"}),
    Crash("checkpoint_missing", ("checkpoint_missing", "missing_file"), ("bad_path", "incompatible_checkpoint", "bad_config"),
          before='model.load_state_dict(torch.load(cfg["resume"]))', config={"resume": "checkpoints/last.pt"}),
    Crash("variance_of_one", ("degenerate_variance", "nan_loss"), ("batch_of_one", "zero_variance_head", "numerical_instability"),
          inside="if len(labels) < 8:\n    spread = logits[:1].std(0)\n    loss = loss / (1 + spread.mean())",
          batch="if step == FAIL_AT:\n    tokens, labels = tokens[:1], labels[:1]", has_onset=True),
    Crash("batch_norm_of_one", ("exception", "degenerate_variance", "shape_mismatch"), ("batch_of_one", "code_bug"),
          before='model.body[1] = nn.BatchNorm1d(cfg["hidden"])',
          batch="if step == FAIL_AT:\n    tokens, labels = tokens[:1], labels[:1]"),
    Crash("checkpoint_mismatch", ("checkpoint_mismatch",), ("incompatible_checkpoint", "bad_config"),
          before="old = Net(cfg['vocab_size'] + 8, cfg['width'], cfg['num_classes'])\ntorch.save(old.state_dict(), 'last.pt')\nmodel.load_state_dict(torch.load('last.pt'))"),
    Crash("checkpoint_prefix", ("checkpoint_mismatch",), ("incompatible_checkpoint", "code_bug"),
          before="torch.save({'module.' + k: v for k, v in model.state_dict().items()}, 'last.pt')\nmodel.load_state_dict(torch.load('last.pt'))"),
    Crash("checkpoint_truncated", ("checkpoint_mismatch", "checkpoint_missing", "exception"), ("incompatible_checkpoint", "disk_quota", "hardware_fault"),
          before="torch.save(model.state_dict(), 'last.pt')\ndata = open('last.pt', 'rb').read()\nopen('last.pt', 'wb').write(data[:-300])\nmodel.load_state_dict(torch.load('last.pt'))"),
    Crash("worker_killed", ("dataloader_worker_died",), ("host_memory_limit", "code_bug", "hardware_fault"),
          imports="import signal\n\n\nclass Rows(Dataset):\n    def __init__(self, tokens, labels):\n        self.tokens, self.labels = tokens, labels\n\n    def __len__(self):\n        return len(self.labels)\n\n    def __getitem__(self, row):\n        if row == len(self) - 1:\n            time.sleep(1.0)\n            os.kill(os.getpid(), signal.SIGKILL)\n        return self.tokens[row], self.labels[row]\n",
          loader='DataLoader(Rows(tokens, labels), cfg["batch_size"], num_workers=1)'),
    Crash("worker_raises", ("dataloader_worker_died", "exception", "index_out_of_range", "missing_file"), ("code_bug", "bad_batch", "data_pipeline_change", "bad_path"),
          imports="class Rows(Dataset):\n    def __init__(self, tokens, labels):\n        self.tokens, self.labels = tokens, labels\n\n    def __len__(self):\n        return len(self.labels)\n\n    def __getitem__(self, row):\n        if row == len(self) - 1:\n            raise ValueError(f'sample {row}: cannot decode image: truncated header')\n        return self.tokens[row], self.labels[row]\n",
          loader='DataLoader(Rows(tokens, labels), cfg["batch_size"], num_workers=1)'),
    Crash("host_memory", ("host_oom",), ("host_memory_limit", "memory_leak", "batch_too_large"), imports="import resource",
          before="used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\nresource.setrlimit(resource.RLIMIT_AS, (used + (400 << 20),) * 2)\nkept = []",
          batch="if step >= FAIL_AT:\n    kept.append(torch.empty(64 << 20, dtype=torch.uint8))"),
    Crash("config_key", ("config_error", "exception"), ("bad_config", "code_bug"), before='warmup = cfg["warmup_ratio"] * cfg["max_steps"]'),
    Crash("module_missing", ("environment_error",), ("incompatible_environment",), imports="from flash_kernels import fused_adam"),
    Crash("inplace_change", ("exception",), ("code_bug",),
          inside="hidden = model.embed(tokens).sigmoid()\nloss = loss + (hidden * hidden).mean()\nif STEP_COUNT[0] == FAIL_AT:\n    hidden.mul_(2)\nSTEP_COUNT[0] += 1",
          imports="\nSTEP_COUNT = [0]"),
    Crash("division_by_zero", ("exception",), ("code_bug", "empty_input"), batch="if step == FAIL_AT:\n    done = step / (len(loader) - len(loader))"),
    Crash("script_finishes", (), (), is_fault=False),
)
