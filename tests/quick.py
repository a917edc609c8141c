"""`make quick`: style, types and the tests nearest to what changed, within a minute."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from tests.import_graph import (
    OWN,
    ROOMS,
    ROOT,
    TRAINERS,
    all_imports,
    name_of,
    needs_trainer,
    used_by_test,
)

SECONDS = 40.0
"""No test begins later than this after the first; the rest takes some seconds more."""
WANTED = "not (service or trainer or bench)"
TOO_LATE = f"the {SECONDS:.0f} s of `make quick` were over; `make test` runs it"
PLAN = "MLTD_QUICK_PLAN"
TESTS = ROOT / "tests"
SHOWN = 4


class Reason(NamedTuple):
    """Why a test file is run; lower ranks are run first."""

    rank: int
    text: str


def main(rooms: list[str]) -> int:
    """Check what changed and say what was chosen; 0 if all is well."""
    began = time.time()
    if unknown := [room for room in rooms if room not in ROOMS]:
        print(f"no room is called {unknown[0]}; there are {', '.join(ROOMS)}", file=sys.stderr)
        return 2
    base, words = merge_base()
    changed = changed_files(base)
    chosen = choose(changed, rooms)
    print(f"changed since {words}: {shortened(changed) or 'nothing'}")
    explain(chosen)
    types = start_types(changed)
    results = [run("ruff", "check", "."), run("ruff", "format", "--check", ".")]
    results += [run("lint-imports", quiet=True)]
    left = 0
    if chosen:
        code, left = run_tests(chosen)
        results.append(code)
    results.append(finish_types(*types))
    verdict = "something failed; see above" if any(results) else "no mistake found"
    rest = f"; {left} tests are left to `make test`" if left else ""
    print(f"quick: {verdict} ({time.time() - began:.0f} s){rest}")
    return int(any(results))


# -- what changed --------------------------------------------------------------------------------


def merge_base() -> tuple[str, str]:
    """Return the commit to compare with, and words for it: where this branch left the main one."""
    for branch in (
        os.environ.get("BASE"),
        "origin/HEAD",
        "origin/main",
        "main",
        "origin/master",
        "master",
    ):
        if branch and (commit := git("merge-base", "HEAD", branch)):
            return commit[0], f"{commit[0][:9]} (merge base with {branch})"
    return "HEAD", "HEAD"


def changed_files(base: str) -> list[str]:
    """Return every file that is not as it was at that commit, untracked ones included."""
    known = git("diff", "--name-only", "--no-renames", base)
    return sorted({*known, *git("ls-files", "--others", "--exclude-standard")})


def git(*words: str) -> list[str]:
    """Return the lines that git prints; none if it refuses."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


# -- what is chosen ------------------------------------------------------------------------------


def choose(changed: Iterable[str], rooms: Iterable[str]) -> dict[Path, Reason]:
    """Return the test files that are nearest to what changed, and why each was chosen."""
    chosen: dict[Path, Reason] = {}
    for path, reason in _choices(list(changed), rooms):
        if path not in chosen or reason.rank < chosen[path].rank:
            chosen[path] = reason
    return dict(sorted(chosen.items(), key=lambda row: (row[1].rank, row[0])))


def _choices(changed: list[str], rooms: Iterable[str]) -> Iterator[tuple[Path, Reason]]:
    tests = sorted(TESTS.rglob("test_*.py"))
    for file in changed:
        place = ROOT / file
        if place.parent.is_relative_to(TESTS) and place.suffix == ".py":
            if place in tests:
                yield place, Reason(0, "changed")
            elif place.name == "conftest.py":
                yield from _beside(place.parent, Reason(2, f"below {file}"), is_deep=True)
        modules = [name] if (name := name_of(place)) else _modules_naming(place)
        for module in modules:
            for test in tests:
                if module in used_by_test(name_of(test) or ""):
                    yield test, Reason(1, f"imports {module}")
                elif _is_named_after(test, module):
                    yield test, Reason(1, f"named after {module}")
        if not name:
            yield from (
                (test, Reason(1, f"names {place.name}"))
                for test in tests
                if place.name in test.read_text()
            )
        if (folder := _mirror(place)) is not None:
            yield from _beside(folder, Reason(2, f"in the folder of tests for {file}"))
    for room in rooms:
        yield from _beside(TESTS / room, Reason(3, f"in the room {room}"), is_deep=True)


def _is_named_after(test: Path, module: str) -> bool:
    """Tell whether a test file of the same room has the name of a module, and maybe more."""
    parts = module.split(".")
    if parts[0] != "mltd" or len(parts) < 3 or not test.is_relative_to(TESTS / parts[1]):
        return False
    return re.fullmatch(rf"test_{re.escape(parts[-1])}(_.*)?\.py", test.name) is not None


def _beside(
    folder: Path, reason: Reason, *, is_deep: bool = False
) -> Iterator[tuple[Path, Reason]]:
    pattern = "**/test_*.py" if is_deep else "test_*.py"
    return ((test, reason) for test in sorted(folder.glob(pattern)))


def _mirror(place: Path) -> Path | None:
    """Return the folder of tests for a file of a room, or the nearest one above it."""
    parts = place.relative_to(ROOT).parent.parts
    if not parts or parts[0] not in ROOMS:
        return None
    for count in range(len(parts), 0, -1):
        if (folder := TESTS.joinpath(*parts[:count])).is_dir():
            return folder
    return None


