"""Files of runs are opened by `open_artifact` alone; the others that open files open our own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OWN_FILES = {
    "runs/checkpoints/apart.py": "the memory of a worker, in /proc",
    "runs/checkpoints/worker.py": "/dev/null",
    "runs/events/rulebook.py": "shipped rules",
    "runs/open_artifact.py": "this is it",
    "runs/probe/writer.py": "the recording that it writes",
    "runs/remote/connection.py": "the lock of a connection",
    "runs/remote/download.py": "the copy that it writes",
    "runs/remote/local_copy.py": "the copy that it writes",
    "runs/remote/placeholders.py": "the copies that it makes",
    "runs/remote/prompts.py": "the terminal",
    "runs/roles.py": "shipped names",
    "runs/schedulers/slurm/notebook.py": "answers of Slurm, kept in our cache",
    "runs/config_file.py": "the user's own settings",
    "runs/owned_folder.py": "locks",
    "runs/sources/looks.py": "closed again at once: it makes a network client ask its server",
    "runs/sources/mounts.py": "/proc/self/mountinfo",
    "runs/text/plan.py": "shipped patterns",
    "diagnosis/citations/harmless/words.py": "shipped words",
    "diagnosis/citations/patterns.py": "shipped patterns",
    "diagnosis/client/access.py": "the user's own settings of a client",
    "diagnosis/client/models.py": "an installed package",
    "sessions/report/writing.py": "the report that it writes",
    "sessions/storage/appender.py": "journals",
    "sessions/storage/creating.py": "journals",
    "sessions/storage/files.py": "journals",
    "sessions/storage/holder.py": "who holds a lock, in /proc",
    "sessions/storage/lock.py": "locks",
    "analyzers/core/calibration.py": "shipped numbers",
    "analyzers/core/settings_lookup.py": "shipped names",
    "analyzers/errors/book.py": "shipped rules",
}


def opens_files(source: str) -> bool:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name("open"):
                return True
            case ast.Attribute(ast.Name("os" | "io"), "open" | "FileIO") if not any(
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Name)
                and part.func.id == "open_input"
                for part in node.args
            ):
                return True
            case ast.Attribute(_, "read_text" | "read_bytes"):
                return True
            case ast.Attribute(_, "open") if any(
                isinstance(part, ast.Constant) and part.value in ("r", "rb") for part in node.args
            ):
                return True
    return False


@pytest.mark.parametrize("room", ["runs", "analyzers", "sessions", "diagnosis"])
def test_no_module_opens_files_of_runs_by_itself(room: str) -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / room).rglob("*.py")
        if opens_files(path.read_text(encoding="utf-8"))
    }
    assert found == {name for name in OWN_FILES if name.startswith(f"{room}/")}
