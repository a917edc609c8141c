"""Real failures: the right finding, an acceptable cause, and the first line as evidence."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from mltd.analyzers.core.finding import Finding
from mltd.analyzers.diagnosis import diagnose
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run
from tests.runs.formats.corpus import corpus_directory, corpus_entries
from tests.runs.test_corpus import read_entry

ACCEPTABLE: dict[str, tuple[set[str], set[str]]] = {
    "device_side_assert": ({"device_assert"}, {"label_out_of_range"}),
    "nan_loss": ({"nan_loss"}, {"lr_too_high", "numerical_instability", "bad_batch"}),
    "amp_anomaly": ({"environment_error"}, {"incompatible_environment", "precision_overflow"}),
    "fp16_overflow": (
        {"loss_scale_collapse"},
        {"precision_overflow", "lr_too_high", "numerical_instability"},
    ),
    "nccl_timeout": ({"nccl_timeout"}, {"deadlock", "communication_failure"}),
    "dataloader_shm": (
        {"dataloader_worker_died"},
        {"host_memory_limit", "incompatible_environment"},
    ),
    "host_oom_kill": ({"host_oom"}, {"host_memory_limit", "memory_leak"}),
    "host_oom": ({"host_oom"}, {"host_memory_limit", "memory_leak"}),
    "cuda_oom": ({"cuda_oom"}, {"batch_too_large", "fragmentation", "device_shared"}),
    "disk_full": ({"disk_full"}, {"disk_quota"}),
    "disk_quota": ({"disk_full"}, {"disk_quota"}),
    "shm_or_disk_full": ({"disk_full"}, {"disk_quota", "host_memory_limit"}),
    "embedding_index_out_of_range": ({"index_out_of_range"}, {"label_out_of_range", "code_bug"}),
    "ddp_unused_parameters": ({"ddp_unused_parameters"}, {"code_bug"}),
    "state_dict_mismatch": ({"checkpoint_mismatch"}, {"incompatible_checkpoint"}),
    "slurm_time_limit": ({"slurm_timeout"}, {"time_limit"}),
    "network_wandb": ({"network_error"}, {"network_unreachable"}),
    "nan_std_single_sample": ({"degenerate_variance", "exception"}, {"batch_of_one", "code_bug"}),
    "var_dof_warning": ({"degenerate_variance"}, {"batch_of_one", "zero_variance_head"}),
    "lr_scheduler_order_warning": ({"lr_anomaly"}, set()),
    "oscillating_loss_unshuffled": ({"oscillating_loss"}, set()),
    "loss_stuck_saturated": ({"nan_loss", "not_learning", "loss_divergence", "plateau"}, set()),
    "device_mismatch": ({"device_mismatch"}, {"code_bug"}),
    "dtype_mismatch": ({"dtype_mismatch"}, {"code_bug"}),
    "shape_mismatch": ({"shape_mismatch"}, {"code_bug"}),
    "import_version_mismatch": ({"environment_error"}, {"incompatible_environment"}),
    "data_file_missing": ({"missing_file"}, {"bad_path"}),
    "permission_denied": ({"permission_denied"}, {"bad_path", "bad_config"}),
    "no_grad_fn": ({"frozen_layers", "exception"}, {"code_bug", "frozen_parameters"}),
}
"""Class of a failure to the findings and the causes that are right for it."""
BENIGN = {"lr_scheduler_order_warning"}
"""What the threads agree to ignore: no alarm, a remark at most."""
NOT_IN_THE_TEXT = {"oscillating_loss_unshuffled"}
"""The excerpt holds no curve, so nothing can be seen but that there is no alarm."""
FIRST_LINES = {
    "dev-001": "Assertion `t >= 0",
    "dev-002": "Assertion `t >= 0",
    "dev-016": "Unexpected bus error",
    "dev-017": "Unexpected bus error",
    "dev-018": "oom_kill",
    "dev-019": "oom-kill",
    "dev-036": "DUE TO TIME LIMIT",
    "dev-037": "wandb: ",
}
"""The line that speaks of the first cause where it is not the exception's own."""
ALSO_OURS = {
    "cuda_illegal_memory_access": {"device_assert"},
    "device_mismatch": {"device_mismatch"},
    "encoding_error": {"environment_error"},
    "type_error": {"exception"},
    "data_file_missing": {"missing_file"},
    "network_error": {"network_error"},
    "import_error": {"environment_error"},
    "attribute_error_config": {"exception", "config_error"},
    "name_error": {"exception"},
}
"""Classes of the logs' own truth that messages tell."""


def failures() -> list[Any]:
    place = corpus_directory()
    if place is None or not (place / "failures.jsonl").is_file():
        skip = pytest.mark.skip(reason="no corpus of training logs (set MLTD_CORPUS)")
        return [pytest.param(None, marks=skip, id="absent")]
    with (place / "failures.jsonl").open(encoding="utf-8") as listed:
        entries = [json.loads(line) for line in listed]
    return [pytest.param(one, id=f"{one['id']}-{one['failure_class']}") for one in entries]


@pytest.mark.parametrize("entry", failures())
def test_a_real_failure_is_recognised(entry: dict[str, Any]) -> None:
    run = Run(entry["id"])
    run.is_over = True
    read_stream(run, "excerpt.log", iter([entry["excerpt"].encode()]))
    found = diagnose(run)
    assert found.problems == ()
    kind = entry["failure_class"]
    findings, causes = ACCEPTABLE[kind]
    ids = [one.id for one in found.findings]
    if kind in BENIGN | NOT_IN_THE_TEXT:
        assert not found.has_alarm, ids
        return
    right = [one for one in found.findings if one.id in findings]
    assert right, ids
    if entry["confirmed_root_cause"] and causes:
        top = [one.id for one in found.root_causes[:3]]
        assert causes & set(top), top
        best = next(one for one in found.root_causes if one.id in causes)
        assert best.fixes
    _check_place(entry, right)


def _check_place(entry: dict[str, Any], right: list[Finding]) -> None:
    """One of the right findings points to the line that says it."""
    lines = entry["excerpt"].splitlines()
    placed = [one.evidence[0] for one in right if one.evidence[0].ref.startswith("excerpt.log:")]
    for evidence in placed:
        number = int(evidence.ref.rpartition(":")[2])
        words = " ".join(lines[number - 1].split())
        quote = " ".join(evidence.quote.split())
        assert quote[:40] in words or words[:40] in quote, (quote, words)
    if wanted := FIRST_LINES.get(entry["id"]):
        assert any(wanted in one.quote for one in placed), placed


@pytest.mark.parametrize("entry", corpus_entries())
def test_failures_that_logs_report_are_found(entry: dict[str, Any]) -> None:
    failed = [one for one in entry["truth"]["failures"] if one["class"] in ALSO_OURS]
    if not failed:
        return
    run = read_entry(entry)
    run.is_over = True
    found = diagnose(run)
    ids = {one.id for one in found.findings}
    for one in failed:
        assert ALSO_OURS[one["class"]] & ids, (one["class"], ids)


def test_a_failure_is_the_same_in_pieces() -> None:
    text = "step 1 loss 2\nTraceback (most recent call last):\n"
    text += '  File "a.py", line 3, in <module>\n'
    text += "    f(x)\nRuntimeError: Found dtype Long but expected Float\n"
    whole, pieces = Run("whole"), Run("pieces")
    read_stream(whole, "x.log", iter([text.encode()]))
    read_stream(pieces, "x.log", iter(re.findall(rb"(?s).{1,7}", text.encode())))
    assert diagnose(whole).findings == diagnose(pieces).findings
