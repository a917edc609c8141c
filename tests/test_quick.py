"""The choice of tests for `make quick`, and the kinds that it leaves out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import import_graph, kinds, quick
from tests.conftest import ROOT
from tests.runs.sources.sshd_server import running_sshd
from tests.tui.app_scene import staged

NO_TRAINERS = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {set(import_graph.TRAINERS)!r}:
            raise ImportError(f"{{name}} must not be imported here")
sys.meta_path.insert(0, Refuse())
"""


def ranks(*changed: str, rooms: tuple[str, ...] = ()) -> dict[str, int]:
    """The rank of every chosen file."""
    chosen = quick.choose(changed, rooms)
    return {str(path.relative_to(ROOT)): reason.rank for path, reason in chosen.items()}


def test_a_changed_test_comes_first_then_what_imports_a_changed_module_then_its_folder() -> None:
    found = ranks("runs/roles.py", "tests/tui/test_wording.py")
    assert found["tests/tui/test_wording.py"] == 0
    assert found["tests/runs/test_roles.py"] == 1
    assert found["tests/runs/test_thinning.py"] == 2
    assert "tests/runs/text/test_source_code.py" not in found
    assert list(found.values()) == sorted(found.values())


def test_tests_that_use_a_changed_helper_are_chosen() -> None:
    found = ranks("tests/tui/job_rows.py")
    assert found["tests/tui/test_job_picker.py"] == 1
    assert "tests/tui/test_wording.py" not in found


def test_a_data_file_counts_as_the_module_that_reads_it() -> None:
    assert ranks("runs/roles.toml")["tests/runs/test_roles.py"] == 1
    assert "tests/tui/test_theming.py" in ranks("themes/ink.toml")


def test_a_document_brings_the_tests_that_name_it() -> None:
    found = ranks("docs/keys.md")
    assert found["tests/tui/test_keys_doc.py"] == 1
    assert "tests/tui/test_wording.py" not in found


def test_a_room_that_is_named_comes_last_and_whole() -> None:
    found = ranks("runs/roles.py", rooms=("sessions",))
    rest = [name for name, rank in found.items() if rank == 3]
    assert "tests/sessions/test_triage.py" in rest
    assert all(name.startswith("tests/sessions/") for name in rest)


def test_a_room_that_does_not_exist_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert quick.main(["kitchen"]) == 2
    assert "no room is called kitchen; there are runs, analyzers" in capsys.readouterr().err


def trains() -> None:
    import torch

    torch.manual_seed(1)


def helped() -> None:
    trains()


def test_the_kind_of_a_test_is_seen_from_what_it_can_reach() -> None:
    assert kinds._kinds_of_function(helped) == {"trainer"}
    assert kinds._kinds_of_function(staged) == {"pilot"}
    assert kinds._kinds_of_function(running_sshd) == {"service"}
    assert kinds._kinds_of_function(ranks) == set()


@pytest.mark.parametrize(
    ("expression", "is_possible"),
    [
        ("", True), ("unit or pilot", True), ("service", True), ("not service", True),
        ("trainer and not service", True), ("not trainer", False), (quick.WANTED, False),
    ],
)  # fmt: skip
def test_whether_an_expression_leaves_out_a_kind(expression: str, is_possible: bool) -> None:
    assert kinds.may_match(expression, "trainer") == is_possible


@pytest.mark.parametrize("words", [("-m", quick.WANTED), ()], ids=["left out", "missing"])
def test_no_module_is_imported_that_imports_a_trainer(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_TRAINERS)
    folders = ["tests/runs/probe", "tests/analyzers/probed", "tests/analyzers/weights"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *words, *folders],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "::" in done.stdout
    assert ("which -m leaves out" if words else "not installed: torch") in done.stdout
