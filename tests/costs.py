"""CPU time of every test, its children's included: the plugin behind `make test-costs`."""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pytest

KEY = "cpu"
ELSEWHERE = "(imports, collection and the end of fixtures)"


class Cost(NamedTuple):
    """Seconds of CPU time in this process and in the children it waited for, and of the clock."""

    own: float
    children: float
    wall: float


def spent() -> Cost:
    """Return the cost of this process since its beginning."""
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return Cost(
        own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime, time.monotonic()
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the file that the costs are written to."""
    parser.addoption("--costs", metavar="FILE", help="write the CPU time of every test to FILE")


class Recorder:
    """Measure tests where they run; gather and print where the run was started."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.costs: dict[str, Cost] = {}
        self.processes: list[list[float]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Put the cost of a test, with that of the fixtures it is the first to need, on it."""
        before = spent()
        result = yield
        after = spent()
        cost = Cost(*(late - early for late, early in zip(after, before, strict=True)))
        self.costs[item.nodeid] = cost
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand what a worker measured to the process that started it."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[KEY] = {"tests": {k: list(v) for k, v in self.costs.items()}}
            output[KEY]["process"] = list(spent())[:2]

    def pytest_testnodedown(self, node: object) -> None:
        """Take what a worker has measured."""
        told = getattr(node, "workeroutput", {}).get(KEY)
        if told:
            self.costs.update((name, Cost(*cost)) for name, cost in told["tests"].items())
            self.processes.append(told["process"])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the dearest folders, files and tests; write all of them to the file."""
        processes = self.processes or [list(spent())[:2]]
        total = sum(map(sum, processes))
        rows = sorted(self.costs.items(), key=lambda row: -(row[1].own + row[1].children))
        with open(self.path, "w") as file:
            for name, cost in rows:
                file.write(f"{cost.own:.3f}\t{cost.children:.3f}\t{cost.wall:.3f}\t{name}\n")
            rest = total - sum(cost.own + cost.children for _, cost in rows)
            file.write(f"{rest:.3f}\t0.000\t0.000\t{ELSEWHERE}\n")
        write = terminalreporter.write_line
        terminalreporter.section(f"CPU time: {total / 60:.1f} minutes")
        write(f"{rest:8.1f} s  {ELSEWHERE}")
        for heading, part in (("folders", folder_of), ("files", file_of), ("tests", str)):
            write(f"The dearest {heading}:")
            sums: dict[str, float] = defaultdict(float)
            for name, cost in rows:
                sums[part(name)] += cost.own + cost.children
            for name, seconds in sorted(sums.items(), key=lambda row: -row[1])[:15]:
                write(f"{seconds:8.1f} s  {name}")
        write(f"All of them: {self.path}")


def file_of(name: str) -> str:
    """Return the file that a test stands in."""
    return name.partition("::")[0]


def folder_of(name: str) -> str:
    """Return the folder that a test stands in, below that of its room."""
    return "/".join(file_of(name).split("/")[:3][:-1] or [file_of(name)])


def pytest_configure(config: pytest.Config) -> None:
    """Record where a file is named."""
    if path := config.getoption("--costs"):
        config.pluginmanager.register(Recorder(path), "test-costs")
