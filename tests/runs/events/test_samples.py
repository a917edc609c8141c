"""Generated text in a log becomes sample events, with the text and the step."""

from __future__ import annotations

import pytest

from mltd.runs.event import Event, EventKind
from mltd.runs.ingest import read_stream
from mltd.runs.run import Run


def samples(log: str) -> list[Event]:
    run = Run("x")
    read_stream(run, "x.log", iter([log.encode()]))
    return [event for _, event in run.events if event.kind is EventKind.SAMPLE]


def test_a_sample_keeps_its_text_and_its_step() -> None:
    (event,) = samples(
        "step 10 loss 2.0\nstep 20 loss 1.9\nsample: the king : of\nstep 30 loss 1\n"
    )
    assert event.message == "the king : of"
    assert event.step == 20
    assert event.line == 3


def test_equal_samples_at_different_steps_stay_apart() -> None:
    log = "".join(f"step {i} loss 2.{i}\nsample: ::::::::::\n" for i in range(1, 5))
    assert [event.step for event in samples(log)] == [1, 2, 3, 4]


def test_text_between_a_ruled_label_and_the_next_rule_is_a_sample() -> None:
    (event,) = samples("iter 5: loss 2.0\n--- sample ---\nthe the the\n-----\niter 10: loss 1.9\n")
    assert (event.message, event.step) == ("the the the", 5)


def test_text_below_a_lone_label_is_taken_up_to_the_next_record() -> None:
    (event,) = samples("step 1 loss 2.0\nsample:\n--------\nonce upon\na time\n\nstep 2 loss 1.9\n")
    assert event.message == "once upon\na time"
    (event,) = samples("step 1 loss 2.0\ngenerated text:\nonce upon\nstep 2 loss 1.9\n")
    assert event.message == "once upon"


@pytest.mark.parametrize(
    "line",
    ["sample: 1024", "samples: 3", "time per sample: slow", "sample: -----", "sample: 12.5 %"],
)
def test_counts_and_rules_are_no_samples(line: str) -> None:
    assert samples(f"step 1 loss 2.0\n{line}\nstep 2 loss 1.9\n") == []


def test_token_ids_are_a_sample() -> None:
    (event,) = samples("step 1 loss 2.0\nsample: [7, 7, 7, 7, 7, 7, 7]\n")
    assert event.message == "[7, 7, 7, 7, 7, 7, 7]"
