"""The probe never disturbs a training: not its numbers, not its copies, not its loop."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mltd.runs import probe
from mltd.runs.probe import session
from tests.runs.probe.training import header, images, net, records, steps, train


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)


class Noisy(nn.Module):
    """Draws random numbers in its forward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.body = net()
        self.drop = nn.Dropout(0.3)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.body(self.drop(x))
        return output


def test_losses_weights_and_random_numbers_are_the_same_to_the_last_bit(tmp_path: Path) -> None:
    found = []
    for is_watched in (False, True):
        torch.manual_seed(0)
        model = Noisy()
        optimizer = sgd(model)
        handle = probe.watch(model, optimizer, tmp_path / "p", every=2) if is_watched else None
        losses = train(model, optimizer, 12)
        if handle is not None:
            assert handle.is_active
            handle.close()
        weights = [p.detach().clone() for p in model.parameters()]
        gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
        found.append((losses, torch.get_rng_state(), weights, gradients))
    plain, watched = found
    assert plain[0] == watched[0]
    assert torch.equal(plain[1], watched[1])
    for one, other in zip(plain[2] + plain[3], watched[2] + watched[3], strict=True):
        assert torch.equal(one, other)
    assert len(steps(tmp_path / "p")) == 7


def test_the_fast_path_of_an_encoder_stays_open(tmp_path: Path) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    optimizer = sgd(model)
    with probe.watch(model, optimizer, tmp_path / "p", every=1):
        for _ in range(2):
            torch.autograd.backward(model(torch.randn(4, 3, 8)).sum())
            optimizer.step()
            inner = [m for layer in model.layers for m in layer.modules()]
            assert not any(m._forward_hooks or m._forward_pre_hooks for m in inner)
    assert "layers.0.linear1" in header(tmp_path / "p")["modules"]
    assert "act_mean" in steps(tmp_path / "p")[-1]


def test_copies_of_a_watched_model_record_nothing(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with probe.watch(model, optimizer, tmp_path / "p", every=1):
        train(model, optimizer, 1)
        average = copy.deepcopy(model)
        average(torch.full((16, 1, 6, 6), 50.0))
        train(model, optimizer, 1)
        assert copy.deepcopy(optimizer).state_dict()["state"].keys()
    alone = net()
    other = sgd(alone)
    with probe.watch(alone, other, tmp_path / "q", every=1):
        train(alone, other, 1)
        train(alone, other, 1)
    means = [steps(tmp_path / name)[1]["act_mean"] for name in ("p", "q")]
    assert means[0] == means[1]


ELSEWHERE = """
import sys, torch
sys.modules["mltd"] = None
model = torch.load(sys.argv[1] + "/model.pt", weights_only=False)
print(tuple(model(torch.ones(2, 4)).shape))
del sys.modules["mltd"]
sys.modules["orjson"] = sys.modules["pandas"] = None
from mltd.runs import probe
optimizer = torch.optim.SGD(model.parameters(), 0.1)
with probe.watch(model, optimizer, sys.argv[1] + "/elsewhere"):
    torch.autograd.backward(model(torch.ones(3, 4)).sum())
    optimizer.step()
print(*(name for name in sys.modules if name.startswith("mltd.") and ".probe" not in name))
"""


def test_an_output_can_be_saved_and_differentiated_twice(tmp_path: Path) -> None:
    def slopes(folder: Path | None) -> list[Tensor]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 3), nn.Tanh())
        handle = probe.watch(model, sgd(model), folder / "p", every=1) if folder else None
        inputs = torch.randn(5, 4, requires_grad=True)
        output: Tensor = model(inputs)
        (slope,) = torch.autograd.grad(output.sum(), inputs, create_graph=True)
        torch.autograd.backward((slope**2).sum())
        pickle.dumps(output)
        if handle is not None:
            handle.close()
        return [p.grad for p in model.parameters() if p.grad is not None]

    watched, plain = slopes(tmp_path), slopes(None)
    assert all(torch.equal(a, b) for a, b in zip(watched, plain, strict=True))


def test_a_saved_model_is_loaded_where_there_is_no_probe_and_a_probe_needs_torch_alone(
    tmp_path: Path,
) -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    with probe.watch(model, sgd(model), tmp_path / "p") as handle:
        torch.save(model, tmp_path / "model.pt")
        torch.save(model.state_dict(), tmp_path / "state.pt")
        assert pickle.loads(pickle.dumps(handle)).is_active is False
        assert copy.deepcopy(handle).is_active is False
    assert list(torch.load(tmp_path / "state.pt")) == ["0.weight", "0.bias"]
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["(2, 3)", "mltd.runs"]
    assert done.stderr == ""
    assert len(steps(tmp_path / "elsewhere")) == 1


