"""Excerpts: the very lines that the evidence names, as the file has them."""

from __future__ import annotations

import gzip
from pathlib import Path

from mltd.analyzers.diagnosis import diagnose
from mltd.runs.discovery import explore
from mltd.runs.ingest import load
from mltd.runs.run import Run
from mltd.sessions.report.excerpts import MOST_LINES, excerpts_of
from mltd.sessions.report.pieces import Piece


def a_run(path: Path) -> Run:
    return load(explore(str(path)).runs[0]).run


def at(name: str, line: int, why: str = "H1") -> Piece:
    return Piece("log", f"{name}:{line}", "", why)


def test_neighbours_are_shown_and_near_excerpts_become_one(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"line {n}\n" for n in range(1, 101)))
    (second, first), problems = excerpts_of(
        a_run(log), [at("train.log", 50), at("train.log", 2), at("train.log", 53, "H2")]
    )
    assert not problems
    assert [line.number for line in first.lines] == [1, 2, 3, 4, 5]
    assert [line.number for line in second.lines] == list(range(47, 57))
    assert [line.number for line in second.lines if line.is_evidence] == [50, 53]
    assert second.why == "H1, H2"
    assert second.lines[3].text == "line 50"


def test_excerpts_stand_in_the_order_of_the_evidence_whatever_file_they_are_from(
    tmp_path: Path,
) -> None:
    for name in ("train.log", "train.err"):
        (tmp_path / name).write_text("".join(f"step {n} loss 1.0\n" for n in range(1, 101)))
    named = [at("train.err", 90), at("train.log", 50), at("train.err", 10), at("train.log", 5)]
    found, _ = excerpts_of(a_run(tmp_path), named)
    assert [(one.file, one.lines[3].number) for one in found] == [
        ("train.err", 90), ("train.log", 50), ("train.err", 10), ("train.log", 5),
    ]  # fmt: skip


def test_two_excerpts_that_a_third_joins_are_one(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"line {n}\n" for n in range(1, 101)))
    named = [at("train.log", 60, "H2"), at("train.log", 50), at("train.log", 55, "H3")]
    (one,), _ = excerpts_of(a_run(log), named)
    assert [line.number for line in one.lines] == list(range(47, 64))
    assert one.why == "H2, H1, H3"


def test_a_whole_traceback_is_shown_and_cut_in_the_middle(tmp_path: Path) -> None:
    log = tmp_path / "train.err"
    frames = "".join(f'  File "a.py", line {n}, in f\n    g({n})\n' for n in range(1, 60))
    log.write_text("start\nTraceback (most recent call last):\n" + frames + "ValueError: no\nend\n")
    (excerpt,), _ = excerpts_of(a_run(log), [at("train.err", 121)])
    texts = [line.text for line in excerpt.lines]
    assert "Traceback (most recent call last):" in texts
    assert "ValueError: no" in texts
    assert len(excerpt.lines) <= MOST_LINES + 1
    assert excerpt.lines[-1].number - excerpt.lines[0].number > 100


def test_a_progress_bar_shows_its_last_state_and_codes_are_gone(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"a\n10%\r50%\r\x1b[31m100% done\x1b[0m\r\nb\n")
    (excerpt,), _ = excerpts_of(a_run(log), [at("train.log", 2)])
    assert excerpt.lines[1].text == "100% done"


def test_a_packed_log_is_read_like_any_other(tmp_path: Path) -> None:
    log = tmp_path / "train.log.gz"
    log.write_bytes(gzip.compress(b"".join(b"step %d loss 1.0\n" % n for n in range(1, 40))))
    (excerpt,), _ = excerpts_of(a_run(log), [at("train.log.gz", 20)])
    assert excerpt.lines[3].text == "step 20 loss 1.0"


def test_a_log_that_is_gone_meanwhile_is_a_sentence(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("a\nb\n")
    run = a_run(log)
    log.unlink()
    excerpts, problems = excerpts_of(run, [at("train.log", 1)])
    assert not excerpts
    assert "train.log could not be read again" in problems[0]


def test_an_excerpt_that_begins_inside_a_key_does_not_show_it(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    key = "".join(f"secretsecret{n}\n" for n in range(30))
    log.write_text(f"-----BEGIN RSA PRIVATE KEY-----\n{key}-----END RSA PRIVATE KEY-----\nerror\n")
    (excerpt,), _ = excerpts_of(a_run(log), [at("train.log", 30)])
    assert not any("secretsecret" in line.text for line in excerpt.lines)
    assert excerpt.lines[-1].text == "error"


def test_lines_of_the_corpus_say_what_the_evidence_quotes(corpus: Path) -> None:
    names = (
        "hf/sft-disk-quota.err",
        "slurm/tqdm-only-cancelled.out",
        "speechbrain/log-interrupted-crlf.txt",
        "plain/utf16-conda-error.log",
        "wandb/device-mismatch-output.log",
    )
    for name in names:
        run = a_run(corpus / name)
        pieces = [
            Piece("log", evidence.ref, evidence.quote, finding.id)
            for finding in diagnose(run).findings
            for evidence in finding.evidence
            if evidence.kind.value == "log"
        ]
        excerpts, problems = excerpts_of(run, pieces)
        assert not problems
        assert pieces
        shown = {f"{e.file}:{line.number}": line.text for e in excerpts for line in e.lines}
        for piece in pieces[:4]:
            assert piece.quote.split()[0] in shown[piece.ref], (name, piece)
