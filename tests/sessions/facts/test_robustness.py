"""Any bytes, any file that went away, any corpus log: facts are short, printable and true."""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.errors import InputError
from mltd.runs.ingest import read_file, read_stream
from mltd.runs.run import Run
from mltd.runs.sources.inputs import InputStream, open_bytes
from mltd.sessions.facts.gather import gather
from mltd.sessions.facts.lines import HEAD_BYTES
from mltd.sessions.model.constraints import Topic
from tests.blow_up import no_blow_up
from tests.runs.formats.corpus import corpus_directory, corpus_entries

from .reading import STEPS, check_fact, gathered, read_run

PIECES = (
    b"seed = 42\n", b"git commit: 4f1c2ab\n", b"torch==2.1.0\n", b"GPU 0: NVIDIA A100-SXM4-80GB\n",
    b"\x1b[31mLoading dataset \x1b]0;x\x07c4\x00.json\x1b[0m\n", b"\r\r\n", b"\xff\xfe\x00",
    b"step 1 loss 2.0\n", b"Seed set to \xd9\xa3\xd9\xa4\n", b"world size: " + b"9" * 5000 + b"\n",
    b"Using device: NVIDIA " + b"A1 " * 400 + b"\n", "git commit: 4f1c2ab\u202e\u2066\n".encode(),
    b"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: x\n",
    b"2024-02-30 25:61:61 seed = 1\n", b"DATA_PATH=" + b"x" * 3000 + b"\n", b" " * 3000 + b"\n",
    b"[" * 2000 + b"seed\n", b"commit 0123456789abcdef0123456789abcdef01234567" + b"0" * 99 + b"\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=60), max_size=40))
def test_no_bytes_break_it_and_all_it_says_stands_there(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    try:
        run = read_run(folder, b"step 0 loss 1.5\n" + b"".join(pieces))
    except InputError:
        # So many control bytes that it is no text at all.
        return
    found = gather(run, diagnose(run))
    for topic, fact in found.facts.items():
        if topic is not Topic.INCIDENT_START:
            check_fact(fact, run)
    assert len(found.timeline) <= 25
    assert all(entry.text.isprintable() for entry in found.timeline)


@example({"seed": math.inf, "world_size": math.nan, "max_steps": -math.inf})
@given(
    st.dictionaries(
        st.sampled_from(["seed", "data_path", "git_sha", "world_size", "gpu", "target_loss",
                         "max_steps", "patience", "monitor", "python"]),
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=300)
        | st.lists(st.text(max_size=9), max_size=3),
    )
)  # fmt: skip
def test_no_setting_breaks_it(tmp_path_factory: pytest.TempPathFactory, config: Any) -> None:
    run = read_run(tmp_path_factory.mktemp("log"), STEPS)
    run.add_config(config)
    for fact in gather(run).facts.values():
        check_fact(fact, run)


def test_a_file_that_is_gone_says_nothing_more(tmp_path: Path) -> None:
    run = read_run(tmp_path, "seed = 42 is used: Seed set to 42\n" + STEPS)
    os.unlink(run.files[0].path)
    found = gather(run)
    assert Topic.SEEDS not in found.facts
    assert found.seen.logs[0].lines == 21


def test_a_pipe_that_took_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    failure = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n'
    run = read_run(tmp_path, "Seed set to 42\n" + STEPS + failure)
    os.unlink(run.files[0].path)
    os.mkfifo(run.files[0].path)
    assert Topic.SEEDS not in gather(run, diagnose(run)).facts


def test_a_run_from_standard_input_has_no_file_to_read() -> None:
    run = Run("-")
    read_stream(run, "standard input", iter([("Seed set to 42\n" + STEPS).encode()]))
    found = gather(run)
    assert found.facts == {}
    assert found.seen.metric_count == 1


def test_an_empty_run_gives_nothing() -> None:
    found = gather(Run("nothing"))
    assert found.facts == {}
    assert found.timeline == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_facts_are_read_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    text = "Seed set to 42\n" + STEPS
    found = gathered(tmp_path, text.encode(encoding))
    assert found.facts[Topic.SEEDS].evidence[0].ref == "train.log:1"


def test_facts_are_read_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(("hello\nSeed set to 42\n" + STEPS).encode()))
    run = Run("packed")
    read_file(run, str(path))
    assert gather(run).facts[Topic.SEEDS].evidence[0].ref == "train.log.gz:2"


def test_only_the_beginning_of_a_long_log_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = "".join(f"step {n} loss 1.5 seedling gpu torch\n" for n in range(60_000))
    run = read_run(tmp_path, "Seed set to 42\n" + filler + "Seed set to 43\n")
    opened: list[InputStream] = []
    read = 0

    def watched(path: str, root: str) -> InputStream:
        stream = open_bytes(path, root)
        real = stream.read

        def counted(size: int | None = -1) -> bytes:
            nonlocal read
            data = real(size)
            read += len(data)
            return data

        monkeypatch.setattr(stream, "read", counted)
        opened.append(stream)
        return stream

    monkeypatch.setattr("mltd.sessions.facts.lines.open_bytes", watched)
    found = gather(run)
    assert (len(opened), read) == (1, HEAD_BYTES)
    assert Path(run.files[0].path).stat().st_size > 3 * HEAD_BYTES
    assert found.facts[Topic.SEEDS].value == "seed = 42"


@pytest.mark.parametrize(
    "line",
    [
        "|  0  NVIDIA " + " " * 1900,
        "|  0  NVIDIA " + "A " * 900,
        "Found dataset " + "\\" * 1900,
        "Using device: NVIDIA " + "1-" * 900,
        "git commit " * 180,
        "torch version 1." + "1." * 900,
        "seed " * 380,
    ],
    ids=lambda line: line[:12].strip(),
)
def test_no_line_makes_a_pattern_explode(tmp_path: Path, line: str) -> None:
    run = read_run(tmp_path, STEPS)
    Path(run.files[0].path).write_text((line + "\n") * 200)
    # Two hundred lines; a pattern that goes back and forth takes a second for each.
    with no_blow_up():
        gather(run)


def test_what_is_written_meanwhile_does_not_move_the_lines(tmp_path: Path) -> None:
    log = STEPS + 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n'
    run = read_run(tmp_path, log)
    path = Path(run.files[0].path)
    path.write_text("something else altogether\n" * 50)
    found = gather(run, diagnose(run))
    for topic, fact in found.facts.items():
        if topic is not Topic.INCIDENT_START:
            check_fact(fact, run)


@pytest.mark.parametrize("entry", corpus_entries())
def test_what_is_read_from_a_real_log_stands_there(entry: dict[str, Any]) -> None:
    place = corpus_directory()
    assert place is not None
    run = Run(entry["file"])
    run.is_over = True
    read_file(run, str(place / entry["file"]))
    found = gather(run, diagnose(run))
    for topic, fact in found.facts.items():
        if topic is not Topic.INCIDENT_START:
            check_fact(fact, run)
    assert 1 <= len(found.timeline) <= 25
    moments = [entry.at for entry in found.timeline if entry.at is not None]
    assert moments == sorted(moments)
