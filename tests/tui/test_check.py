"""`mltd-tui check`: the JSON contract, exit codes, and clear sentences for bad input."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import socket
from pathlib import Path
from typing import Any

import pytest
import zstandard

from mltd.analyzers.core.finding import Finding
from mltd.runs.ingest import read_file
from mltd.runs.run import Run
from mltd.tui.cli import main
from mltd.tui.plain_text import render_run
from tests.analyzers.made import MadeAnalyzer, finding, registered

LOG = "".join(f"step {i}/100: loss {3 / (i + 1):.4f}, lr 1e-3\n" for i in range(20))


class Outcome:
    """What a command printed and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        self.documents: list[dict[str, Any]] = [
            json.loads(line) for line in out.splitlines() if line.startswith("{")
        ]

    def series(self, name: str, document: int = 0) -> dict[str, Any]:
        found = self.documents[document]["run"]["series"]
        return next(series for series in found if series["name"] == name)


@pytest.fixture
def check(capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    def run(*arguments: str | Path) -> Outcome:
        code = main(["check", "--json", *map(str, arguments)])
        out, err = capfdbinary.readouterr()
        return Outcome(code, out.decode(), err.decode())

    return run


def assert_one_clear_sentence(outcome: Outcome, *words: str) -> None:
    assert outcome.code == 2
    (sentence,) = outcome.err.splitlines()
    assert sentence.startswith("mltd-tui: ")
    assert "Traceback" not in sentence
    for word in words:
        assert word in sentence, sentence


def test_the_document_has_the_shape_of_the_contract(check: Any, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(LOG)
    outcome = check(tmp_path / "train.log")
    assert outcome.code == 0
    (document,) = outcome.documents
    assert list(document) == [
        "schema", "status", "run", "findings", "root_causes", "ties", "quick_fixes",
        "recommended_fixes", "requests", "analysis_artifacts", "seconds",
    ]  # fmt: skip
    assert (document["schema"], document["status"]) == (1, "healthy")
    run = document["run"]
    assert run["files"] == [
        {
            "path": str(tmp_path / "train.log"),
            "format": "text",
            "bytes": len(LOG),
            "lines": 20,
            "generations": 1,
        }
    ]
    loss = outcome.series("loss")
    assert (loss["role"], loss["x"], loss["points"]) == ("train/loss", "step", 20)
    assert (loss["first"], loss["last"]) == ([0, 3], [19, 0.15])
    assert (loss["min"], loss["max"], loss["nan"], loss["inf"]) == ([19, 0.15], [0, 3], 0, 0)
    assert run["totals"] == {"step": 100}


def test_what_is_not_finite_is_written_as_text(check: Any, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("step 0 loss nan\nstep 1 loss inf\nstep 2 loss -inf\n")
    loss = check(tmp_path / "a.log").series("loss")
    assert (loss["first"], loss["last"]) == ([0, "nan"], [2, "-inf"])
    assert (loss["min"], loss["nan"], loss["inf"]) == (None, 1, 2)


def test_an_exception_is_an_event_with_frames_and_source(check: Any, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("a = 1\nb = 2\nraise ValueError('bad')\nc = 3\n")
    (tmp_path / "train.err").write_text(
        "step 5 loss 1.0\nTraceback (most recent call last):\n"
        f'  File "{tmp_path}/model.py", line 3, in forward\n'
        "    raise ValueError('bad')\nValueError: bad\n"
    )
    (event,) = check(tmp_path / "train.err").documents[0]["run"]["events"]
    assert event["kind"] == "exception"
    assert (event["line"], event["last_line"], event["offset"], event["step"]) == (2, 5, 16, 5)
    assert event["exception"] == "ValueError"
    assert event["frames"][0]["function"] == "forward"
    assert "b = 2" in event["source"][f"{tmp_path}/model.py:3"]


def test_config_beside_the_log_and_in_the_log(check: Any, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"optimizer": {"lr": 0.1}, "seed": 3}')
    (tmp_path / "train.log").write_text("Namespace(lr=0.2, model='vit')\n" + LOG)
    config = check(tmp_path).documents[0]["run"]["config"]
    assert config["optimizer"] == {"lr": 0.1}
    assert config["seed"] == 3
    assert config["model"] == "vit"


def test_several_runs_are_several_documents(check: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.log").write_text(LOG)
    assert len(check(tmp_path / "a.log", tmp_path / "b.log").documents) == 2


def test_one_bad_input_does_not_spoil_the_others(check: Any, tmp_path: Path) -> None:
    (tmp_path / "good.log").write_text(LOG)
    outcome = check(tmp_path / "missing.log", tmp_path / "good.log")
    assert_one_clear_sentence(outcome, "missing.log")
    assert outcome.series("loss")["points"] == 20


def test_a_missing_file_suggests_what_is_there(check: Any, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(LOG)
    assert_one_clear_sentence(check(tmp_path / "trian.log"), "trian.log", "train.log")


def test_a_file_that_may_not_be_read(
    check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.log"
    secret.write_text(LOG)
    secret.chmod(0)
    if os.geteuid() == 0:
        # The superuser may read everything, so the refusal is the system's own in another way.
        real = os.open

        def refuse(path: Any, *rest: Any, **more: Any) -> int:
            if os.fspath(path) == str(secret):
                raise PermissionError(13, "Permission denied", str(secret))
            return real(path, *rest, **more)

        monkeypatch.setattr(os, "open", refuse)
    assert_one_clear_sentence(check(secret), "secret.log", "may not be read")


def test_an_empty_file_is_a_run_without_metrics(check: Any, tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    outcome = check(tmp_path / "empty.log")
    assert outcome.code == 0
    assert outcome.documents[0]["status"] == "no_metrics"
    run = outcome.documents[0]["run"]
    assert run["files"][0]["format"] == "empty"
    assert (run["state"], run["state_reason"]) == ("unknown", "the log is empty so far")


def test_a_blank_file_is_as_empty_as_an_empty_one(check: Any, tmp_path: Path) -> None:
    (tmp_path / "blank.log").write_text("\n")
    run = check(tmp_path / "blank.log").documents[0]["run"]
    assert (run["state"], run["state_reason"]) == ("unknown", "the log is empty so far")


def test_binary_data(check: Any, tmp_path: Path) -> None:
    (tmp_path / "noise.log").write_bytes(bytes(range(256)) * 64)
    assert_one_clear_sentence(check(tmp_path / "noise.log"), "noise.log", "binary")


def test_a_fifo_would_hang_and_is_refused(check: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert_one_clear_sentence(check(tmp_path / "pipe"), "pipe", "standard input")


def test_a_socket(check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the address of a socket has a longest length
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert_one_clear_sentence(check(tmp_path / "s"), "socket")


def test_a_directory_that_loops_into_itself(check: Any, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "train.log").write_text(LOG)
    (tmp_path / "run" / "again").symlink_to(tmp_path / "run")
    outcome = check(tmp_path / "run")
    assert outcome.code == 0
    assert len(outcome.documents) == 1


def test_a_link_to_itself(check: Any, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert_one_clear_sentence(check(tmp_path / "loop"), "loop")


def test_long_lines_bad_utf8_and_nul_bytes(check: Any, tmp_path: Path) -> None:
    data = b"x" * 10_000_000 + b"\n\xff\xfe\x80 step 1 loss 2.5\nst\x00ep 2 loss\x00 1.5\n"
    (tmp_path / "odd.log").write_bytes(b"step 0 loss 3.5\n" + data)
    outcome = check(tmp_path / "odd.log")
    assert outcome.code == 0
    assert outcome.series("loss")["last"] == [2, 1.5]


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".bz2", bz2.compress),
        (".zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_compressed_logs_are_read(check: Any, tmp_path: Path, suffix: str, compress: Any) -> None:
    path = tmp_path / f"train.log{suffix}"
    path.write_bytes(compress(LOG.encode()))
    outcome = check(path)
    assert outcome.series("loss")["points"] == 20
    path.write_bytes(compress(LOG.encode() * 200)[:-20])
    cut = check(path)
    assert cut.documents[0]["run"]["files"][0]["note"]


def test_a_csv_that_is_no_training_has_no_metrics(check: Any, tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("city,country,zip\nParis,FR,75000\nRome,IT,118\n")
    assert check(tmp_path / "metrics.csv").documents[0]["status"] == "no_metrics"


def test_a_broken_config_file_of_the_user(check: Any, tmp_path: Path, own_home: Path) -> None:
    (tmp_path / "train.log").write_text(LOG)
    folder = own_home / ".config" / "mltd"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[[pattern]\nregex = '(?P<loss>'\n")
    assert_one_clear_sentence(check(tmp_path / "train.log"), "config.toml", "line 1")


def test_a_mistake_in_the_config_file_is_told_and_the_check_goes_on(
    check: Any, tmp_path: Path, own_home: Path
) -> None:
    (tmp_path / "train.log").write_text(LOG)
    config = own_home / ".config" / "mltd" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[scren]\n[[pattern]]\nregex = '(?P<loss>'\n")
    answer = check(tmp_path / "train.log")
    assert answer.code == 0
    first, second = answer.err.splitlines()
    assert first == (
        f"mltd-tui: {config}:1: unknown table [scren], ignored (did you mean [screen]?)"
    )
    assert second.startswith(f"mltd-tui: {config}:3: the regex of 'pattern 1' is malformed")


def test_the_users_patterns_and_roles_overrule_ours(
    check: Any, tmp_path: Path, own_home: Path
) -> None:
    (tmp_path / "train.log").write_text("T1 8.5 0.1\nT2 7.5 0.2\n")
    folder = own_home / ".config" / "mltd"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        "[roles]\n'zeta' = 'train/loss'\n"
        "[[pattern]]\nname='mine'\nregex = '^T(?P<step>\\d+) (?P<zeta>\\S+) (?P<eta>\\S+)$'\n"
    )
    zeta = check(tmp_path / "train.log").series("zeta")
    assert (zeta["role"], zeta["first"], zeta["last"]) == ("train/loss", [1, 8.5], [2, 7.5])


def test_standard_input(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").write_text(LOG)
    with (tmp_path / "in").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["check", "-"]) == 0
    out = capfd.readouterr().out
    assert "train/loss" in out
    # It ends at step 19 of 100.
    assert "nothing wrong was logged" in out


def test_the_text_form_says_what_is_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.log").write_text(
        LOG + "step 20 loss nan\nRuntimeError: \x1b]0;evil\x07boom\n"
    )
    assert main([str(tmp_path / "train.log")]) == 1
    out = capfd.readouterr().out
    assert "1 not finite" in out
    assert "RuntimeError" in out
    assert "\x1b" not in out


def test_without_a_terminal_and_a_name_it_says_what_to_type(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    assert "try: mltd-tui check WHAT" in capfd.readouterr().err


@pytest.mark.parametrize("columns", [80, 60, 200])
def test_text_fits_the_terminal(tmp_path: Path, columns: int) -> None:
    (tmp_path / "train.log").write_text(LOG + "RuntimeError: " + "boom " * 60 + "\n")
    run = Run("a training with a rather long name that says a lot")
    read_file(run, str(tmp_path / "train.log"))
    lines = list(render_run(run, columns=columns))
    assert max(map(len, lines)) <= columns
    assert any(line.lstrip().startswith("loss ") for line in lines)
    assert any("█" in line for line in lines) or columns < 80


# -- the answer -------------------------------------------------------------------------------

DIVERGES = LOG + "".join(f"step {i}: loss nan, lr 1e-3\n" for i in range(20, 40))


def test_the_exit_code_says_whether_someone_should_look(check: Any, tmp_path: Path) -> None:
    (tmp_path / "good.log").write_text(LOG)
    (tmp_path / "bad.log").write_text(DIVERGES)
    assert check(tmp_path / "good.log").code == 0
    bad = check(tmp_path / "bad.log")
    assert bad.code == 1
    found = {finding["id"]: finding for finding in bad.documents[0]["findings"]}
    assert found["nan_loss"]["severity"] == "critical"
    assert bad.documents[0]["status"] in ("needs_more_data", "diagnosis_complete")
    assert check(tmp_path / "bad.log", tmp_path / "good.log").code == 1
    assert check(tmp_path / "bad.log", tmp_path / "missing.log").code == 2


def test_the_answer_comes_before_metrics_and_events(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.log").write_text(DIVERGES)
    assert main([str(tmp_path / "bad.log")]) == 1
    out = capfd.readouterr().out
    assert out.index("bad.log") < out.index("critical") < out.index("Findings")
    assert out.index("nan_loss") < out.index("metric ")


def test_findings_of_the_comparison_reach_the_runs_they_are_about(
    check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.log").write_text(LOG)
    seen: list[list[str]] = []

    def compare(runs: list[Run]) -> dict[str, tuple[Finding, ...]]:
        seen.append([run.name for run in runs])
        return {runs[1].name: (finding("nondeterminism"),)}

    monkeypatch.setattr("mltd.analyzers.reproducibility.sweep.compare", compare)
    first, second = check(tmp_path / "a.log", tmp_path / "b.log").documents
    assert len(seen) == 1
    assert "nondeterminism" not in [f["id"] for f in first["findings"]]
    assert "nondeterminism" in [f["id"] for f in second["findings"]]
    assert check(tmp_path / "a.log").code == 0
    assert len(seen) == 1


def test_a_comparison_that_fails_spoils_no_run(
    check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.log").write_text(LOG)

    def compare(runs: list[Run]) -> dict[str, tuple[Finding, ...]]:
        raise ValueError("odd runs")

    monkeypatch.setattr("mltd.analyzers.reproducibility.sweep.compare", compare)
    outcome = check(tmp_path / "a.log", tmp_path / "b.log")
    assert len(outcome.documents) == 2
    assert "odd runs" in outcome.err


def test_an_analyzer_that_fails_is_reported_once(check: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.log").write_text(LOG)
    broken = MadeAnalyzer(finding("made"), error=ZeroDivisionError("by zero"))
    with registered([broken]):
        outcome = check(tmp_path / "a.log", tmp_path / "b.log")
    assert len(outcome.documents) == 2
    assert outcome.err.count("ZeroDivisionError") == 1


def test_the_demo_shows_findings_beside_the_truth(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capfd.readouterr().out
    assert "nan_loss" in out
    assert "Right answers: lr_too_high." in " ".join(out.split())
    healthy = out[out.index("A character model that learns as it should") :]
    assert healthy.index("healthy: nothing found") < healthy.index("what was really done")
