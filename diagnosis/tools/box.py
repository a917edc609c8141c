"""All tools in one box: a call never raises, never writes and never takes long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from mltd.runs.errors import MltdError

from ..artifacts import ArtifactBook
from .checkpoint_summary import CHECKPOINT_SUMMARY
from .compare_runs import COMPARE_RUNS
from .findings import FINDINGS
from .grep import GREP
from .list_artifacts import LIST_ARTIFACTS
from .query_series import QUERY_SERIES
from .read_config import READ_CONFIG
from .read_lines import READ_LINES
from .read_source import READ_SOURCE, kept_source
from .rendering import render
from .tool import Bench, Page, Tool, ToolResult, ToolSpec

if TYPE_CHECKING:
    from mltd.analyzers.core.verdict import Diagnosis
    from mltd.runs.run import Run
    from mltd.sessions.masking import Masker

TOOLS: tuple[Tool[Any], ...] = (
    LIST_ARTIFACTS,
    FINDINGS,
    READ_LINES,
    GREP,
    QUERY_SERIES,
    READ_CONFIG,
    READ_SOURCE,
    CHECKPOINT_SUMMARY,
    COMPARE_RUNS,
)


class ToolBox:
    """The read-only tools for one session; runs and diagnoses have the keys that the book has."""

    def __init__(
        self,
        book: ArtifactBook,
        runs: Mapping[str, Run],
        diagnoses: Mapping[str, Diagnosis],
        masker: Masker | None = None,
    ) -> None:
        if masker is None:
            from mltd.sessions.masking import Masker

            masker = Masker()
        named = book.run_names
        called = {named.get(key, key): run for key, run in runs.items()}
        self._bench = Bench(book, called, {}, masker, kept_source(called))
        self.renew(diagnoses)
        self._tools = {tool.name: tool for tool in TOOLS}

    def renew(self, diagnoses: Mapping[str, Diagnosis]) -> None:
        """Tell from now on what the analyzers say by now."""
        named = self._bench.book.run_names
        self._bench.diagnoses = {named.get(key, key): one for key, one in diagnoses.items()}

    def reads_runs(self, name: str) -> bool:
        """Whether a tool looks at what changes while runs are read, and not at files alone."""
        tool = self._tools.get(name)
        return tool is not None and tool.reads_runs

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model is told about them, always in the same order."""
        return tuple(tool.spec for tool in self._tools.values())

    def call(self, name: str, arguments: Mapping[str, object] | None) -> ToolResult:
        """Do what a model asks for; whatever goes wrong is said in a sentence."""
        try:
            page = self._page(name, arguments)
            return render(page, self._bench.masker)
        except Exception as problem:  # noqa: BLE001 - a broken tool must not end a consultation
            sentence = f"{name} failed here: {type(problem).__name__}: {problem}"
            return render(_refusal(str(name), sentence), self._bench.masker)

    def _page(self, name: str, arguments: Mapping[str, object] | None) -> Page:
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            return _refusal(
                str(name), f"there is no tool {name!r}; there is {', '.join(self._tools)}"
            )
        if not isinstance(arguments, Mapping | None):
            return _refusal(name, f"the arguments of {name} must be an object")
        try:
            return tool.call(self._bench, arguments or {})
        except ValidationError as problem:
            return _refusal(name, _wrong_arguments(tool, problem))
        except MltdError as problem:
            return _refusal(name, str(problem))


def _refusal(name: str, sentence: str) -> Page:
    return Page(brief=f"{name}: {sentence}", head=sentence, is_error=True)


def _wrong_arguments(tool: Tool[Any], problem: ValidationError) -> str:
    """Which argument is wrong, why, and what it should be."""
    told: list[str] = []
    for error in problem.errors(include_url=False, include_context=False)[:4]:
        place = ".".join(map(str, error["loc"]))
        known = tool.arguments.model_fields.get(str(error["loc"][0])) if error["loc"] else None
        meant = f" ({known.description})" if known is not None and known.description else ""
        if error["type"] == "extra_forbidden":
            there = ", ".join(tool.arguments.model_fields)
            told.append(f"there is no argument {place!r}, only {there}")
        elif error["type"] == "missing":
            told.append(f"argument {place!r} is missing{meant}")
        else:
            given = repr(error["input"])[:80]
            told.append(f"argument {place!r} is wrong: {error['msg'].lower()}, not {given}{meant}")
    return "; ".join(told) or "the arguments are wrong"
