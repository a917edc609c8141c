"""What loggers and launchers put in front of a message."""

from __future__ import annotations

import pytest

from mltd.runs.text.prefix import read_prefix

MESSAGE = "loss: 2.0"


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "   ",
        "2024-01-31 10:00:00,123 - INFO - ",
        "[2024-01-31 10:00:00,123][valid][INFO] - ",
        "[trainer] 2024-01-31 10:00:00 ",
        "2024-01-31 10:00:00 host train.py:42 INFO: ",
        "I0821 09:21:09.4  5405 solver.cpp:359] ",
        "INFO:tensorflow:",
        "[rank3]: ",
        "[rank0]:[titan] 2026-05-19 19:31:29,955 - root - INFO - ",
        "10:00:00 | WARNING | ",
        "2024-01-31 10:00:00.123 | INFO     | __main__:train:97 - ",
        "2024-01-31 10:00:00.123 | INFO     | pkg.loop:<module>:7 - ",
        "Jan 31 10:00:00 2024 ERROR ",
        "(TaskRunner pid=12231) ",
        "(RayTrainWorker pid=12231, ip=10.0.0.3) ",
        "[1,mpirank:3,algo-1]<stdout>:",
        "03/05/2024 09:12:38 [INFO|DP=0|PP=1|TP=0|node-3]: ",
        "2024-01-31 10:00:00,123 (asr.train) INFO: ",
    ],
)
def test_the_message_begins_behind_the_prefix(prefix: str) -> None:
    line = prefix + MESSAGE
    assert line[read_prefix(line).end :] == MESSAGE


@pytest.mark.parametrize(
    ("stamp", "kind"),
    [
        ("2024-01-31 10:00:00,123", "iso"),
        ("2024-01-31T10:00:00", "iso"),
        ("01/31/24 10:00:00", "short"),
        ("01/31/2024, 10:00:00 AM", "short"),
        ("01-31 10:00:00", "month"),
        ("Wed Jan 31 10:00:00 2024", "ctime"),
        ("10:00:00.5", "clock"),
    ],
)
def test_kind_and_place_of_the_timestamp(stamp: str, kind: str) -> None:
    prefix = read_prefix(f"[{stamp}] {MESSAGE}")
    assert (prefix.stamp, prefix.stamp_span) == (kind, (1, 1 + len(stamp)))


def test_a_step_in_brackets_behind_a_prefix_belongs_to_the_message() -> None:
    line = "I0220 05:39:55.451117 628453 logging_writer.py:48] [20] train/loss=1.46833"
    assert line[read_prefix(line).end :] == "[20] train/loss=1.46833"


def test_the_first_of_two_timestamps_counts() -> None:
    assert read_prefix(f"10:00:00 2024-01-31 10:00:01 {MESSAGE}").stamp == "clock"


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2024-01-31 10:00:00 - WARNING - x 1", "WARNING"),
        ("[10:00:00] [E] x 1", "E"),
        ("10:00:00 x 1", ""),
        ("10:00:00 INFO [E] x 1", "INFO"),
    ],
)
def test_the_level(line: str, level: str) -> None:
    assert read_prefix(line).level == level


def test_rank_and_its_place() -> None:
    prefix = read_prefix("[default7]:[rank3]: loss: 2.0")
    assert (prefix.rank, prefix.rank_span) == (7, (8, 9))


@pytest.mark.parametrize(
    "line",
    ["[2024-01-31 10:00:00,123][valid][INFO] - x 1", "[2024-01-31 10:00:00,123 valid] x 1"],
)
def test_brackets_of_the_logger_are_kept_as_a_tag(line: str) -> None:
    assert "valid" in read_prefix(line).tag


@pytest.mark.parametrize("line", ["step 3 loss 2.0", "[3/20] loss: 2.0", "Epoch - 3"])
def test_a_line_without_prefix_is_all_message(line: str) -> None:
    assert read_prefix(line).end == 0


def test_a_letter_that_counts_is_no_level() -> None:
    line = "[2024-03-01 10:00:00][INFO][E 3/20] loss 2.1"
    assert line[read_prefix(line).end :] == "[E 3/20] loss 2.1"
