"""Whole tracebacks become one event, whatever launchers and loggers did to them."""

from __future__ import annotations

import traceback

import pytest

from mltd.runs.event import Event, EventKind, Frame
from tests.runs.events.reading import only_event, read_events

PLAIN = """\
Traceback (most recent call last):
  File "train.py", line 610, in <module>
    main(opt)
  File "/usr/lib/python3.8/site-packages/torch/nn/modules/conv.py", line 439, in _conv_forward
    return F.conv2d(input, weight, bias, self.stride,
RuntimeError: CUDA out of memory. Tried to allocate 50.00 MiB (GPU 0; 10.92 GiB total capacity)"""


def read(text: str) -> list[Event]:
    return read_events(text.strip("\n").split("\n"))


def labelled(text: str, label: str) -> list[str]:
    return [label + line for line in text.split("\n")]


def test_a_plain_traceback_is_read_whole() -> None:
    event = only_event(f"epoch 3 begins\n{PLAIN}\nnext: 4")
    assert event.kind is EventKind.OOM
    assert (event.line, event.last_line) == (2, 7)
    assert event.exception == "RuntimeError"
    assert event.message.startswith("CUDA out of memory. Tried to allocate 50.00 MiB")
    assert event.title.startswith("RuntimeError: CUDA out of memory.")
    assert event.frames == (
        Frame("train.py", 610, "<module>", "main(opt)"),
        Frame(
            "/usr/lib/python3.8/site-packages/torch/nn/modules/conv.py",
            439,
            "_conv_forward",
            "return F.conv2d(input, weight, bias, self.stride,",
        ),
    )
    assert event.text == PLAIN


@pytest.mark.parametrize(
    ("label", "ranks"),
    [
        ("[rank3]:", (3,)),
        ("[rank3]: ", (3,)),
        ("[rank3]:[rank3]: ", (3,)),
        ("[default3]:", (3,)),
        ("3: ", (3,)),
        ("[1,3]<stderr>:", (3,)),
        ("(Actor pid=93386) ", ()),
        ("    ", ()),
        ("2023-04-29 06:01:12.977 [177/train/578 (pid 28936)] [09c561ee-a44c] ", ()),
        ("2024-05-01T10:00:00.123456789Z stderr F ", ()),
    ],
)
def test_labels_of_launchers_and_loggers_are_taken_off(label: str, ranks: tuple[int, ...]) -> None:
    (event,) = read_events(labelled(PLAIN, label))
    assert event.ranks == ranks
    assert event.exception == "RuntimeError"
    assert [frame.line for frame in event.frames] == [610, 439]
    assert event.frames[0].code == "main(opt)"
    assert event.last_line == 6


def test_a_progress_bar_in_front_of_the_header_is_no_label() -> None:
    event = only_event(" 52%|█████▏    | 260/500 [11:57<11:22,  2.84s/it]" + PLAIN)
    assert len(event.frames) == 2
    assert event.text == PLAIN


def test_interleaved_ranks_are_told_apart() -> None:
    other = PLAIN.replace("610", "620").replace("CUDA out of memory", "shape mismatch")
    ranks = zip(labelled(PLAIN, "[rank0]: "), labelled(other, "[rank1]: "), strict=True)
    events = read_events([line for pair in ranks for line in pair])
    assert [(event.ranks, event.frames[0].line) for event in events] == [((0,), 610), ((1,), 620)]
    assert [event.kind for event in events] == [EventKind.OOM, EventKind.EXCEPTION]


def test_copies_by_several_ranks_are_one_event() -> None:
    lines = zip(*(labelled(PLAIN, f"{rank}: ") for rank in range(4)), strict=True)
    (event,) = read_events([line for group in lines for line in group])
    assert event.ranks == (0, 1, 2, 3)
    assert event.count == 4
    assert event.text == PLAIN


def test_other_messages_between_the_ranks_are_not_lost() -> None:
    lines = labelled(PLAIN, "[rank0]: ")
    lines.insert(3, "slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2022-04-14T16:20:46 ***")
    kinds = {event.kind for event in read_events(lines)}
    assert kinds == {EventKind.OOM, EventKind.SCHEDULER}


def test_loguru_draws_values_between_the_frames() -> None:
    event = only_event(
        """\
Traceback (most recent call last):

  File "tools/train.py", line 112, in <module>
    launch(
    └ <function launch at 0x7f169666fee0>

> File "/home/me/YOLOX/yolox/core/launch.py", line 68, in launch
    main_func(*args)
    │          └ (╒══════════════════╤═════════════════...
    └ <function main at 0x7f1693d555e0>

TypeError: unsupported operand type(s) for /: 'tuple' and 'float'
2021-12-07 14:05:57.710 | INFO     | yolox.core.trainer:before_train:124 - args: x"""
    )
    assert event.title == "TypeError: unsupported operand type(s) for /: 'tuple' and 'float'"
    assert [frame.function for frame in event.frames] == ["<module>", "launch"]
    assert event.frames[1].code == "main_func(*args)"
    assert event.last_line == 12


