"""A variance over one element: dead run, warning, or only a line in a report."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import Diagnosis, diagnose
from mltd.runs.ingest import read_stream
from tests.analyzers.made import read_log

WARNING = (
    "/home/me/train.py:56: UserWarning: {what}(): degrees of freedom is <= 0. Correction should be "
    "strictly less than the reduction factor (input numel divided by output numel). (Triggered "
    "internally at ReduceOps.cpp:1861.)\n  {code}\n"
)
STEPS = "".join(f"step {step} loss {2 - 0.01 * step:.3f}\n" for step in range(1, 21))


def judged(log: str, config: dict[str, object] | None = None) -> tuple[Finding, Diagnosis]:
    run = read_log(log)
    run.add_config(config or {})
    told = diagnose(run)
    assert told.problems == ()
    (finding,) = [f for f in told.findings if f.id == "degenerate_variance"]
    return finding, told


def test_a_nan_right_after_it_is_critical_and_points_to_both() -> None:
    log = STEPS + WARNING.format(what="var", code="penalty = halting[running].var()")
    finding, told = judged(log + "step 21 loss nan\nstep 22 loss nan\n")
    assert finding.severity is Severity.CRITICAL
    assert finding.first_step == 21
    assert [e.kind for e in finding.evidence] == ["log", "series"]
    assert told.root_causes[0].id == "zero_variance_head"
    assert told.root_causes[0].confidence >= 0.8
    assert len(told.root_causes[0].fixes) >= 3
    assert "halting[running]" in told.root_causes[0].issue


def test_without_a_nan_it_is_a_warning() -> None:
    more = "".join(f"step {step} loss {2 - 0.01 * step:.3f}\n" for step in range(21, 60))
    finding, _ = judged(STEPS + WARNING.format(what="std", code="r = returns.std()") + more)
    assert finding.severity is Severity.WARNING


def test_a_nan_much_later_is_another_matter() -> None:
    more = "".join(f"step {step} loss {2 - 0.01 * step:.3f}\n" for step in range(21, 60))
    log = STEPS + WARNING.format(what="std", code="r = returns.std()") + more + "step 60 loss nan\n"
    finding, _ = judged(log)
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "code",
    ["print(f'Highest Train: {r.mean():.2f} ± {r.std():.2f}')", "r.std()"],
)
def test_in_a_report_after_the_training_it_is_only_information(code: str) -> None:
    log = STEPS + "All runs:\n" + WARNING.format(what="std", code=code)
    finding, told = judged(log + "Highest Train: 99.73 ± nan\n")
    assert finding.severity is Severity.INFO
    assert not any(cause.id == "zero_variance_head" for cause in told.root_causes)


def test_a_normalisation_that_refuses_names_the_batch() -> None:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/home/me/train.py", line 9, in <module>\n    model(x)\n'
        "ValueError: Expected more than 1 value per channel when training, got input size "
        "torch.Size([1, 4])\n"
    )
    finding, told = judged(STEPS + trace)
    assert finding.severity is Severity.CRITICAL
    assert told.root_causes[0].id == "batch_of_one"
    assert told.root_causes[0].confidence >= 0.9
    assert "torch.Size([1, 4])" in finding.title
    assert not any(f.id == "shape_mismatch" for f in told.findings)
    # The shape in the message is nearer than arithmetic over all examples.
    _, told = judged(STEPS + trace, {"batch_size": 32, "num_samples": 320})
    assert told.root_causes[0].id == "batch_of_one"
    assert told.root_causes[0].confidence >= 0.9


def test_one_example_left_over_makes_it_the_batch() -> None:
    log = STEPS + WARNING.format(what="std", code="adv = (a - a.mean()) / a.std()")
    log += "step 21 loss nan\n"
    config: dict[str, object] = {"batch_size": 32, "num_samples": 321, "lr": 0.1}
    _, told = judged(log, config)
    assert told.root_causes[0].id == "batch_of_one"
    assert "leave a last batch of one" in told.root_causes[0].issue
    assert any("batch_size 32 -> 31" in fix.change for fix in told.root_causes[0].fixes)
    _, told = judged(log, {**config, "num_samples": 320})
    assert told.root_causes[0].id == "zero_variance_head"


def test_a_line_that_did_well_in_many_steps_before_met_a_batch_of_one() -> None:
    before = "".join(f"step {step} loss {2 - 0.01 * step:.3f}\n" for step in range(1, 41))
    warning = WARNING.format(what="std", code="adv = (r - r.mean()) / (r.std() + 1e-8)")
    _, told = judged(before + warning + "step 41 loss nan\nstep 42 loss nan\n")
    assert told.root_causes[0].id == "batch_of_one"


def test_a_warning_without_a_step_is_placed_by_the_nan_it_led_to() -> None:
    before = "".join(f"step {step} loss {2 - 0.01 * step:.3f}\n" for step in range(1, 41))
    warning = WARNING.format(what="std", code="adv = (r - r.mean()) / (r.std() + 1e-8)")
    _, told = judged(warning + before + "step 41 loss nan\nstep 42 loss nan\n")
    assert told.root_causes[0].id == "batch_of_one"
    ranked = [cause.id for cause in told.root_causes]
    assert "bad_batch" not in ranked or ranked.index("bad_batch") > 1


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("adv = (adv - adv.mean()) / (adv.std() + 1e-8)", Severity.CRITICAL),
        ("print(f'{r.mean():.2f} ± {r.std():.2f}')", Severity.INFO),
    ],
)
def test_a_warning_in_another_file_belongs_to_the_first_nan(code: str, severity: Severity) -> None:
    steps = "".join(f"step {step} loss {2 - 0.01 * step:.3f}\n" for step in range(1, 71))
    run = read_log(steps + "step 71 loss nan\nstep 72 loss nan\n")
    read_stream(run, "stderr.txt", iter([WARNING.format(what="std", code=code).encode()]))
    told = diagnose(run)
    (finding,) = [f for f in told.findings if f.id == "degenerate_variance"]
    assert finding.severity is severity
    if severity is Severity.CRITICAL:
        assert finding.first_step == 71
        assert told.root_causes[0].id == "batch_of_one"
