"""The mistakes."""

from __future__ import annotations

from .crash import Crash

OUT_OF_RANGE = ("index_out_of_range",)
TWO_RANKS = 'torch.distributed.init_process_group("gloo")'
RAGGED = """\
self.seen += 1
        if i == 2718 and self.seen > 5000:
            return self.x[i, :-1], self.y[i]"""
FULL_DISK = """\
with open(path, "wb") as f:
        f.write(b"".join(t.numpy().tobytes() for t in model.state_dict().values()))
        f.flush()"""
OTHER_SIZE = """\
save(model, opt, step, "last.pt")
        if epoch == 1:
            model = Net(64, 32, 8)
            model.load_state_dict(torch.load("last.pt")["model"])"""
PREFIXED = """\
torch.save({"module." + k: v for k, v in model.state_dict().items()}, "pre.pt")
    model.load_state_dict(torch.load("pre.pt"))"""
NO_KEY = """\
best = json.loads(json.dumps({"loss": loss}))["val_loss"] if step > 250 else None"""
EMPTIED = """\
held.x, held.y = (held.x[:0], held.y[:0]) if step > 200 else (held.x, held.y)"""
DOUBLED = """\
if step == 250:
                    model.double(); model.head.float()"""
TRUNCATED = """\
if i == 2718:
            raise ValueError(f"could not decode record {i}: truncated payload")"""
WRONG_SHARD = """\
if rank == 1 and step == 160: rows.y = torch.load("/data/shards/part_0007.pt")"""

MISTAKES = (
    Crash(
        "crash_of_a_token",
        "plain",
        {"EPOCH": "rows.x[2300 + epoch, 3] = 64"},
        OUT_OF_RANGE,
        ("label_out_of_range", "code_bug"),
    ),
    Crash(
        "crash_of_a_label",
        "dict",
        {"EPOCH": "rows.y[1900:1903] = 8"},
        OUT_OF_RANGE,
        ("label_out_of_range",),
    ),
    Crash(
        "crash_of_a_ragged_batch",
        "plain",
        {"DATASET": "self.seen = 0", "ITEM": RAGGED},
        ("shape_mismatch",),
        ("code_bug", "data_pipeline_change"),
    ),
    Crash(
        "crash_without_a_shard",
        "json",
        {"EPOCH": 'rows.x = torch.load(f"data/shard_{epoch + 1:03d}.pt")'},
        ("missing_file",),
        ("bad_path",),
    ),
    Crash(
        "crash_on_a_full_disk",
        "plain",
        {
            "EPOCH": 'if epoch == 1:\n            save(model, opt, step, "/dev/full")',
            "SAVE": FULL_DISK,
        },
        ("disk_full",),
        ("disk_quota",),
    ),
    Crash(
        "crash_of_a_checkpoint",
        "short",
        {"EPOCH": OTHER_SIZE},
        ("checkpoint_mismatch",),
        ("incompatible_checkpoint",),
        also=("shape_mismatch",),
    ),
    Crash(
        "crash_of_a_checkpoint",
        "plain",
        {"PREPARE": PREFIXED},
        ("checkpoint_mismatch",),
        ("incompatible_checkpoint",),
    ),
    Crash("crash_of_a_key", "dict", {"EVAL": NO_KEY}, ("exception",), ("code_bug",)),
    Crash(
        "crash_of_an_empty_set",
        "plain",
        {"EVAL": EMPTIED},
        ("exception", "empty_data"),
        ("empty_input", "code_bug"),
        done=("empty_input", "code_bug"),
    ),
    Crash("crash_of_a_dtype", "json", {"EVAL": DOUBLED}, ("dtype_mismatch",), ("code_bug",)),
    Crash(
        "crash_of_a_worker",
        "short",
        {"ITEM": TRUNCATED},
        ("exception",),
        ("code_bug", "bad_batch"),
        done=("code_bug", "bad_batch"),
        also=("dataloader_worker_died",),
        workers=2,
    ),
    Crash(
        "crash_of_a_shape",
        "plain",
        {"STEP": "if step > 330: x = x.float() @ torch.ones(16, 4)"},
        ("shape_mismatch",),
        ("code_bug",),
    ),
    Crash(
        "crash_of_a_rank",
        "plain",
        {"INIT": TWO_RANKS, "STEP": "if rank == 1 and step == 210: x = x + 64"},
        ("rank_failure", "index_out_of_range"),
        ("label_out_of_range", "code_bug"),
        ranks=2,
    ),
    Crash(
        "crash_of_a_rank",
        "plain",
        {"INIT": TWO_RANKS, "STEP": WRONG_SHARD},
        ("rank_failure", "missing_file"),
        ("bad_path",),
        ranks=2,
    ),
)