def test_close_leaves_nothing_on_the_model(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    handle = probe.watch(model, optimizer, tmp_path / "p")
    train(model, optimizer, 2)
    handle.close()
    handle.close()
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert not optimizer._optimizer_step_pre_hooks
    assert not optimizer._optimizer_step_post_hooks
    train(model, optimizer, 20)
    assert len(steps(tmp_path / "p")) == 1


def test_a_forked_process_does_not_write(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with probe.watch(model, optimizer, tmp_path / "p", every=1):
        train(model, optimizer, 1)
        child = os.fork()
        if child == 0:
            train(model, optimizer, 3)
            os._exit(0)
        os.waitpid(child, 0)
        train(model, optimizer, 1)
    assert [record["step"] for record in steps(tmp_path / "p")] == [1, 2]


def test_workers_of_a_loader_do_not_mind(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    data = torch.utils.data.TensorDataset(*images())
    with probe.watch(model, optimizer, tmp_path / "p", every=1):
        for x, y in torch.utils.data.DataLoader(data, batch_size=8, num_workers=1):
            train(model, optimizer, 1, lambda _, pair=(x, y): pair)  # type: ignore[misc]
    assert len(steps(tmp_path / "p")) == 2


# -- trouble ---------------------------------------------------------------------------------


def said_once(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err
    assert said.count("mltd probe:") == 1
    assert "The training goes on" in said
    return said


def test_an_internal_error_ends_the_recording_and_not_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> Any:
        raise ZeroDivisionError("oh")

    model = net()
    optimizer = sgd(model)
    handle = probe.watch(model, optimizer, tmp_path / "p", every=1)
    train(model, optimizer, 2)
    monkeypatch.setattr(session, "step_record", broken)
    assert len(train(model, optimizer, 5)) == 5
    assert not handle.is_active
    assert "ZeroDivisionError: oh" in said_once(capsys)
    last = records(tmp_path / "p")[-1]
    assert last["kind"] == "end"
    assert last["reason"] == "ZeroDivisionError: oh"
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_an_error_while_looking_at_an_output_is_no_error_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> Any:
        raise RuntimeError("no sample")

    monkeypatch.setattr("mltd.runs.probe.activations.sample_rows", broken)
    model = net()
    optimizer = sgd(model)
    probe.watch(model, optimizer, tmp_path / "p")
    train(model, optimizer, 3)
    assert "no sample" in said_once(capsys)


def test_a_full_disk_ends_the_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = net()
    optimizer = sgd(model)
    path = tmp_path / "p"
    handle = probe.watch(model, optimizer, path, every=1)
    train(model, optimizer, 1)
    path.unlink()
    path.symlink_to("/dev/full")  # opens as any other file, and has no room for a single byte
    train(model, optimizer, 3)
    assert not handle.is_active
    assert "No space left" in said_once(capsys)


def test_a_folder_that_vanishes_ends_the_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = net()
    optimizer = sgd(model)
    path = tmp_path / "gone" / "p"
    handle = probe.watch(model, optimizer, path, every=1)
    train(model, optimizer, 1)
    path.unlink()
    path.parent.rmdir()
    train(model, optimizer, 2)
    assert not handle.is_active
    said_once(capsys)


@pytest.mark.parametrize("name", ["file/p", "other.txt", "."])
def test_a_path_that_cannot_be_used_is_said_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "other.txt").write_text("my notes\n")
    model = net()
    optimizer = sgd(model)
    handle = probe.watch(model, optimizer, tmp_path / name)
    said_once(capsys)
    assert not handle.is_active
    train(model, optimizer, 2)
    assert (tmp_path / "other.txt").read_text() == "my notes\n"


@pytest.mark.parametrize(("model", "optimizer"), [(None, None), (net(), "adam"), (net(), [])])
def test_arguments_that_make_no_sense_are_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: Any, optimizer: Any
) -> None:
    handle = probe.watch(model, optimizer, tmp_path / "p")
    assert not handle.is_active
    said_once(capsys)


def test_two_probes_do_not_write_into_one_file(tmp_path: Path) -> None:
    one, two = net(), net(1)
    first, second = sgd(one), sgd(two)
    with (
        probe.watch(one, first, tmp_path / "p.jsonl"),
        probe.watch(two, second, tmp_path / "p.jsonl") as other,
    ):
        train(one, first, 1)
        train(two, second, 1)
    assert other.path == str(tmp_path / "p-2.jsonl")
    assert len(records(tmp_path / "p.jsonl")) == len(records(other.path)) == 3


def test_importing_the_probe_loads_neither_torch_nor_anything_of_ours() -> None:
    code = (
        "import sys; before = set(sys.modules); from mltd.runs import probe; "
        "print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith("mltd")}
    assert ours == {"mltd", "mltd.runs", "mltd.runs.probe"}
    assert not {"torch", "numpy", "orjson", "pandas"} & set(done.stdout.split())


def test_a_container_that_was_made_for_the_probe_alone_is_watched(tmp_path: Path) -> None:
    body, head = nn.Linear(4, 4), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], 0.05)
    handle = probe.watch(nn.ModuleDict({"G": body, "D": head}), optimizer, tmp_path / "p", every=1)
    for _ in range(3):
        torch.autograd.backward(head(body(torch.randn(8, 4))).sum())
        optimizer.step()
    assert handle.is_active
    handle.close()
    assert header(tmp_path / "p")["layers"] == ["G", "D"]
    assert len(steps(tmp_path / "p")) == 3
