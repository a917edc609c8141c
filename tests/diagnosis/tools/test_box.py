"""The box: every call is answered, in bounds, whatever is asked."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.tools import ToolBox

from ..artifacts.making import STEPS, TRACEBACK, run_in, safetensors
from .boxing import box_for, box_of, refusal

NAMES = {
    "list_artifacts", "read_lines", "grep", "query_series", "read_config", "read_source",
    "checkpoint_summary", "compare_runs", "findings",
}  # fmt: skip
ARGUMENTS = (
    "run", "artifact", "pattern", "first", "last", "most", "context", "name", "around", "key", "id",
    "first_step", "last_step", "most_points", "path", "module", "before", "after", "at_end", "x",
)  # fmt: skip


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> ToolBox:
    folder = tmp_path_factory.mktemp("box")
    files: dict[str, str | bytes] = {
        "train.log": STEPS + TRACEBACK,
        "train.py": "import sys\n\nmain()\n",
        "config.json": json.dumps({"optimizer": {"lr": 0.1}, "api_key": "sk-abcdefghijklmnop1234"}),
        "model.safetensors": safetensors({"model.a.weight": (2, 3)}),
    }
    return box_for({name: run_in(folder / name, files) for name in ("run1", "run2")})


def test_every_tool_explains_itself_and_each_of_its_arguments(box: ToolBox) -> None:
    assert {spec.name for spec in box.specs} == NAMES
    for spec in box.specs:
        assert len(spec.description) > 60
        assert spec.schema["type"] == "object"
        assert spec.schema["additionalProperties"] is False
        assert all(field["description"] for field in spec.schema["properties"].values())
        json.dumps(spec.schema)


def test_the_specs_are_always_the_same_so_that_they_can_be_cached(box: ToolBox) -> None:
    again = ToolBox(ArtifactBook({}), {}, {})
    assert json.dumps(box.specs) == json.dumps(again.specs)


def values() -> st.SearchStrategy[object]:
    """What a model may put into an argument, sensible and not."""
    words = [
        "run1", "run2", "train.log", "run1/train.log", "loss", "train/loss", "optimizer.lr", "lr",
        "model.safetensors", "train.py:3", "../../etc/passwd", "(", "step", "exception",
    ]  # fmt: skip
    return st.one_of(
        st.sampled_from(words),
        st.text(max_size=8),
        st.integers(-5, 300) | st.integers(),
        st.none() | st.booleans() | st.floats(),
        st.lists(st.integers(), max_size=2),
        st.dictionaries(st.text(), st.text(), max_size=1),
    )


@given(
    name=st.sampled_from(sorted(NAMES - {"grep"})) | st.text(max_size=5),
    arguments=st.dictionaries(st.sampled_from(ARGUMENTS), values(), max_size=4),
)
def test_no_arguments_make_a_call_raise_or_answer_out_of_bounds(
    box: ToolBox, name: str, arguments: dict[str, object]
) -> None:
    result = box.call(name, arguments)
    assert 0 < len(result.text.encode()) <= 8000
    assert "\n" not in result.brief
    assert len(result.brief) <= 160
    assert result.brief.isprintable()
    assert result.text.replace("\n", "").replace("\t", "").isprintable()
    assert "failed here" not in result.text
    assert "root:" not in result.text


@pytest.mark.parametrize("arguments", [None, [], "x", 3])
def test_arguments_that_are_no_object_are_refused(box: ToolBox, arguments: Any) -> None:
    result = box.call("grep", arguments)
    assert result.is_error
    assert "argument" in result.text


def test_a_wrong_argument_is_named_with_what_it_should_be(box: ToolBox) -> None:
    told = refusal(box, "grep", artifact="run1/train.log", pattern="x", most="many", lines=3)
    assert "argument 'most' is wrong" in told
    assert "'many' (Matching lines that are shown.)" in told
    assert "there is no argument 'lines', only artifact, pattern, most, context, first" in told
    assert "argument 'pattern' is missing" in refusal(box, "grep", artifact="run1/train.log")
    assert "there is no tool 'rm'; there is list_artifacts" in refusal(box, "rm", path="/")


def test_a_tool_that_breaks_is_an_answer_too(box: ToolBox, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(ToolBox, "_page", broken)
    assert "grep failed here: ZeroDivisionError: oh" in refusal(box, "grep", pattern="x")


def test_the_only_run_needs_no_name_and_one_of_several_does(tmp_path: Path, box: ToolBox) -> None:
    assert "say which run is meant; there is run1, run2" in refusal(box, "read_config")
    alone = box_of(tmp_path, {"train.log": STEPS, "config.json": '{"lr": 0.1}'})
    assert not alone.call("read_config", {}).is_error


def test_a_file_system_that_hangs_is_a_sentence_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = box_of(tmp_path, {"train.log": STEPS})
    monkeypatch.setattr(threading.Thread, "start", lambda self: None)
    waited: list[float | None] = []
    monkeypatch.setattr(threading.Thread, "join", lambda self, given=None: waited.append(given))
    told = refusal(box, "read_lines", artifact="train.log")
    assert "did not answer within 4 s; its file system may be hanging" in told
    assert waited == [4.0]
