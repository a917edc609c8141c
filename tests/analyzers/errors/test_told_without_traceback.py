"""Failures that a launcher, a logger or a bare sentence tells, and what they are taken for."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.failure import first_failure
from mltd.runs.failure import remoteness

from .told_log import alarms, diagnosis_of, finding, view_of

LAUNCHER = """\
Traceback (most recent call last):
  File "/opt/conda/lib/python3.7/runpy.py", line 193, in _run_module_as_main
    "__main__", mod_spec)
  File "/opt/conda/lib/python3.7/site-packages/torch/distributed/launch.py", line 193, in <module>
    main()
"""
CHILD = """\
torch/distributed/elastic/multiprocessing/api.py:826] failed (exitcode: -9) local_rank: 0 (pid: 13) of binary: /bin/python
Traceback (most recent call last):
  File "/opt/conda/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/conda/lib/python3.10/site-packages/torch/distributed/launcher/api.py", line 263, in launch_agent
    raise ChildFailedError(
"""  # noqa: E501 - as it is printed


def best(text: str) -> str:
    causes = diagnosis_of(text).root_causes
    return causes[0].id if causes else ""


@pytest.mark.parametrize(
    ("text", "finding_id", "cause"),
    [
        ("error Expect number of features to match number of nodes (len(u)). Got 19 and 20.",
         "shape_mismatch", "code_bug"),
        ("63/100 [====>.....] - ETA: 7s - acc: 0.5150WARNING:tensorflow:Your input ran "
         "out of data; interrupting training.", "empty_data", "empty_input"),
        ("Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
         "and cpu!", "device_mismatch", "code_bug"),
        ("[Errno 2] No such file or directory: 'data/train.csv'", "missing_file", "bad_path"),
        ("Couldn't open file: data/coco.names", "missing_file", "bad_path"),
        ("INFO:tensorflow:Error reported to Coordinator: indices[0] = 7 is not in [0, 5)",
         "index_out_of_range", "label_out_of_range"),
        ("Exception has occurred: XlaRuntimeError\nINTERNAL: the library was not initialized",
         "environment_error", "incompatible_environment"),
        ("2025-04-23 20:35:34.61: F external/xla/xla/service/gpu/tuner.cc:109] Non-OK-status: "
         "executable.status()\nStatus: INTERNAL: ptxas exited with non-zero error code 139",
         "environment_error", "incompatible_environment"),
        ("Tried to allocate 216.00 MiB (GPU 0; 7.92 GiB total capacity; 69.17 MiB already "
         "allocated; 24.56 MiB free; 86.00 MiB reserved in total by PyTorch)",
         "cuda_oom", "device_shared"),
        ("[2023-04-14 13:11:27,885] [ERROR] [launch.py:434:sigkill_handler] ['/usr/bin/python3', "
         "'main.py', '--local_rank=0'] exits with return code = -9", "host_oom",
         "host_memory_limit"),
        ("[2023-04-14 13:11:27,885] [ERROR] [launch.py:434:sigkill_handler] ['/usr/bin/python3', "
         "'main.py', '--local_rank=0'] exits with return code = -7", "rank_failure",
         "host_memory_limit"),
        ("There are not enough slots available in the system to satisfy the 8\nslots that were "
         "requested by the application:", "orchestration_error", "bad_job_request"),
    ],
)  # fmt: skip
def test_a_failure_that_no_traceback_tells_is_seen(text: str, finding_id: str, cause: str) -> None:
    assert finding_id in alarms(diagnosis_of(text))
    assert best(text) == cause


@pytest.mark.parametrize(
    "line",
    [
        "error Expect improvements in this series of experiments soon",
        "[W socket.cpp:401] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - "
        "Address already in use).",
        "[W socket.cpp:601] [c10d] The client socket has failed to connect to [localhost]:29500 "
        "(errno: 99 - Cannot assign requested address).",
        "No module named 'apex'",
        "list index out of range",
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
        "cpu!",
        "Couldn't open file: data/coco.names",
    ],
)
def test_what_the_run_went_on_after_alarms_nobody(line: str) -> None:
    text = line + "".join(f"\nstep {n} loss {3 - n / 10:.2f}" for n in range(1, 20))
    assert not alarms(diagnosis_of(text))


def test_a_socket_that_tries_the_other_family_first_is_no_last_word() -> None:
    line = (
        "[W socket.cpp:601] [c10d] The client socket has failed to connect to [localhost]:29500 "
        "(errno: 99 - Cannot assign requested address)."
    )
    assert not alarms(diagnosis_of(line))


@pytest.mark.parametrize("text", [LAUNCHER, CHILD.partition("\n")[2]])
def test_a_launchers_traceback_that_is_cut_off_only_reports(text: str) -> None:
    first = first_failure(view_of(text))
    assert first is not None
    assert remoteness(first.event) == 3


def test_a_port_that_is_taken_explains_a_launcher_that_stopped() -> None:
    text = (
        "[W socket.cpp:401] [c10d] The server socket has failed to bind to 0.0.0.0:22 (errno: 98 - "
        "Address already in use).\n" + LAUNCHER
    )
    assert alarms(diagnosis_of(text))[0] == "config_error"
    assert best(text) == "bad_config"


def test_a_process_that_was_killed_is_no_bug_of_the_launcher() -> None:
    assert best(CHILD) == "host_memory_limit"


def test_a_connection_is_what_a_message_is_about_whatever_it_quotes() -> None:
    text = (
        "requests.exceptions.ProxyError: (MaxRetryError(\"HTTPSConnectionPool(host='example.org', "
        "port=443): Max retries exceeded with url: /tokenizer_config.json (Caused by ProxyError("
        "'Cannot connect to proxy.', FileNotFoundError(2, 'No such file or directory')))\"))"
    )
    assert "network_error" in alarms(diagnosis_of(text))
    assert "missing_file" not in alarms(diagnosis_of(text))


def test_retries_are_the_first_to_tell_of_a_service_that_is_not_reached() -> None:
    text = (
        "wandb: Network error (ProxyError), entering retry loop.\n"
        "wandb: ERROR Run initialization has timed out after 60.0 sec.\n"
    )
    found = next(f for f in diagnosis_of(text).findings if "stopped" in f.title)
    assert [shown.ref for shown in found.evidence] == ["x.log:1", "x.log:2"]


def test_a_position_beyond_its_table_is_a_matter_of_length_not_of_labels() -> None:
    text = """\
Traceback (most recent call last):
  File "train.py", line 52, in train
    loss = decoder(tgt_seq, mask=tgt_mask)
  File "/v/site-packages/x_transformers/x_transformers.py", line 738, in forward
    x += self.pos_emb(x)
  File "/v/site-packages/torch/nn/functional.py", line 2210, in embedding
    return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)
