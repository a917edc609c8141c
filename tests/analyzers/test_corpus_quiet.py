"""Real logs whose runs went well raise no alarm, and no real log breaks an analyzer."""

from __future__ import annotations

from typing import Any

import pytest

from mltd.analyzers.diagnosis import diagnose
from tests.runs.formats.corpus import corpus_entries
from tests.runs.test_corpus import read_entry

WENT_WELL = frozenset({"completed", "unknown", "truncated"})
SHOWN = {
    # The log itself shows these, though its run was not a failure.
    ("openmmlab/mmengine-rtmpose.log", "dataloader_bound"): "data_time is 92 % of time",
    ("openmmlab/mmengine-rtmpose-scalars.json", "dataloader_bound"): "data_time is 92 % of time",
    ("deepspeed/megatron-deepspeed-3d.out", "loss_spike"): "lm-loss goes from 12.4 to 43 and back",
}


@pytest.mark.parametrize("entry", corpus_entries())
def test_a_real_log_is_judged_without_false_alarm(entry: dict[str, Any]) -> None:
    run = read_entry(entry)
    run.is_over = True
    told = diagnose(run)
    assert told.problems == ()
    truth = entry["truth"]
    if truth["outcome"] not in WENT_WELL or truth["failures"]:
        return
    alarms = [
        f"{finding.id}: {finding.title}"
        for finding in told.findings
        if finding.is_alarm and (entry["file"], finding.id) not in SHOWN
    ]
    assert alarms == []
