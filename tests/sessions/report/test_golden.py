"""Reports compared byte by byte with those that somebody has read and found good.

After a wanted change write them anew and read the diff:
UPDATE_GOLDEN=1 python -m pytest tests/sessions/report/test_golden.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mltd.sessions.model.run_ref import RunRef
from mltd.sessions.model.session import Session
from mltd.sessions.report import Material, Options, Report, RunMaterial, build

from .building import NOW, Case
from .cases import CASES
from .opined import PASSWORD, TOKEN

GOLDEN = Path(__file__).parent / "golden"
IS_UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"
FORMS = {
    "report.md": Options(folder="report-files"),
    "brief.md": Options(brief=True),
    "diagnosis.json": Options(as_json=True, folder="report-files"),
    "redacted.md": Options(redact=True),
}


@pytest.fixture(params=list(CASES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def case(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    # The names of this machine must not be those of the example.
    monkeypatch.setenv("USER", "nobody-else")
    monkeypatch.setenv("LOGNAME", "nobody-else")
    monkeypatch.setattr("socket.gethostname", lambda: "some-other-machine")
    monkeypatch.chdir(tmp_path)
    return CASES[name]()


def compare(name: str, file: str, text: str) -> None:
    place = GOLDEN / name / file
    if IS_UPDATE:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    assert text.encode() == place.read_bytes(), f"{place} differs; see the top of this file"


@pytest.mark.parametrize("form", list(FORMS))
def test_the_report_is_the_one_that_was_read(name: str, case: Case, form: str) -> None:
    report = build(case.session, case.material, FORMS[form])
    compare(name, form, report.text)


def test_the_pictures_are_the_ones_that_were_looked_at(name: str, case: Case) -> None:
    report = build(case.session, case.material, FORMS["report.md"])
    for file, text in report.pictures.items():
        compare(name, file, text)
    kept = {f"report-files/{one.name}" for one in (GOLDEN / name / "report-files").glob("*")}
    assert kept == set(report.pictures)


@pytest.mark.parametrize("form", list(FORMS))
def test_no_secret_gets_into_a_report(name: str, case: Case, form: str) -> None:
    report = build(case.session, case.material, FORMS[form])
    for text in every_text(report):
        assert TOKEN not in text
        assert PASSWORD not in text


def test_a_redacted_report_names_no_user_host_or_path(name: str, case: Case) -> None:
    for options in (Options(redact=True, folder="f"), Options(redact=True, as_json=True)):
        for text in every_text(build(case.session, case.material, options)):
            for private in ("mira", "Mira", "Kowalski", "gpu-17", "/home/"):
                assert private not in text


def test_a_report_without_redaction_keeps_names_and_paths(name: str, case: Case) -> None:
    if name == "divergence":
        text = build(case.session, case.material, Options()).markdown
        assert "Mira Kowalski" in text
        assert "/home/mira/runs/diverging/train.log" in text


def test_the_json_form_has_every_field_of_the_contract(name: str, case: Case) -> None:
    content = json.loads(build(case.session, case.material, FORMS["diagnosis.json"]).json)
    assert content["schema"] == 1
    assert content["status"] in ("healthy", "diagnosis_complete", "needs_more_data", "no_metrics")
    assert {
        "run", "findings", "root_causes", "quick_fixes", "recommended_fixes", "requests",
        "analysis_artifacts", "seconds",
    } <= set(content)  # fmt: skip
    assert {"name", "state", "files", "series", "events", "config", "artifacts"} <= set(
        content["run"]
    )
    for cause in content["root_causes"]:
        assert cause["confidence"] <= cause["ceiling"]


def every_text(report: Report) -> list[str]:
    return [report.markdown, report.json, *report.pictures.values()]


def test_a_secret_that_only_its_name_tells_is_masked_in_every_form() -> None:
    settings = (("db.password", "hunter2-and-more"), ("lr", "0.1"))
    config = {"db": {"password": "hunter2-and-more"}, "lr": 0.1}
    run = RunMaterial(True, settings=settings, document={"name": "r", "config": config})
    session = Session(
        id="s", title="t", created=NOW, runs=(RunRef(id="R1", location="/r", added=NOW),)
    )
    for options in (Options(), Options(as_json=True)):
        report = build(session, Material({"R1": run}), options)
        assert "lr" in report.text
        assert not any("hunter2" in text for text in every_text(report))