def _modules_naming(place: Path) -> list[str]:
    """Return the modules of a room that read a data file: those that name it, or its folder."""
    parts = place.relative_to(ROOT).parts
    if parts[0] not in ROOMS:
        return []
    sources = [
        (name, path.read_text())
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if (name := name_of(path))
    ]
    folder = ".".join(("mltd", *parts[:-1]))
    for word in (place.name, f'"{folder}"', folder):
        if naming := [name for name, text in sources if word in text]:
            return naming
    return []


def explain(chosen: dict[Path, Reason]) -> None:
    """Print which tests are run, and why."""
    groups: dict[Reason, list[str]] = {}
    for path, reason in chosen.items():
        groups.setdefault(reason, []).append(str(path.relative_to(ROOT)))
    print(f"tests: {len(chosen)} files, nearest first; of these what is {WANTED}")
    for reason, paths in groups.items():
        print(f"  {reason.text}: {shortened(paths)}")


def shortened(names: list[str]) -> str:
    """Name some, and count the rest."""
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


# -- checks --------------------------------------------------------------------------------------


def run(tool: str, *words: str, quiet: bool = False) -> int:
    """Run a tool of this environment; its exit code."""
    command = [str(Path(sys.executable).with_name(tool)), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=quiet, text=True, check=False)
    if quiet and done.returncode:
        print(done.stdout, done.stderr, sep="")
    return done.returncode


Checker = tuple[subprocess.Popen[str], IO[str]]


def start_types(changed: list[str]) -> tuple[Checker, ...]:
    """Start mypy on everything: what it knows from its last time makes that cheap."""
    own = {OWN[2], OWN[3], "hatch_build.py"}
    further = [file for file in changed if file.endswith(".py") and file.split("/")[0] in own]
    further = [file for file in further if (ROOT / file).is_file()]
    missing = [] if has_trainers() else ["--disable-error-code=import-not-found"]
    commands = [missing, *([[*missing, *further]] if further else [])]
    return tuple(_start_mypy(command) for command in commands)


def _start_mypy(words: list[str]) -> Checker:
    output = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed when mypy has ended
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, text=True), output


def finish_types(*checkers: Checker) -> int:
    """Wait for mypy and print what it says of modules that can be checked here; 1 for errors."""
    is_bad = False
    for process, output in checkers:
        code = process.wait()
        output.seek(0)
        lines = [line for line in output.read().splitlines() if is_about_us(line)]
        output.close()
        print(*lines, sep="\n", end="\n" if lines else "")
        is_bad |= code > 1 or any(": error:" in line for line in lines)
    return int(is_bad)


def is_about_us(line: str) -> bool:
    """Tell whether a line of mypy holds also where nothing that trains is installed."""
    if has_trainers():
        return True
    place = line.partition(":")[0].replace(".editable/mltd/", "")
    name = name_of(ROOT / place)
    return name is None or (TRAINERS.isdisjoint(all_imports(name)) and not needs_trainer(name))


def has_trainers() -> bool:
    """Tell whether torch can be imported, without importing it."""
    try:
        return find_spec("torch") is not None
    except ImportError:
        return False


def run_tests(chosen: dict[Path, Reason]) -> tuple[int, int]:
    """Run the chosen tests; the exit code, and how many time left no room for."""
    plan = {str(path.relative_to(ROOT)): reason.rank for path, reason in chosen.items()}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "plan.json")
        place.write_text(json.dumps(plan))
        environment = os.environ | {PLAN: str(place)}
        command = [sys.executable, "-m", "pytest", "-p", "tests.quick", "-q", "-m", WANTED]
        command += ["-n", os.environ.get("JOBS", "2"), *plan]
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        left = int(counted.read_text()) if (counted := _count_beside(place)).exists() else 0
    return (0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code), left


def _count_beside(plan: Path) -> Path:
    return plan.with_name("left")


# -- inside pytest -------------------------------------------------------------------------------


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the nearest tests first, and those that are dear last among equals."""
    plan: dict[str, int] = json.loads(Path(os.environ[PLAN]).read_text())
    is_dear = {item: item.get_closest_marker("pilot") is not None for item in items}
    items.sort(key=lambda item: (plan.get(item.nodeid.partition("::")[0], 9), is_dear[item]))


class Clock:
    """Time since the first test of a process."""

    def __init__(self) -> None:
        self.began = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Leave the rest to `make test` when time is over."""
        self.began = self.began or time.monotonic()
        if time.monotonic() > self.began + SECONDS:
            pytest.skip(TOO_LATE)


def pytest_configure(config: pytest.Config) -> None:
    """Watch the time."""
    config.pluginmanager.register(Clock())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell the process that started the tests how many were left out."""
    late = [each for each in terminalreporter.getreports("skipped") if is_late(each)]
    _count_beside(Path(os.environ[PLAN])).write_text(str(len(late)))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count what time left no room for, but draw no letter for each."""
    return ("skipped", "", "") if is_late(report) else None


def is_late(report: pytest.TestReport) -> bool:
    """Tell whether a test was left out for want of time."""
    return report.skipped and TOO_LATE in str(report.longrepr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