IndexError: index out of range in self
"""
    assert best(text) == "bad_config"
    assert best(text.replace("pos_emb", "token_emb")) == "label_out_of_range"


def test_a_label_as_an_index_is_a_label_out_of_range() -> None:
    text = """\
Traceback (most recent call last):
  File "data.py", line 52, in encode
    {}
IndexError: index 10 is out of bounds for axis 1 with size 10
"""
    assert best(text.format("one_hot[rows, labels[rows]] = 1")) == "label_out_of_range"
    assert best(text.format("patch = image[y : y + h, x + w]")) == "code_bug"


def test_more_than_the_device_has_may_be_the_batch_or_the_shape() -> None:
    text = (
        "OutOfMemoryError: CUDA out of memory. Tried to allocate {} GiB. GPU 0 has a total capacty "
        "of 14.75 GiB of which 5.48 GiB is free."
    )
    assert best(text.format("64.00")) == "batch_too_large"
    assert best(text.format("2048.00")) == "code_bug"


def test_what_measures_memory_stands_above_the_exception() -> None:
    text = (
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB. GPU 0 has a "
        "total capacity of 8.00 GiB of which 0 bytes is free."
    )
    assert [f.id for f in diagnosis_of(text).findings][:2] == ["cuda_oom", "exception"]


def test_the_first_to_tell_of_broken_hardware_stands_before_its_echo() -> None:
    text = (
        "RuntimeError: CUDA error: uncorrectable ECC error encountered\n\n"
        "[E ProcessGroupNCCL.cpp:916] [Rank 1] NCCL watchdog thread terminated with exception: "
        "CUDA error: uncorrectable ECC error encountered\n"
    )
    found = finding(diagnosis_of(text), "rank_failure")
    assert found.evidence[0].ref == "x.log:1"
    assert found.details["who"] == "rank 1"


def test_the_line_of_the_message_is_shown_for_a_batch_of_one() -> None:
    text = """\
Traceback (most recent call last):
  File "train.py", line 52, in train
    out = model(x)
ValueError: Expected more than 1 value per channel when training, got input size torch.Size([1, 9])
"""
    assert finding(diagnosis_of(text), "degenerate_variance").evidence[0].ref == "x.log:4"


def test_the_records_that_early_stopping_waits_for_are_no_divergence() -> None:
    losses = (270.6, 113.7, 58.8, 45.1, 36.8, 33.2, 44.9, 60.6)
    log = "".join(
        f"Epoch {n}/50\n1/1 - 0s 144ms/step - loss: {loss} - learning_rate: 0.1000\n"
        for n, loss in enumerate(losses, 1)
    )
    assert "loss_divergence" in alarms(diagnosis_of(log))
    assert not alarms(diagnosis_of(f"{log}Epoch 8: early stopping\n"))


def test_one_halving_at_a_time_is_a_loss_scaler_at_work() -> None:
    line = "| WARNING: overflow detected, setting loss scale to: {}\n"
    record = "| epoch 0{0} | loss 3.8{1} | num_updates {0}000 | loss_scale 1.000\n"
    calm = "".join(record.format(n, 9 - n) + line.format("1.0") for n in range(1, 5))
    assert not alarms(diagnosis_of(calm))
    lost = record.format(1, 8) + "".join(line.format(scale) for scale in ("4.0", "2.0", "1.0"))
    assert "loss_scale_collapse" in alarms(diagnosis_of(lost))


def test_one_line_with_a_comma_is_a_message_and_no_table() -> None:
    assert "nan_loss" in alarms(diagnosis_of("Loss is nan, stopping training\n"))


@pytest.mark.parametrize(
    ("said", "finding_id", "cause"),
    [
        (
            "torch._C._LinAlgError: linalg.cholesky: The factorization could not be completed "
            "because the input is not positive-definite",
            "exception",
            "numerical_instability",
        ),
        (
            "InvalidArgumentError (see above for traceback): Nan in summary histogram for: weights",
            "nan_weights",
            "numerical_instability",
        ),
        ("ValueError: cannot convert float NaN to integer", "exception", "code_bug"),
    ],
)
def test_numbers_that_fail_in_an_exception_have_a_cause(
    said: str, finding_id: str, cause: str
) -> None:
    assert finding_id in alarms(diagnosis_of(said))
    assert best(said) == cause
