"""The catalogue: complete, true and current."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from importlib.util import find_spec

import pytest

from mltd.analyzers import weights
from mltd.analyzers.catalogue.catalogue import CAUSE, FINDING, Entry, entries, pages, similar
from mltd.analyzers.catalogue.examples import example_run
from mltd.analyzers.catalogue.markdown import render_catalogue
from mltd.analyzers.catalogue.page import EXAMPLES, page_of, parse_page
from mltd.analyzers.catalogue.saved_weights import FAMILY as WEIGHTS
from mltd.analyzers.catalogue.saved_weights import HEAD, example_checkpoint
from mltd.analyzers.core.registry import registry
from mltd.analyzers.core.verdict import Diagnosis
from mltd.analyzers.diagnosis import diagnose
from mltd.analyzers.weights import Inspection, inspect_weights
from tests.conftest import ROOT

FINDINGS = [
    "nan_loss",
    "loss_divergence",
    "loss_spike",
    "oscillating_loss",
    "plateau",
    "slow_convergence",
    "not_learning",
    "overfitting",
    "underfitting",
    "forgetting",
    "suspicious_metric",
    "class_imbalance",
    "mode_collapse",
    "resume_discontinuity",
    "lr_anomaly",
    "exploding_gradients",
    "vanishing_gradients",
    "nan_gradients",
    "loss_scale_collapse",
    "dead_units",
    "frozen_layers",
    "degenerate_variance",
    "param_imbalance",
    "nan_weights",
    "cuda_oom",
    "host_oom",
    "memory_growth",
    "throughput_drop",
    "stall",
    "straggler",
    "dataloader_bound",
    "disk_full",
    "exception",
    "shape_mismatch",
    "dtype_mismatch",
    "device_mismatch",
    "index_out_of_range",
    "device_assert",
    "empty_data",
    "missing_file",
    "permission_denied",
    "checkpoint_missing",
    "checkpoint_mismatch",
    "config_error",
    "environment_error",
    "dataloader_worker_died",
    "ddp_unused_parameters",
    "network_error",
    "nccl_timeout",
    "rank_failure",
    "slurm_timeout",
    "slurm_preempted",
    "slurm_node_fail",
    "slurm_cancelled",
    "unsynced_wandb",
    "orchestration_error",
    "unseeded",
    "config_mismatch",
    "nondeterminism",
]
CAUSES = [
    "lr_too_high",
    "lr_too_low",
    "lr_schedule",
    "missing_grad_clipping",
    "poor_init",
    "saturating_activations",
    "dead_relu",
    "numerical_instability",
    "precision_overflow",
    "precision_underflow",
    "bad_batch",
    "unnormalized_inputs",
    "corrupt_labels",
    "data_pipeline_change",
    "distribution_shift",
    "class_imbalance",
    "data_leakage",
    "overcapacity",
    "undercapacity",
    "frozen_parameters",
    "missing_zero_grad",
    "wrong_loss",
    "stale_optimizer_state",
    "replayed_data",
    "embedding_heavy",
    "objective_collapse",
    "curriculum_transition",
    "sequential_training",
    "memory_leak",
    "batch_too_large",
    "fragmentation",
    "host_memory_limit",
    "dataloader_bottleneck",
    "deadlock",
    "communication_failure",
    "hardware_fault",
    "time_limit",
    "preemption",
    "node_failure",
    "disk_quota",
    "network_unreachable",
    "code_bug",
    "label_out_of_range",
    "empty_input",
    "bad_path",
    "incompatible_checkpoint",
    "bad_config",
    "incompatible_environment",
    "zero_variance_head",
    "batch_of_one",
    "seed_variance",
]
OURS = [entry for entry in entries() if entry.is_ours]
PAGES = pytest.mark.parametrize("entry", OURS, ids=lambda e: f"{e.kind}-{e.page.id}")
CLAIMS = [
    pytest.param(entry.page.id, heading, example, id=f"{entry.page.id}-{heading}-{number}")
    for entry in OURS
    for heading in EXAMPLES
    for number, example in enumerate(entry.page.sections.get(heading, []))
]
SIBLINGS_ONLY = {"nondeterminism"}
"""Findings that take several runs, so that no example of one run can show them."""


def test_every_finding_of_the_contract_is_there() -> None:
    assert set(FINDINGS) - set(registry().analyzers) == set()


def test_every_root_cause_of_the_contract_is_there() -> None:
    assert set(CAUSES) - set(registry().causes) == set()


@PAGES
def test_a_page_is_complete(entry: Entry) -> None:
    page = entry.page
    parts: dict[str, object] = dict(
        registry().analyzers if entry.kind == FINDING else registry().causes
    )
    wanted = {"Why it matters", "Try next"} if entry.kind == FINDING else {"Try next"}
    wanted |= {"What it sees"} if entry.kind == FINDING else {"What it is", "Told apart by"}
    assert {heading for heading in wanted if not any(page.sections.get(heading, []))} == set()
    assert page.summary.endswith(".")
    assert page.id not in parts or page_of(parts[page.id]) == page
    assert page.id in parts or entry.family == WEIGHTS
    if entry.kind == FINDING and page.id not in SIBLINGS_ONLY:
        assert page.fires_on
        assert page.stays_quiet


@PAGES
def test_a_page_belongs_to_one_module_named_like_it(entry: Entry) -> None:
    parts = registry().analyzers if entry.kind == FINDING else registry().causes
    if entry.family == WEIGHTS:
        assert find_spec(f"mltd.analyzers.{entry.family}.{entry.page.id}") is not None
        assert entry.page.id not in parts, "it has a page already"
        return
    module = type(parts[entry.page.id]).__module__
    assert module.endswith(f".{entry.family}.{entry.page.id}")


@pytest.mark.parametrize(("identity", "heading", "example"), CLAIMS)
def test_every_example_is_true(identity: str, heading: str, example: str) -> None:
    told: Diagnosis | Inspection
    if example.startswith(HEAD):
        told = inspect_weights(example_checkpoint(example))
    else:
        told = diagnose(example_run(example))
    assert told.problems == ()
    assert (identity in [finding.id for finding in told.findings]) is (heading == "Fires on")


def test_every_finding_about_weights_has_a_page_that_can_be_read() -> None:
    made = set()
    for found in pkgutil.iter_modules(weights.__path__, f"{weights.__name__}."):
        module = importlib.import_module(found.name)
        for call in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "Finding":
                (identity,) = [word.value for word in call.keywords if word.arg == "id"]
                made.add(str(eval(ast.unparse(identity), vars(module))))
    assert {"odd_weights", "nan_weights", "dead_units", "param_imbalance"} <= made
    for name in made:
        assert FINDING in {entry.kind for entry in pages(name)}, name


def test_causes_explain_findings_that_exist() -> None:
    known = set(FINDINGS) | set(registry().analyzers)
    for cause in registry().causes.values():
        assert set(cause.explains) <= known, cause.id


def test_every_finding_that_can_be_an_alarm_has_a_cause_that_may_explain_it() -> None:
    explained = {identity for cause in registry().causes.values() for identity in cause.explains}
    assert set(registry().analyzers) - explained - {"unseeded"} == set()


def test_the_document_is_current() -> None:
    written = (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")
    assert written == render_catalogue(), "run `make catalogue`"


def test_an_id_may_be_a_finding_and_a_root_cause() -> None:
    both = [identity for identity in FINDINGS if identity in CAUSES]
    for identity in both:
        assert {entry.kind for entry in pages(identity)} == {FINDING, CAUSE}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("loss-spike", "loss_spike"), ("los_spike", "loss_spike"), ("spike", "loss_spike")],
)
def test_what_was_meant_is_guessed(typed: str, meant: str) -> None:
    assert meant in similar(typed)


def test_nothing_is_guessed_for_something_else() -> None:
    assert similar("zzzzqqqq") == []


def test_a_docstring_becomes_a_page() -> None:
    page = parse_page(
        "x",
        "x: does things.\n\nWhat it sees: one\n    two\nFires on:\n    loss: 1\n        2\n"
        "    b: 3\nTry next: this.",
    )
    assert page.summary == "does things."
    assert page.sections["What it sees"] == ["one two"]
    assert page.fires_on == ["loss: 1 2", "b: 3"]
    assert page.stays_quiet == []
