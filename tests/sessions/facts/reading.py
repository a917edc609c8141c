"""Runs that printed something, and what is gathered from them."""

from __future__ import annotations

from pathlib import Path

from mltd.analyzers.core.verdict import Diagnosis
from mltd.runs.errors import MltdError
from mltd.runs.ingest import read_file
from mltd.runs.run import Run
from mltd.runs.sources.inputs import open_bytes
from mltd.runs.sources.line_text import shown_text
from mltd.runs.sources.utf8_transcoder import Utf8Transcoder
from mltd.sessions.facts.gather import gather
from mltd.sessions.facts.gathered import Gathered
from mltd.sessions.model.constraints import Fact, Topic
from mltd.sessions.model.evidence import RefKind

STEPS = "".join(f"step {n} loss {3 - n / 20:.3f}\n" for n in range(20))


def read_run(folder: Path, text: str | bytes, name: str = "train.log") -> Run:
    """A finished run whose log is a file."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    run = Run(name)
    run.is_over = True
    read_file(run, str(path))
    return run


def gathered(
    folder: Path,
    text: str | bytes,
    config: dict[str, object] | None = None,
    diagnosis: Diagnosis | None = None,
) -> Gathered:
    """What is gathered from a log with some steps behind what it says."""
    run = read_run(folder, text)
    run.add_config(config or {})
    return gather(run, diagnosis)


def fact(folder: Path, topic: Topic, said: str, config: dict[str, object] | None = None) -> str:
    """The value that a log which begins like this gives to one question; empty for none."""
    found = gathered(folder, said + "\n" + STEPS, config).facts.get(topic)
    return found.value if found is not None else ""


def standing_lines(path: str) -> list[str]:
    """The lines of a file as text that is safe to show, the first at index 1."""
    try:
        with open_bytes(path) as stream:
            data = Utf8Transcoder().feed(stream.read(), final=True)
    except (OSError, MltdError):
        return [""]
    return ["", *(shown_text(line.removesuffix(b"\r")).text for line in data.split(b"\n"))]


def check_fact(found: Fact, run: Run) -> None:
    """Short, printable, marked as read, and its quotes really stand where it says."""
    assert 0 < len(found.value) <= 200
    assert found.value.isprintable()
    assert found.is_prefilled
    assert found.evidence
    paths = {source.path.rpartition("/")[2]: source.path for source in run.files}
    for evidence in found.evidence:
        assert len(evidence.quote) <= 200
        if evidence.kind is RefKind.LOG:
            name, _, number = evidence.ref.rpartition(":")
            lines = standing_lines(paths[name])
            assert evidence.quote in lines[int(number)], evidence.ref
        else:
            assert evidence.ref.startswith("config:")
