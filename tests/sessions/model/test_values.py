"""Values never change, survive the way to disk and back, and skip what the future added."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mltd.analyzers.core.finding import Evidence, EvidenceKind
from mltd.sessions.model.checklist import CHECKS, Phase
from mltd.sessions.model.constraints import Fact, Topic
from mltd.sessions.model.evidence import RefKind, referred
from mltd.sessions.model.result import Cost, MetricChange
from mltd.sessions.model.run_ref import RunPart, RunRef
from mltd.sessions.model.session import Session

from ..actions.acting import AT, add, after, empty, plan, run

NUMBERS = st.none() | st.floats()


@given(
    st.builds(
        MetricChange,
        name=st.text(max_size=10),
        before=NUMBERS,
        after=NUMBERS,
        change=NUMBERS,
        low=NUMBERS,
        high=NUMBERS,
        window=st.none() | st.tuples(st.floats(), st.floats()),
        smaller_is_better=st.none() | st.booleans(),
    )
)
def test_numbers_that_are_none_survive_the_disk(change: MetricChange) -> None:
    text = change.model_dump_json()
    json.loads(text, parse_constant=_forbidden)
    again = MetricChange.model_validate_json(text)
    assert repr(again) == repr(change)


def _forbidden(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def test_what_a_newer_program_wrote_is_skipped() -> None:
    session = after(run(), add(), plan())
    values = json.loads(session.model_dump_json())
    values["mood"] = "hopeful"
    values["hypotheses"][0]["colour"] = {"a": [1]}
    values["experiments"][0]["success"][0]["weight"] = 3
    assert Session.model_validate(values) == session


def test_a_value_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        empty().title = "another"


def test_a_session_knows_its_parts_by_id() -> None:
    session = after(
        run(), run("R2", RunPart.EXPERIMENT), add(), add("H2"), plan(), plan("E2", "H2")
    )
    assert session.run("R2") is session.runs[1]
    assert session.run("R9") is None
    assert session.hypothesis("H2") is session.hypotheses[1]
    assert session.experiment("E9") is None
    assert [e.id for e in session.experiments_of("H2")] == ["E2"]


def test_no_id_means_the_first_run_of_the_incident() -> None:
    assert empty().run("") is None
    baseline = run("R1", RunPart.BASELINE)
    assert after(baseline).run("") == baseline.run
    incident = run("R2")
    assert after(baseline, incident).run("") == incident.run


def test_a_run_is_called_by_its_name_or_its_last_part() -> None:
    assert RunRef(id="R1", location="/a/b/", added=AT).label == "b"
    assert RunRef(id="R1", location="/", added=AT).label == "/"
    assert RunRef(id="R1", location="/a/b", name="big", added=AT).label == "big"


def test_improvement_follows_the_better_direction() -> None:
    fell = MetricChange(name="loss", change=-0.2, low=-0.3, high=-0.1, smaller_is_better=True)
    assert fell.improvement == pytest.approx(0.2)
    assert fell.improvement_interval == pytest.approx((0.1, 0.3))
    rose = MetricChange(name="acc", change=0.2, low=0.1, high=0.3, smaller_is_better=False)
    assert rose.improvement_interval == pytest.approx((0.1, 0.3))
    neither = MetricChange(name="lr", change=0.2, low=0.1, high=0.3)
    assert neither.improvement is None
    assert neither.improvement_interval is None


def test_cost_is_a_ratio_where_both_are_known() -> None:
    assert Cost(seconds=(10, 15), throughput=(4, 2)).time_ratio == 1.5
    assert Cost(throughput=(4, 0)).throughput_ratio == 0
    assert Cost(seconds=(0, 3)).time_ratio is None
    assert Cost(seconds=(3, None)).time_ratio is None
    assert math.isnan(Cost(seconds=(math.nan, 1)).time_ratio or 0)


@pytest.mark.parametrize("kind", list(EvidenceKind))
def test_whatever_an_analyzer_cites_can_be_referred_to(kind: EvidenceKind) -> None:
    ref = referred(Evidence(kind, "train/loss@5", "9.4"), "R1")
    assert (ref.kind, ref.ref, ref.quote, ref.run) == (
        RefKind(kind.value),
        "train/loss@5",
        "9.4",
        "R1",
    )


def test_the_checklist_goes_through_the_phases_in_order() -> None:
    assert [phase.number for phase in Phase] == [1, 2, 3, 4, 5]
    assert [c.phase.number for c in CHECKS] == sorted(c.phase.number for c in CHECKS)
    assert {c.phase for c in CHECKS} == set(Phase)
    assert len({c.id for c in CHECKS}) == len(CHECKS)
    assert all(phase.heading and check.why for phase, check in zip(Phase, CHECKS, strict=False))


def test_every_topic_has_words_and_only_people_are_not_prefilled() -> None:
    assert all(topic.heading and topic.question for topic in Topic)
    assert Fact(value="x", source="log").is_prefilled
    assert not Fact(value="x").is_prefilled
    with pytest.raises(ValidationError):
        Fact(value="")


def test_a_name_that_is_no_text_can_be_written_down() -> None:
    run = RunRef(id="R1", location="/runs/b\udcff.log", added=AT)
    assert run.location == r"/runs/b\xff.log"
    assert RunRef.model_validate_json(run.model_dump_json()) == run
