"""The mistakes, each with the answers about it that are right."""

from __future__ import annotations

from .crash import Crash

ROWS = """class Rows(Dataset):
    def __init__(self, tokens, labels):
        self.tokens, self.labels = tokens, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, row):
        if row == len(self) - 1:
            {mistake}
        return self.tokens[row], self.labels[row]
"""
WORKER = 'DataLoader(Rows(tokens, labels), cfg["batch_size"], num_workers=1)'
# The pause lets the other batches arrive, so that the loader itself meets the dead worker.
DIES = "import signal\n\n\n" + ROWS.format(
    mistake="time.sleep(1.0)\n            os.kill(os.getpid(), signal.SIGKILL)"
)
RAISES = ROWS.format(
    mistake="raise ValueError(f'sample {row}: cannot decode image: truncated header')"
)
SPREAD = """if len(labels) < 8:
    spread = logits[:1].std(0)
    loss = loss / (1 + spread.mean())
"""
ONE_SAMPLE = """if step == FAIL_AT:
    tokens, labels = tokens[:1], labels[:1]
"""
OTHER_SIZE = """old = Net(cfg['vocab_size'] + 8, cfg['width'], cfg['num_classes'])
torch.save(old.state_dict(), 'last.pt')
model.load_state_dict(torch.load('last.pt'))
"""
PREFIXED = """torch.save({'module.' + k: v for k, v in model.state_dict().items()}, 'last.pt')
model.load_state_dict(torch.load('last.pt'))
"""
TRUNCATED = """torch.save({'ema': torch.zeros(300_000), **model.state_dict()}, 'last.pt')
data = open('last.pt', 'rb').read()
open('last.pt', 'wb').write(data[: len(data) // 2])
model.load_state_dict(torch.load('last.pt'))
"""
LIMITED = """used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (400 << 20),) * 2)
kept = []
"""
IN_PLACE = """hidden = model.embed(tokens).sigmoid()
loss = loss + (hidden * hidden).mean()
if STEP_COUNT[0] == FAIL_AT:
    hidden.mul_(2)
STEP_COUNT[0] += 1
"""

CRASHES = (
    Crash(
        "index_out_of_range",
        ("index_out_of_range",),
        ("label_out_of_range", "code_bug", "bad_config", "bad_batch"),
        batch="if step == FAIL_AT:\n    tokens = tokens + 9",
        also=("exception", "config_mismatch"),
    ),
    Crash(
        "target_out_of_bounds",
        ("index_out_of_range",),
        ("label_out_of_range", "code_bug", "bad_config"),
        batch="if step == FAIL_AT:\n    labels = labels + cfg['num_classes']",
        also=("exception", "config_mismatch"),
    ),
    Crash(
        "shape_mismatch",
        ("shape_mismatch",),
        ("code_bug", "bad_config", "data_pipeline_change"),
        batch="if step == FAIL_AT:\n    model.body[0] = nn.Linear(cfg['width'] + 8, cfg['hidden'])",
    ),
    Crash(
        "batch_size_mismatch",
        ("shape_mismatch",),
        ("code_bug", "data_pipeline_change", "bad_batch"),
        batch="if step == FAIL_AT:\n    labels = labels[:-3]",
    ),
    Crash(
        "dtype_mismatch",
        ("dtype_mismatch",),
        ("code_bug", "bad_config"),
        batch="if step == FAIL_AT:\n    model.head.half()",
    ),
    Crash(
        "empty_data",
        ("empty_data",),
        ("empty_input", "bad_path", "bad_config"),
        config={"train_size": 0},
    ),
    Crash(
        "missing_file",
        ("missing_file",),
        ("bad_path", "bad_config"),
        before='lines = open(os.path.join(cfg["data_dir"], "train.txt")).read().splitlines()',
        config={"data_dir": "data/processed"},
    ),
    Crash(
        "checkpoint_missing",
        ("checkpoint_missing", "missing_file"),
        ("bad_path", "incompatible_checkpoint", "bad_config"),
        before='model.load_state_dict(torch.load(cfg["resume"]))',
        config={"resume": "checkpoints/last.pt"},
    ),
    Crash(
        "variance_of_one",
        ("degenerate_variance", "nan_loss"),
        ("batch_of_one", "zero_variance_head", "numerical_instability"),
        # The head takes the variance, the batch leaves it one element.
        done=("batch_of_one", "zero_variance_head"),
        inside=SPREAD,
        batch=ONE_SAMPLE,
        has_onset=True,
    ),
    Crash(
        "batch_norm_of_one",
        ("exception", "degenerate_variance", "shape_mismatch"),
        ("batch_of_one", "code_bug"),
        before='model.body[1] = nn.BatchNorm1d(cfg["hidden"])',
        batch=ONE_SAMPLE,
    ),
    Crash(
        "checkpoint_mismatch",
        ("checkpoint_mismatch",),
        ("incompatible_checkpoint", "bad_config"),
        before=OTHER_SIZE,
    ),
    Crash(
        "checkpoint_prefix",
        ("checkpoint_mismatch",),
        ("incompatible_checkpoint", "code_bug"),
        before=PREFIXED,
    ),
    Crash(
        "checkpoint_truncated",
        ("checkpoint_mismatch", "checkpoint_missing", "exception"),
        ("incompatible_checkpoint", "disk_quota", "hardware_fault"),
        before=TRUNCATED,
    ),
    Crash(
        "worker_killed",
        ("dataloader_worker_died",),
        ("host_memory_limit", "code_bug", "hardware_fault"),
        imports=DIES,
        loader=WORKER,
        also=("exception", "host_oom"),
    ),
    Crash(
        "worker_raises",
        ("dataloader_worker_died", "exception", "index_out_of_range", "missing_file"),
        ("code_bug", "bad_batch", "data_pipeline_change", "bad_path"),
        imports=RAISES,
        loader=WORKER,
    ),
    Crash(
        "host_memory",
        ("host_oom",),
        ("host_memory_limit", "memory_leak", "batch_too_large"),
        imports="import resource",
        before=LIMITED,
        batch="if step >= FAIL_AT:\n    kept.append(torch.empty(64 << 20, dtype=torch.uint8))",
    ),
    Crash(
        "config_key",
        ("config_error", "exception"),
        ("bad_config", "code_bug"),
        before='warmup = cfg["warmup_ratio"] * cfg["max_steps"]',
    ),
    Crash(
        "module_missing",
        ("environment_error",),
        ("incompatible_environment",),
        imports="from flash_kernels import fused_adam",
    ),
    Crash(
        "inplace_change",
        ("exception",),
        ("code_bug",),
        inside=IN_PLACE,
        imports="\nSTEP_COUNT = [0]",
    ),
    Crash(
        "division_by_zero",
        ("exception",),
        ("code_bug", "empty_input"),
        batch="if step == FAIL_AT:\n    done = step / (len(loader) - len(loader))",
    ),
    Crash("script_finishes", (), (), is_fault=False, also=()),
)
