"""Failures are read whatever launchers, containers and libraries put around them."""

from __future__ import annotations

import pytest

from mltd.runs.event import Event, EventKind
from mltd.runs.events.prefix import split_label
from mltd.runs.events.telling import first_line, last_error, table_rows, telling
from tests.blow_up import no_blow_up

from .reading import read_events

LABELS = (
    "",
    "[rank3]: ",
    "[rank3]:",
    "[rank=3] ",
    "2024-11-20 14:37:16 ",
    "2024-11-20 14:37:16 [rank3]: ",
    "2024-11-20T14:37:16.123456789Z [rank3]: ",
    "[2024-11-20 14:37:16] [rank3]: ",
    "10: [rank10]: ",
    "[1,0]<stderr>:[rank0]: ",
    "[1,mpirank:0,algo-1]<stderr>:",
    "(RayTrainWorker pid=123, ip=10.0.0.1) [rank0]: ",
    "[trainer0]:",
    "worker-1: ",
    "Nov 20 14:37:16 node1 python[123]: ",
    "[stderr] ",
    "rank0: ",
    "100.64.0.3: ",
    " 52%|█████▏    | 260/500 [11:57<11:22,  2.84s/it]",
)
STEPS = [f"step {n} loss {3 - n / 50:.3f}" for n in range(9)]


def only(lines: list[str]) -> Event:
    found = [event for event in read_events([*STEPS, *lines]) if event.exception]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("label", LABELS)
def test_an_exception_on_one_line_is_read_under_any_label(label: str) -> None:
    event = only([f"{label}RuntimeError: the sizes do not fit"])
    assert event.kind is EventKind.EXCEPTION
    assert (event.exception, event.message) == ("RuntimeError", "the sizes do not fit")


@pytest.mark.parametrize("label", LABELS)
def test_lack_of_memory_is_read_under_any_label(label: str) -> None:
    said = "CUDA out of memory. Try expandable_segments:True to avoid fragmentation."
    assert only([f"{label}torch.OutOfMemoryError: {said}"]).kind is EventKind.OOM


def test_what_follows_an_exception_with_the_same_label_belongs_to_it() -> None:
    lines = ["RuntimeError: CUDA error: bad", "CUDA kernel errors might be asynchronously reported"]
    for label in ("[rank1]: ", "2024-11-20 14:37:16 [rank1]: ", "2024-11-20 14:37:16 "):
        event = only([label + line for line in lines])
        assert event.last_line - event.line == 1


def test_a_time_before_a_label_is_no_part_of_it() -> None:
    label = split_label("2024-11-20 14:37:16 [rank3]: x")
    assert (label.stream, label.rank, label.body) == ("[rank3]:", 3, " x")
    assert split_label("2024-11-20 14:37:16 x").stream == ""


def test_a_handled_exception_at_a_low_level_stays_quiet() -> None:
    lines = ["2024-11-20 14:37:16 INFO worker-1: RuntimeError: handled"]
    assert not [event for event in read_events([*STEPS, *lines]) if event.exception]


GRAPH = [
    "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:",
    "",
    "Detected at node 'loss/Softmax' defined at (most recent call last):",
    '    File "train.py", line 3, in <module>',
    "      model.fit(x, y)",
    "Node: 'loss/Softmax'",
    "logits and labels must have the same first dimension, got logits shape [8,5] and labels [40]",
]
LAYER = [
    "ValueError: Exception encountered when calling Functional.call().",
    "",
    'Input 0 of layer "dense" is incompatible with the layer: expected axis -1 to have value 9',
    "",
    "Arguments received by Functional.call():",
    "  • inputs=tf.Tensor(shape=(None, 4), dtype=float32)",
]
USER_CODE = [
    "ValueError: in user code:",
    "",
    '    File "/env/keras/engine/training.py", line 1160, in train_function  *',
    "        return step_function(self, iterator)",
    "",
    "    ValueError: Shapes (None, 1) and (None, 10) are incompatible",
]
COMPILED = [
    "Traceback (most recent call last):",
    '  File "train.py", line 3, in <module>',
    "    step(x)",
    "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:",
    "AttributeError: 'Node' object has no attribute 'fuse'",
]


@pytest.mark.parametrize(
    ("lines", "telling_words"),
    [
        (GRAPH, "logits and labels must have the same first dimension"),
        (LAYER, 'Input 0 of layer "dense" is incompatible'),
        (USER_CODE, "Shapes (None, 1) and (None, 10) are incompatible"),
        (COMPILED, "AttributeError: 'Node' object has no attribute"),
    ],
)
def test_a_message_that_only_announces_is_read_to_its_point(
    lines: list[str], telling_words: str
) -> None:
    event = only(lines)
    assert first_line(event.message).startswith(telling_words)
    assert telling_words[:20] in event.title


