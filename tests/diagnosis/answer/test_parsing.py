"""Answers as models really give them: kind about form, strict about meaning."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mltd.diagnosis.answer import AnswerError, LogCitation, SeriesCitation, parse_opinion

from .answers import answer, cause, fix, log, opinion, setting, value


def refusal(data: Any) -> str:
    with pytest.raises(AnswerError) as caught:
        parse_opinion(data)
    return str(caught.value)


def test_a_whole_answer_is_read() -> None:
    found = opinion(
        cause(log("loss is nan", 812, 815), value(100, "2.31"), setting("optimizer.lr", "0.01")),
        recommended_fixes=[fix()],
        needed_data=[{"what": "grad_norm per layer", "why": "rivals", "how": "log it"}],
        agreement=[{"id": "loss_divergence", "stance": "agrees", "why": "seen too"}],
        quick_fixes=["resume from step 2,000"],
    )
    (first,) = found.root_causes
    assert [one.kind for one in first.evidence] == ["log", "series", "config"]
    assert first.evidence[0] == LogCitation(
        artifact="train.log", first_line=812, last_line=815, quote="loss is nan"
    )
    assert found.recommended_fixes[0].metric == "train/loss"
    assert found.agreement[0].stance == "agrees"
    assert not found.notes


@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        "```json\n{}\n```",
        "Here is my diagnosis:\n```\n{}\n```\nI hope it helps {{really}}.",
        "Sure. {} That is all.",
        '{{"diagnosis": {}}}',
    ],
)
def test_an_answer_is_found_in_words_and_fences(wrapped: str) -> None:
    text = wrapped.format(json.dumps(answer(cause(log("loss is nan")))))
    assert parse_opinion(text).root_causes


def test_an_answer_with_words_in_braces_before_it_is_found() -> None:
    text = "I use {braces} like {this}. " + json.dumps(answer(cause(log("loss is nan"))))
    assert parse_opinion(text).root_causes


def test_commas_before_a_closing_bracket_are_forgiven_but_not_those_in_texts() -> None:
    found = parse_opinion('{"status": "healthy", "summary": "a,] b,}", "quick_fixes": ["x",],}')
    assert found.summary == "a,] b,}"
    assert found.quick_fixes == ("x",)


@pytest.mark.parametrize(
    ("said", "meant"),
    [(0.8, 0.8), ("0.8", 0.8), ("80%", 0.8), (80, 0.8), (1, 1.0), (0, 0.0), ("100 %", 1.0)],
)
def test_a_confidence_is_read_as_number_text_and_percent(said: Any, meant: float) -> None:
    assert opinion(cause(log("loss is nan"), confidence=said)).root_causes[0].confidence == meant


@pytest.mark.parametrize("said", ["high", 1.5, -0.1, 101, None, [], True, "nan", float("inf")])
def test_a_confidence_that_can_mean_anything_is_refused(said: Any) -> None:
    told = refusal(answer(cause(log("loss is nan"), confidence=said)))
    assert "root_causes[0].confidence" in told
    assert "from 0 to 1" in told


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({"lines": "123-125"}, (123, 125)),
        ({"lines": "L7"}, (7, 7)),
        ({"lines": [3, 9]}, (3, 9)),
        ({"line": 4}, (4, 4)),
        ({"line": "4"}, (4, 4)),
        ({"first_line": 4.0}, (4, 4)),
        ({"first_line": 9, "last_line": 3}, (3, 9)),
        ({"artifact": "train.log:12-14"}, (12, 14)),
        ({"artifact": "train.log:12", "first_line": None}, (12, 12)),
    ],
)
def test_lines_are_read_in_all_their_spellings(
    fields: dict[str, Any], lines: tuple[int, int]
) -> None:
    found = opinion(cause({"kind": "log", "artifact": "train.log", "quote": "Killed", **fields}))
    (cited,) = found.root_causes[0].evidence
    assert isinstance(cited, LogCitation)
    assert (cited.first_line, cited.last_line) == lines
    assert cited.artifact == "train.log"


def test_a_series_keeps_the_digits_of_its_value() -> None:
    found = opinion(
        cause(
            value(1, "2.310"),
            {"kind": "metric", "name": "loss@2,500", "value": 3},
            {"name": "loss", "step": "7", "value": 3.0},
            {"kind": "series", "name": "loss", "step": 8, "value": "NaN"},
        )
    )
    cited = [one for one in found.root_causes[0].evidence if isinstance(one, SeriesCitation)]
    assert [(one.step, one.value) for one in cited] == [
        (1, "2.310"),
        (2500, "3"),
        (7, "3.0"),
        (8, "NaN"),
    ]


def test_evidence_written_as_a_line_is_read() -> None:
    found = opinion(cause("run1/train.err:812: CUDA out of memory"))
    assert found.root_causes[0].evidence == (
        LogCitation(
            artifact="run1/train.err", first_line=812, last_line=812, quote="CUDA out of memory"
        ),
    )


def test_a_citation_that_is_none_is_left_out_and_told_if_others_are_left() -> None:
    found = opinion(cause(log("loss is nan"), {"kind": "dream", "id": "x"}, "I just know"))
    assert len(found.root_causes[0].evidence) == 1
    assert len(found.notes) == 2
    assert "evidence[1].kind is 'dream'" in found.notes[0]


def test_a_cause_whose_evidence_is_all_unreadable_is_sent_back() -> None:
    told = refusal(answer(cause("I just know", {"kind": "checkpoint", "path": "a.pt"})))
    assert "evidence[0]" in told
    assert "log, series, config, source, finding" in told


def test_what_speaks_against_may_be_words_or_places() -> None:
    found = opinion(
        cause(log("loss is nan"), against=["the rate was low", log("lr 1e-5"), {"text": "also"}])
    )
    first, second, third = found.root_causes[0].against
    assert (first, third) == ("the rate was low", "also")
    assert isinstance(second, LogCitation)


def test_other_words_for_the_same_are_understood() -> None:
    found = parse_opinion(
        {
            "status": "Diagnosed",
            "summary": "s",
            "root_causes": [
                cause(log("loss is nan"), severity="High", failure_mode="LR too-high", basis=None)
            ],
            "recommended_fixes": [
                {"change": "a", "priority": "2", "reversible": "no"},
                {"implementation": {"change": "b", "code": "x = 1"}, "priority": 1},
                {"implementation": "c"},
            ],
            "needed_data": "the .err of rank 3",
            "quick_fixes": [{"title": "resume"}, "restart"],
            "mood": "extra keys are not looked at",
        }
    )
    assert found.status == "diagnosis_complete"
    assert found.root_causes[0].severity == "critical"
    assert found.root_causes[0].failure_mode == "lr_too_high"
    assert found.root_causes[0].basis == "inference"
    assert [one.change for one in found.recommended_fixes] == ["b", "a", "c"]
    assert found.recommended_fixes[0].example == "x = 1"
    assert not found.recommended_fixes[1].is_reversible
    assert found.needed_data[0].what == "the .err of rank 3"
    assert found.quick_fixes == ("resume", "restart")


def test_lists_that_were_sent_as_text_are_read() -> None:
    found = parse_opinion({**answer(), "root_causes": json.dumps([cause(log("loss is nan"))])})
    assert found.root_causes


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("no braces at all", "no JSON object"),
        ('{"status": "healthy", "summary": "cut', "JSON cannot be read"),
        ("[1, 2]", "no JSON object"),
        ({}, "status is missing"),
        ({"status": "fine", "summary": "x"}, "healthy, diagnosis_complete, needs_more_data"),
        ({"status": "healthy"}, "summary is missing"),
        (answer(status="diagnosis_complete"), "root_causes is empty"),
        (answer(cause(log("loss is nan")), status="healthy"), "is healthy, but"),
        (answer(cause(log("loss is nan"), issue="")), "root_causes[0].issue is missing"),
        (answer("lr"), "root_causes[0] is 'lr'; give an object"),
        (answer(recommended_fixes=[{"priority": 1}]), "recommended_fixes[0].change"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words_that_can_be_sent_back(
    data: Any, told: str
) -> None:
    said = refusal(data)
    assert told in said
    assert said.endswith("send the whole diagnosis again with this corrected")


def test_all_faults_are_told_at_once() -> None:
    told = refusal({"status": "x", "root_causes": [cause(confidence="y"), cause(severity="z")]})
    for part in ("status", "summary", "root_causes[0].confidence", "root_causes[1].severity"):
        assert part in told


def test_text_is_plain_and_bounded() -> None:
    found = opinion(
        cause(log("a\x1b[31mred\x1b[0m\tb"), issue="two\nlines \u202eand\x07 bells"),
        summary="[bold]kept[/bold] <b>as it is</b>\x1b]0;title\x07\x00\ud800" + "x" * 10_000,
    )
    assert found.root_causes[0].issue == "two lines and bells"
    cited = found.root_causes[0].evidence[0]
    assert isinstance(cited, LogCitation)
    assert cited.quote == "ared    b"
    assert found.summary.startswith("[bold]kept[/bold] <b>as it is</b>\ufffdxxx")
    assert len(found.summary) == 2000
    assert found.summary.endswith("…")


def test_too_much_of_anything_is_cut_and_told() -> None:
    found = opinion(cause(*[log("loss is nan", n) for n in range(1, 60)]))
    assert len(found.root_causes[0].evidence) == 16
    assert found.notes == ("of 59 citations the first 16 are kept",)


def test_an_opinion_survives_the_way_through_json() -> None:
    found = opinion(
        cause(log("loss is nan"), value(1, "nan"), against=["words", setting("lr", "1")])
    )
    assert type(found).model_validate_json(found.model_dump_json()) == found
