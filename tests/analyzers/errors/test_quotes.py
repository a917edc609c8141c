"""What is quoted stands in the log, and names the reason."""

from __future__ import annotations

import pytest

from mltd.analyzers.errors.quoting import MOST, excerpt

from .told_log import alarms, diagnosis_of, finding, traceback

STEPS = "".join(f"step {n} loss {3 - n / 50:.3f}\n" for n in range(20))
HINTS = (
    "CUDA kernel errors might be asynchronously reported at some other API call.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)


def quotes(text: str, identity: str) -> list[str]:
    return [str(one.quote) for one in finding(diagnosis_of(text), identity).evidence]


def test_a_short_line_is_quoted_as_it_is() -> None:
    assert excerpt("RuntimeError: x") == "RuntimeError: x"


def test_a_long_line_keeps_beginning_words_and_end() -> None:
    text = "OSError: " + "a" * 400 + " the words " + "b" * 400 + " timed out"
    shown = excerpt(text, 410, 420)
    assert len(shown) <= MOST
    assert shown.startswith("OSError: aaa")
    assert "the words" in shown
    assert shown.endswith("timed out")
    for start, end in ((0, 0), (0, 7), (0, 200), (800, 830), (100, 700)):
        assert len(excerpt(text, start, end)) <= MOST
        assert excerpt(text, start, end).endswith("timed out")


def test_the_end_of_a_long_message_is_quoted() -> None:
    raised = (
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub.example', port=443): "
        "Max retries exceeded with url: /models/a/resolve/main/" + "x" * 200 + ".json (Caused by "
        "NewConnectionError('Failed to establish a new connection: Name or service not known'))"
    )
    for identity in ("network_error", "exception"):
        assert quotes(traceback(raised), identity)[0].endswith("Name or service not known'))")


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        ("no kernel image is available for execution on the device", "environment_error"),
        ("invalid device ordinal", "environment_error"),
        ("out of memory", "cuda_oom"),
        ("CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "cuda_oom"),
        ("uncorrectable ECC error encountered", "rank_failure"),
    ],
)
def test_hints_below_an_error_of_the_device_are_no_assertion(error: str, wanted: str) -> None:
    found = diagnosis_of(STEPS + traceback(f"RuntimeError: CUDA error: {error}") + HINTS)
    assert wanted in alarms(found)
    assert "device_assert" not in alarms(found)
    assert all(cause.id != "label_out_of_range" for cause in found.root_causes)


def test_an_assertion_is_still_one_with_the_hints_below() -> None:
    found = diagnosis_of(
        STEPS + traceback("RuntimeError: CUDA error: device-side assert triggered") + HINTS
    )
    assert "device_assert" in alarms(found)
    assert found.root_causes[0].id == "label_out_of_range"


def test_a_launch_that_fails_on_a_broken_gpu_is_no_assertion() -> None:
    found = diagnosis_of(
        STEPS + "NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.\n"
        "RuntimeError: CUDA error: unspecified launch failure\n"
    )
    assert "device_assert" not in alarms(found)
    assert found.root_causes[0].id == "hardware_fault"


def test_the_exception_that_led_to_another_is_quoted_with_it() -> None:
    text = traceback("RuntimeError: INDICES element is out of DATA bounds, id=9 axis_dim=1") + (
        "\nDuring handling of the above exception, another exception occurred:\n\n"
        + traceback("IndexError: Found indices in 'edge_index' that are larger than 3 (got 9).")
    )
    said = " ".join(quotes(text, "index_out_of_range"))
    assert "INDICES element is out of DATA bounds" in said
    assert "edge_index" in said


def test_a_warning_that_said_it_before_is_quoted_first() -> None:
    text = (
        "/env/torch/cuda/__init__.py:104: UserWarning: \n"
        "Some GPU with CUDA capability sm_90 is not compatible with the current PyTorch "
        "installation.\n\n"
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
    )
    assert "sm_90 is not compatible" in quotes(text, "environment_error")[0]


def test_a_message_of_a_graph_is_quoted_by_the_line_that_tells() -> None:
    text = STEPS + (
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n"
        "\nDetected at node 'loss' defined at (most recent call last):\nNode: 'loss'\n"
        "logits and labels must have the same first dimension, got logits shape [8,5] and labels "
        "shape [40]\n"
    )
    for identity in ("shape_mismatch", "exception"):
        assert quotes(text, identity)[0].startswith("logits and labels must have the same first")


def test_a_child_that_got_nothing_is_no_broken_checkpoint() -> None:
    text = STEPS + traceback(
        "EOFError: Ran out of input",
        "<string>:1 main()",
        "/usr/lib/python3.10/multiprocessing/spawn.py:126 self = pickle.load(from_parent)",
    )
    found = diagnosis_of(text)
    assert "checkpoint_mismatch" not in alarms(found)
    assert found.root_causes[0].id == "code_bug"
    broken = diagnosis_of(traceback("EOFError: Ran out of input", "a.py:3 torch.load(path)"))
    assert "checkpoint_mismatch" in alarms(broken)


def test_too_many_open_files_are_no_lack_of_shared_memory() -> None:
    text = traceback("RuntimeError: unable to open shared memory object </torch_3_4> in mode")
    text += traceback("OSError: [Errno 24] Too many open files")
    causes = [one.id for one in diagnosis_of(STEPS + text).root_causes]
    assert causes[0] == "incompatible_environment"
    assert "host_memory_limit" not in causes


def test_tensors_that_workers_hand_over_are_not_on_the_disk() -> None:
    text = traceback(
        "RuntimeError: unable to write to file </torch_7_8_4>: No space left on device"
    )
    found = diagnosis_of(STEPS + text)
    assert "dataloader_worker_died" in alarms(found)
    assert "disk_full" not in alarms(found)


def test_a_column_that_a_setting_names_is_a_setting() -> None:
    named = traceback("KeyError: 'answer '", "t.py:3 main()", "t.py:9 row[args.output_column_name]")
    assert "config_error" in alarms(diagnosis_of(named))
    plain = traceback("KeyError: 'answer'", "t.py:3 main()", "t.py:9 text = example['answer']")
    found = diagnosis_of(plain)
    assert "config_error" not in alarms(found)
    assert "column or field 'answer'" in found.root_causes[0].issue


def test_a_crash_below_python_says_so() -> None:
    found = diagnosis_of(STEPS + "Segmentation fault (core dumped)\n")
    assert {one.id for one in found.root_causes[:2]} == {"code_bug", "incompatible_environment"}
    assert all(one.confidence < 0.6 for one in found.root_causes)
    bug = next(one for one in found.root_causes if one.id == "code_bug")
    assert "below Python" in bug.issue


def test_an_exception_without_words_is_quoted_by_the_line_that_raised_it() -> None:
    text = traceback("AssertionError", "train.py:3 main()", "data.py:9 assert len(shards) > 0")
    assert any("len(shards) > 0" in quote for quote in quotes(text, "exception"))