def test_steps_after_such_a_message_are_not_swallowed() -> None:
    events = read_events([*LAYER, "step 10 loss 2.5", "step 11 loss 2.4"])
    assert all("step 10" not in event.text for event in events)


def test_hints_below_every_error_of_a_device_say_nothing() -> None:
    message = (
        "CUDA error: out of luck\n"
        "CUDA kernel errors might be asynchronously reported at some other API call\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."
    )
    assert telling(message) == "CUDA error: out of luck"
    assert telling(message.replace("CUDA", "HIP")) == "HIP error: out of luck"


def test_the_reason_that_nccl_names_is_found() -> None:
    lines = [
        "terminate called after throwing an instance of 'std::runtime_error'",
        "  what():  NCCL error: remote process exited, NCCL version 2.14.3",
        "ncclRemoteError: A call failed possibly due to a network error.",
        "Last error:",
        "NET/IB : Got completion from peer 10.0.0.2<39138> with error 12",
    ]
    assert last_error(only(lines).text).startswith("NET/IB : Got completion")


def test_the_rows_for_the_first_rank_are_found_in_a_table() -> None:
    text = (
        "=====\nFailures:\n[1]:\n  exitcode  : 1 (pid: 3)\n-----\n"
        "Root Cause (first observed failure):\n[0]:\n  exitcode  : -7 (pid: 2)\n"
        "  traceback : Signal 7 (SIGBUS) received by PID 2\n====="
    )
    assert table_rows(text) == [
        ("exitcode  : -7 (pid: 2)", 7),
        ("traceback : Signal 7 (SIGBUS) received by PID 2", 8),
    ]


def test_a_warning_whose_text_stands_below_is_read() -> None:
    events = read_events(
        [
            "/env/torch/cuda/__init__.py:104: UserWarning: ",
            "Some GPU with CUDA capability sm_90 is not compatible with this installation.",
            "The current install supports sm_37 sm_50.",
            "",
            "step 1 loss 2.5",
        ]
    )
    warned = next(event for event in events if event.kind is EventKind.WARNING)
    assert "sm_90 is not compatible" in warned.message
    assert warned.last_line == 3


def test_a_chain_without_its_frames_is_one_chain() -> None:
    event = only(
        [
            '  File "a.py", line 3, in f',
            "    g()",
            "RuntimeError: the first",
            "",
            "During handling of the above exception, another exception occurred:",
            "",
            "IndexError: the second",
        ]
    )
    assert event.exception == "IndexError"
    assert event.chain == ("RuntimeError: the first",)


def test_a_chained_message_keeps_its_end() -> None:
    reason = "x" * 300 + " timed out"
    event = only(
        [
            "Traceback (most recent call last):",
            '  File "a.py", line 3, in f',
            "    g()",
            f"urllib3.exceptions.MaxRetryError: {reason}",
            "",
            "During handling of the above exception, another exception occurred:",
            "",
            "Traceback (most recent call last):",
            '  File "a.py", line 5, in f',
            "    h()",
            "OSError: no connection",
        ]
    )
    assert event.chain[0].endswith("timed out")


@pytest.mark.parametrize(
    "piece", ["\n", " ", " Last error:\n", "exitcode : 1\n", 'File "a"\n   b\n']
)
def test_no_long_message_takes_long(piece: str) -> None:
    text = (f"Graph execution error:\nRoot Cause\n{piece * 200_000}")[:100_000]
    with no_blow_up():
        telling(text)
        last_error(text)
        table_rows(text)


@pytest.mark.parametrize("piece", ["[a] ", "1 ", "a-1: ", "-1.", "A.", "x it/s ", "Nov 20 1 n "])
def test_no_long_line_of_labels_takes_long(piece: str) -> None:
    with no_blow_up():
        read_events([(piece * 9000)[:9000] + "Error: x"])


def test_what_horovod_puts_before_a_crash_is_a_label() -> None:
    label = "Thu Aug 29 16:41:02 2019[3]<stderr>:"
    events = read_events(
        [
            f"{label}terminate called after throwing an instance of 'gloo::IoException'",
            f"{label}  what():  [/gloo/pair.cc:572] Connection closed by peer [10.0.0.5]:53666",
        ]
    )
    assert [event.message for event in events] == [
        "[/gloo/pair.cc:572] Connection closed by peer [10.0.0.5]:53666"
    ]
    assert events[0].ranks == (3,)


def test_a_stack_that_lost_its_indentation_is_read_to_its_exception() -> None:
    (event,) = read_events(
        [
            '[rank9]: File "/x/load.py", line 1705, in load_dataset',
            "[rank9]: return builder.stream(split=split)",
            '[rank9]: File "/x/web.py", line 79, in _split',
            "[rank9]: first = paths[0]",
            "[rank9]: IndexError: list index out of range",
        ]
    )
    assert event.exception == "IndexError"
