"""Messages of many libraries, as whole logs: finding, cause, place and fixes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from .told_log import alarms, diagnosis_of, finding, traceback

MESSAGES = tomllib.loads((Path(__file__).parent / "messages.toml").read_text(encoding="utf-8"))
FAILURES = [(one["finding"], one["cause"], one["raised"]) for one in MESSAGES["failure"]]


@pytest.mark.parametrize(("identity", "cause", "raised"), FAILURES, ids=lambda text: str(text)[:50])
def test_a_message_gets_its_finding_cause_and_fixes(identity: str, cause: str, raised: str) -> None:
    text = "step 1 loss 2.5\n" + traceback(
        raised,
        "/home/me/train.py:88 run(model, loader)",
        "/home/me/net/model.py:41 y = self.head(x)",
        "/env/lib/python3.11/site-packages/torch/nn/modules/module.py:1500 return fn(*args)",
    )
    found = diagnosis_of(text)
    assert identity in alarms(found)
    assert finding(found, "exception").is_alarm
    assert "net/model.py:41" in finding(found, "exception").title
    causes = [one.id for one in found.root_causes[:3]]
    assert cause in (causes[:2] if identity == "dataloader_worker_died" else causes[:1]), causes
    assert found.root_causes[0].confidence <= 0.95
    assert len(found.root_causes[0].fixes) >= 3
    where = finding(found, identity).evidence[0].ref.rpartition(":")[2]
    stands = text.splitlines()[int(where) - 1]
    assert stands[:30].strip() in raised


ENDS = [(one["finding"], one["text"]) for one in MESSAGES["end"]]


@pytest.mark.parametrize(("identity", "text"), ENDS, ids=lambda text: str(text)[:40])
def test_last_words_without_a_traceback(identity: str, text: str) -> None:
    assert identity in alarms(diagnosis_of(text + "\n"))


HEALTHY = "".join(f"step {n} loss {3 - n / 50:.3f}\n" for n in range(40))
HARMLESS = [one["text"] for one in MESSAGES["harmless"]]


@pytest.mark.parametrize("text", HARMLESS, ids=lambda text: text[:40])
def test_what_a_run_goes_on_after_is_no_alarm(text: str) -> None:
    lines = HEALTHY.splitlines()
    log = "\n".join([*lines[:10], text, *lines[10:]]) + "\n"
    assert alarms(diagnosis_of(log)) == []


def test_a_broadcast_target_is_a_warning_although_the_run_goes_on() -> None:
    text = (
        "/x/loss.py:3: UserWarning: Using a target size (torch.Size([64])) that is different to "
        "the input size (torch.Size([64, 1])). This will likely lead to incorrect results.\n"
        "  return F.mse_loss(input, target)\n"
    )
    found = diagnosis_of(text + HEALTHY)
    assert alarms(found) == ["shape_mismatch"]
    assert found.root_causes[0].id == "code_bug"


def test_fixes_name_the_settings_of_the_run() -> None:
    text = traceback("IndexError: Target 12 is out of bounds.")
    found = diagnosis_of(text, num_classes=12)
    assert "num_classes 12" in found.root_causes[0].fixes[0].change


def test_the_setting_that_holds_the_missing_path_is_evidence() -> None:
    text = traceback("FileNotFoundError: [Errno 2] No such file or directory: '/data/imagnet/a'")
    cause = diagnosis_of(text, data_root="/data/imagenet", lr=0.1).root_causes[0]
    assert any(one.ref == "config:data_root" for one in cause.evidence)


def test_a_key_error_on_the_config_is_a_config_error_and_others_are_not() -> None:
    on_config = traceback("KeyError: 'warmup'", "train.py:3 main()", "train.py:9 cfg['warmup']")
    assert "config_error" in alarms(diagnosis_of(on_config))
    elsewhere = traceback("KeyError: 'label'", "train.py:3 main(args.lr)", "data.py:9 row['label']")
    assert "config_error" not in alarms(diagnosis_of(elsewhere))


def test_a_rate_that_yaml_took_for_text_is_a_config_error() -> None:
    text = traceback(
        "TypeError: '<=' not supported between instances of 'float' and 'str'",
        "train.py:3 opt = AdamW(params, lr=cfg.lr)",
        "/env/lib/python3.11/site-packages/torch/optim/adamw.py:40 if not 0.0 <= lr:",
    )
    found = diagnosis_of(text, lr="1e-4")
    assert found.root_causes[0].id == "bad_config"
    assert "1e-4" in found.root_causes[0].fixes[0].change


DATA = [(one["cause"], one["said"]) for one in MESSAGES["data"]]


@pytest.mark.parametrize(("cause", "said"), DATA, ids=lambda text: str(text)[:50])
def test_data_that_cannot_be_read_is_blamed_and_not_the_code(cause: str, said: str) -> None:
    found = diagnosis_of("step 1 loss 2.5\n" + traceback(said))
    assert alarms(found) == ["exception"]
    assert found.root_causes[0].id == cause
    assert len(found.root_causes[0].fixes) >= 2
    assert found.root_causes[0].requests


CODE = [(one["words"], one["said"]) for one in MESSAGES["code"]]


@pytest.mark.parametrize(("words", "said"), CODE, ids=lambda text: str(text)[:50])
def test_a_bug_that_is_known_is_explained(words: str, said: str) -> None:
    found = diagnosis_of("step 1 loss 2.5\n" + traceback(said))
    assert alarms(found) == ["exception"]
    assert found.root_causes[0].id == "code_bug"
    assert words in found.root_causes[0].issue


LIBRARY = "/env/lib/python3.11/site-packages/lib/core.py:9 raise AssertionError(message)"


def test_without_a_frame_of_the_program_a_bug_in_it_is_doubted() -> None:
    said = "AssertionError: group is already initialized"
    outside = diagnosis_of(traceback(said, LIBRARY)).root_causes[0]
    inside = diagnosis_of(traceback(said, "train.py:3 main()", LIBRARY)).root_causes[0]
    assert outside.id == inside.id == "code_bug"
    assert outside.confidence < 0.8 <= inside.confidence


def test_a_library_that_says_what_it_lacks_is_no_certain_bug() -> None:
    said = "NotImplementedError: this layout is left to another release"
    told = diagnosis_of(traceback(said)).root_causes[0]
    empty = diagnosis_of(traceback("NotImplementedError")).root_causes[0]
    assert told.confidence < 0.8 <= empty.confidence


def test_values_that_no_distribution_takes_are_no_shape_and_no_setting() -> None:
    said = (
        "ValueError: Expected parameter logits (Tensor of shape (280, 13)) of distribution "
        "Categorical(logits: torch.Size([280, 13])) to satisfy the constraint "
        "IndependentConstraint(Real(), 1), but found invalid values:\ntensor([[nan, nan]])"
    )
    for raised in (said, "ValueError: The parameter loc has invalid values"):
        found = diagnosis_of(traceback(raised))
        assert set(alarms(found)) == {"exception", "nan_loss"}
        assert found.root_causes[0].id != "code_bug"


def test_a_name_that_is_not_in_a_list_is_no_missing_file() -> None:
    said = "ValueError: didn't find ['y.txt'] in ['__key__', 'x.pyd']"
    assert alarms(diagnosis_of(traceback(said))) == ["exception"]


def test_a_dead_actor_loads_no_data() -> None:
    text = "The actor is dead because its worker process has died.\n"
    said = "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."
    found = alarms(diagnosis_of(traceback(said) + text))
    assert "rank_failure" in found
    assert "dataloader_worker_died" not in found


def test_a_checkpoint_that_cannot_be_written_may_be_a_full_disk() -> None:
    text = traceback(
        "RuntimeError: File out/checkpoint_0.pt cannot be opened.",
        "train.py:3 torch.save({'model': net.state_dict()}, path)",
    )
    found = diagnosis_of(text)
    assert "missing_file" in alarms(found)
    assert {one.id for one in found.root_causes[:2]} == {"bad_path", "disk_quota"}
    assert found.root_causes[0].confidence < 0.8


def test_a_kernel_that_does_not_start_is_no_shape() -> None:
    said = "InternalError: Blas GEMM launch failed : a.shape=(4, 10), b.shape=(10, 30), m=4, n=30"
    found = diagnosis_of(traceback(f"tensorflow.python.framework.errors_impl.{said}"))
    assert "shape_mismatch" not in alarms(found)
    assert found.root_causes[0].confidence < 0.8


def test_an_assertion_without_words_is_known_by_its_code() -> None:
    shape = traceback("AssertionError", "train.py:3 main()", "sh.py:9 assert x.shape[-2] == 16")
    assert "shape_mismatch" in alarms(diagnosis_of(shape))
    some = traceback("AssertionError", "train.py:3 main()", "data.py:9 assert len(self.list) > 0")
    assert "empty_data" in alarms(diagnosis_of(some))
    other = traceback("AssertionError", "train.py:3 main(x.shape)", "a.py:9 assert self.is_ready")
    assert alarms(diagnosis_of(other)) == ["exception"]