def test_rich_draws_a_box() -> None:
    event = only_event(
        """\
╭─────────────────── Traceback (most recent call last) ───────────────────╮
│ /home/me/train.py:12 in main                                            │
│                                                                         │
│    11 def main():                                                       │
│ ❱  12     raise ValueError("bad")                                       │
╰─────────────────────────────────────────────────────────────────────────╯
ValueError: bad"""
    )
    assert (event.exception, event.message) == ("ValueError", "bad")
    assert (event.frames[0].file, event.frames[0].line) == ("/home/me/train.py", 12)


def test_the_line_that_announces_a_traceback_is_not_another_event() -> None:
    events = read(f"2022-12-30 15:09:14,136 - speechbrain.core - ERROR - Exception:\n{PLAIN}")
    assert [event.exception for event in events] == ["RuntimeError"]


def test_an_error_above_a_traceback_is_kept() -> None:
    events = read(f"ERROR: Unexpected bus error encountered in worker.\n{PLAIN}")
    assert [event.kind for event in events] == [EventKind.ERROR, EventKind.OOM]


def printed(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def chained() -> None:
    try:
        raise KeyError("missing")
    except KeyError as error:
        raise ValueError("no such layer") from error


def handled() -> None:
    try:
        int("x")
    except ValueError:
        [].pop()


def test_chained_exceptions_are_one_event() -> None:
    with pytest.raises(ValueError, match="no such layer") as caught:
        chained()
    event = only_event(printed(caught.value))
    assert event.title == "ValueError: no such layer"
    assert event.chain == ("KeyError: 'missing'",)
    with pytest.raises(IndexError) as popped:
        handled()
    event = only_event(printed(popped.value))
    assert event.title == "IndexError: pop from empty list"
    assert event.chain == ("ValueError: invalid literal for int() with base 10: 'x'",)


def test_an_exception_group_is_one_event() -> None:
    try:
        raise ExceptionGroup("two workers", [ValueError("first"), KeyError("second")])
    except ExceptionGroup:
        text = traceback.format_exc()
    event = only_event(text + "done with it")
    assert event.title == "ExceptionGroup: two workers (2 sub-exceptions)"
    assert event.chain == ("ValueError: first", "KeyError: 'second'")
    assert event.frames[0].function == "test_an_exception_group_is_one_event"


def test_a_worker_process_passes_its_traceback_on() -> None:
    event = only_event(
        """\
Traceback (most recent call last):
  File "train.py", line 10, in <module>
    for batch in loader:
  File "/lib/python3.10/site-packages/torch/_utils.py", line 722, in reraise
    raise exception
KeyError: Caught KeyError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/lib/python3.10/site-packages/torch/utils/data/_utils/worker.py", line 351, in _worker_loop
    data = fetcher.fetch(index)
  File "dataset.py", line 7, in __getitem__
    return self.items[index]
KeyError: 'label'
"""
    )
    assert event.message.startswith("Caught KeyError in DataLoader worker process 0.")
    assert event.chain == ("KeyError: 'label'",)
    assert event.frames[-1] == Frame("dataset.py", 7, "__getitem__", "return self.items[index]")


@pytest.mark.parametrize("name", ["KeyboardInterrupt", "socket.timeout: timed out", "queue.Empty"])
def test_exceptions_need_not_be_called_errors(name: str) -> None:
    event = only_event(
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n' + name
    )
    assert event.title == name


def test_a_syntax_error_has_a_frame_without_function() -> None:
    event = only_event(
        'Traceback (most recent call last):\n  File "a.py", line 3\n    foo(\n       ^\n'
        "SyntaxError: '(' was never closed"
    )
    assert event.frames == (Frame("a.py", 3, "", "foo("),)


def test_a_message_goes_on_over_lines() -> None:
    event = only_event(
        """\
Traceback (most recent call last):
  File "bts_test.py", line 94, in test
    model.load_state_dict(checkpoint['model'])
RuntimeError: Error(s) in loading state_dict for DataParallel:
\tMissing key(s) in state_dict: "module.encoder.weight".
\tsize mismatch for module.conv0.weight: copying a param with shape torch.Size([64, 3, 7, 7])
Epoch 3 loss: 2.5"""
    )
    assert len(event.message.splitlines()) == 3
    assert event.last_line == 6


@pytest.mark.parametrize(
    "line",
    [
        "step 100 loss 3.2",
        "Epoch 4/10",
        "[2024-01-01 10:00:00] INFO resumed",
        " iteration       20/    1000 | lm loss: 1.2E+01",
        " 52%|█████▏    | 260/500 [11:57<11:22,  2.84s/it]",
        "{'loss': 0.3, 'epoch': 1.0}",
        "wandb: train/loss 0.3",
        "3.25 4.5 1e-4",
    ],
)
def test_what_a_run_logs_next_is_not_swallowed(line: str) -> None:
    event = only_event(f"{PLAIN}\n{line}\n{line}")
    assert event.last_line == 6


def test_characters_of_two_processes_may_be_mixed() -> None:
    event = only_event(
        """\
Traceback (most recent call last):
Traceback (most recent call last):
  File "training.py", line 196, in <module>
  File "training.py", line 196, in <module>
        main()main()

NameErrorNameError: : name 'json' is not definedname 'json' is not defined
"""
    )
    assert event.title == "NameError: name 'json' is not defined"
    assert event.frames == (Frame("training.py", 196, "<module>", "main()"),)
    assert event.count == 2


def test_a_torn_exception_line_still_gives_its_name() -> None:
    event = only_event(
        """\
Traceback (most recent call last):
Traceback (most recent call last):
  File "t.py", line 17, in <module>
  File "t.py", line 17, in <module>
    if not HOST or not KEY:
    if not HOST or not KEY:NameError
: name 'HOST' is not definedNameError
: name 'HOST' is not defined"""
    )
    assert event.exception == "NameError"


def test_frames_without_a_header_are_used() -> None:
    event = only_event(
        '  File "os.py", line 220, in makedirs\n    mkdir(name)\nPermissionError: no'
    )
    assert event.frames == (Frame("os.py", 220, "makedirs", "mkdir(name)"),)


def test_a_traceback_that_is_cut_off_is_still_an_event() -> None:
    event = only_event(
        'Traceback (most recent call last):\n  File "run.py", line 483, in f\n    g()'
    )
    assert event.kind is EventKind.EXCEPTION
    assert "run.py:483" in event.title
    assert only_event("Traceback (most recent call last):").kind is EventKind.EXCEPTION


def test_a_header_that_nothing_follows_is_a_quotation() -> None:
    assert read("Traceback (most recent call last):\nis how Python begins\nto complain") == []


def test_an_example_in_documentation_is_no_error() -> None:
    example = (
        "    >>> f()\n    Traceback (most recent call last):\n        ...\n    ValueError: bad"
    )
    assert read(example) == []


def test_a_docstring_is_no_error() -> None:
    assert read('    Raises:\n        ValueError: if the shape is wrong\n    """') == []


TORCHRUN = """\
Traceback (most recent call last):
  File "/bin/torchrun", line 6, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-05-20_05:30:42
  rank      : 1 (local_rank: 1)
  exitcode  : -15 (pid: 2019127)  (SIGTERM)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 2019127
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-05-20_05:30:42
  rank      : 6 (local_rank: 6)
  exitcode  : 1 (pid: 2019158)
  error_file: /tmp/error.json
  traceback : Traceback (most recent call last):
    File "/home/me/trainer.py", line 226, in __init__
      broadcast(seed)
  ValueError: bad seed
============================================================
"""


def test_torchrun_says_which_rank_failed_first() -> None:
    event = only_event(TORCHRUN + "srun: done\n")
    assert event.title == "torchrun: rank 6 failed first with exit code 1"
    assert event.ranks == (6,)
    assert event.chain == ("ValueError: bad seed",)
    assert event.last_line == 26


def test_torchrun_names_the_signal() -> None:
    text = TORCHRUN.replace("exitcode  : 1 (pid: 2019158)", "exitcode  : -9 (pid: 2)  (SIGKILL)")
    assert only_event(text).title == "torchrun: rank 6 failed first with exit code -9 (SIGKILL)"


@pytest.mark.parametrize("number", range(1, 26))
def test_a_traceback_that_arrives_in_pieces_is_the_same(number: int) -> None:
    lines = [*TORCHRUN.splitlines(), "next line"]
    (whole,) = read_events(lines)
    (pieces,) = read_events(lines, cuts=[number])
    assert pieces == whole


def test_a_traceback_of_endless_length_ends() -> None:
    frame = ['  File "a.py", line 1, in f', "    f()"]
    events = read_events(["Traceback (most recent call last):", *frame * 4000], cuts=[7000])
    assert events[0].last_line <= 3001


def test_a_message_may_begin_below_the_type_that_ends_with_a_colon() -> None:
    event = only_event(
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'
        "AssertionError: \nThe driver on your system is too old (found version 10010).\n"
        "Please update your driver.\n"
    )
    assert event.exception == "AssertionError"
    assert event.message.startswith("The driver on your system is too old (found version 10010).")
    assert event.last_line == 6


def test_an_exception_without_a_message_does_not_take_the_next_line() -> None:
    event = only_event(
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'
        "KeyboardInterrupt\nThe driver said goodbye at 10010 and left the building\n"
    )
    assert event.message == ""


def test_a_traceback_that_is_cut_off_names_what_its_last_line_raises() -> None:
    event = only_event(
        'Traceback (most recent call last):\n  File "/bin/torchrun", line 8, in <module>\n'
        "    raise ChildFailedError("
    )
    assert "ChildFailedError" in event.title
