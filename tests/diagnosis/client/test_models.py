"""Which model is chosen, without importing the SDK."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.client.models import choose_model, listed, newest, parse_name


def test_the_newest_sonnet_of_the_sdk_is_the_default() -> None:
    names = listed()
    assert names, "the installed SDK lists models"
    assert choose_model() == newest(names)
    assert choose_model().startswith("claude-sonnet-")


def test_the_text_that_is_read_says_what_the_sdk_says() -> None:
    from typing import get_args

    from anthropic.types.model import Model

    literal = next(part for part in get_args(Model) if part is not str)
    assert listed() == get_args(literal)


def test_a_wanted_model_is_taken_as_it_is() -> None:
    assert choose_model("my-gateway/claude") == "my-gateway/claude"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["claude-sonnet-9", "claude-sonnet-10"], "claude-sonnet-10"),
        (["claude-sonnet-5", "claude-sonnet-5-5", "claude-opus-9"], "claude-sonnet-5-5"),
        (["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"], "claude-sonnet-4-5"),
        (["claude-sonnet-4-20250514", "claude-3-7-sonnet-latest"], "claude-sonnet-4-20250514"),
        (["claude-sonnet-4-0", "claude-sonnet-4-20250514"], "claude-sonnet-4-0"),
        (["claude-sonnet-6-preview", "claude-sonnet-5"], "claude-sonnet-5"),
        (["claude-opus-5"], ""),
        ([], ""),
    ],
)
def test_versions_are_numbers_and_dates_come_last(names: list[str], expected: str) -> None:
    assert newest(names) == expected
    assert newest(reversed(names)) == expected


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_any_name_can_be_parsed(name: str) -> None:
    assert all(isinstance(number, int) for number in parse_name(name).version)


def test_neither_choosing_nor_building_a_consultation_imports_the_sdk() -> None:
    code = (
        "import sys; from mltd.diagnosis import consultation, settings; "
        "from mltd.diagnosis.client import access, models; "
        "models.choose_model(); access.obstacle(settings.load()); "
        "consultation.Consultation(settings.load(), [], None, schema={}, parse=dict); "
        "print([name for name in ('anthropic', 'httpx', 'httpx2', 'numpy', 'textual', 'pydantic') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
