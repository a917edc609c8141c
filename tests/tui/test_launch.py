"""From the options of the command line to what the app is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs.errors import InputError
from mltd.tui.cli import build_parser
from mltd.tui.engine.protocol import Open
from mltd.tui.launch import wanted

WISH = Open(("train.log",))


@pytest.mark.parametrize("command", ["open", "demo"])
def test_the_model_and_the_switch_for_claude_reach_the_app(command: str) -> None:
    options = build_parser().parse_args([command, "--model", "claude-opus-5-5", "--no-claude"])
    asked = wanted(options, WISH)
    assert (asked.wish, asked.model, asked.is_claude_off) == (WISH, "claude-opus-5-5", True)


@pytest.mark.parametrize("command", ["open", "demo"])
def test_without_them_claude_may_be_asked_and_the_usual_model_answers(command: str) -> None:
    asked = wanted(build_parser().parse_args([command]), WISH)
    assert (asked.model, asked.is_claude_off, asked.theme) == ("", False, None)


def test_folders_of_code_are_named_by_the_user_alone(tmp_path: Path) -> None:
    options = build_parser().parse_args(["open", "--source", str(tmp_path), "--source", "/"])
    assert wanted(options, WISH).sources == (str(tmp_path), "/")
    assert wanted(build_parser().parse_args(["open"]), WISH).sources == ()
    slip = build_parser().parse_args(["open", "--source", str(tmp_path / "slip")])
    with pytest.raises(InputError, match="there is no folder"):
        wanted(slip, WISH)
