"""Names of jobs as users write them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.schedulers.names import parse_job_id, parse_job_name


@pytest.mark.parametrize(
    ("text", "job_id"),
    [
        ("job:48213", "48213"),
        ("job:48213_7", "48213_7"),
        ("job:48213+1", "48213+1"),
        ("48213", "48213"),
        ("48213_7", "48213_7"),
    ],
)
def test_jobs_by_name(text: str, job_id: str) -> None:
    assert parse_job_name(text) == job_id


@pytest.mark.parametrize(
    "text",
    [
        "", "job:", "job:x", "train.log", "48213.out", "-1", "--me", "job:--all", "0", "007",
        "job:1 2", "job:1;ls", "job:$(ls)", "48213\n", "job:48213_", "job:48213_7_8",
        "job:1,2", "٤٨", "job:99999999999", "Job:1",
    ],
)  # fmt: skip
def test_other_texts_are_no_jobs(text: str) -> None:
    assert parse_job_name(text) is None


def test_a_bare_number_is_the_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "48213").symlink_to("nowhere")
    assert parse_job_name("48213") is None
    assert parse_job_name("job:48213") == "48213"


@given(st.text() | st.from_regex(r"(job:)?[0-9_+]{0,20}\n?"))
def test_an_id_holds_nothing_that_a_command_could_take_for_an_option(text: str) -> None:
    job_id = parse_job_name(text)
    assert job_id is None or re.fullmatch(r"[1-9][0-9]*([_+][0-9]+)?", job_id, re.ASCII)


@given(st.integers(1, 2**32), st.integers(0, 10**6))
def test_an_id_is_read_back(number: int, index: int) -> None:
    for text in (f"{number}", f"{number}_{index}", f"{number}+{index % 100}"):
        parsed = parse_job_id(text)
        assert parsed is not None
        assert parsed.text == text
