"""Callbacks for trainers, driven by stand-ins that call them in the documented order.

The frameworks themselves are not installed where these tests run.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tests.runs.probe.training import backward, by_layer, header, images, net, records, steps

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put modules with the given contents where the frameworks would be."""

    def put(**modules: dict[str, Any]) -> None:
        for name, contents in modules.items():
            dotted = name.replace("__", ".")
            parts = dotted.split(".")
            for end in range(1, len(parts) + 1):
                module = ModuleType(".".join(parts[:end]))
                if module.__name__ not in sys.modules:
                    monkeypatch.setitem(sys.modules, module.__name__, module)
            vars(sys.modules[dotted]).update(contents)

    yield put
    for name in ("lightning", "hf", "keras"):
        sys.modules.pop(f"mltd.runs.probe.{name}", None)


class Callback:
    """The base class of all three, as far as it matters here."""

    model: Any = None

    def set_model(self, model: Any) -> None:
        self.model = model


def callback_of(name: str) -> Any:
    sys.modules.pop(f"mltd.runs.probe.{name}", None)
    return importlib.import_module(f"mltd.runs.probe.{name}").ProbeCallback


# -- Lightning -------------------------------------------------------------------------------


class LightningModule(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = net()

    def training_step(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        return functional.cross_entropy(self.body(batch[0]), batch[1])


def fit(callback: Any, trainer: Any, module: LightningModule, count: int, fails: bool) -> None:
    """One optimizer, automatic optimization: forward and backward happen inside of a closure."""
    callback.on_train_start(trainer, module)
    for number in range(count):

        def closure(number: int = number) -> Tensor:
            loss = module.training_step(images(number))
            trainer.optimizers[0].zero_grad()
            backward(loss)
            return loss

        trainer.optimizers[0].step(closure=closure)
        trainer.global_step += 1
    if fails:
        callback.on_exception(trainer, module, RuntimeError("stop"))
    else:
        callback.on_train_end(trainer, module)
    callback.teardown(trainer, module, "fit")


@pytest.mark.parametrize(
    "package", ["lightning__pytorch__callbacks", "pytorch_lightning__callbacks"]
)
@pytest.mark.parametrize("fails", [False, True])
def test_lightning(install: Install, tmp_path: Path, package: str, fails: bool) -> None:
    install(**{package: {"Callback": Callback}})
    module = LightningModule()
    optimizer = torch.optim.Adam(module.parameters(), 0.01)
    trainer = SimpleNamespace(
        optimizers=[optimizer],
        global_step=7,
        log_dir=str(tmp_path / "version_0"),
        default_root_dir=str(tmp_path),
        precision_plugin=SimpleNamespace(),
    )
    callback = callback_of("lightning")(every=5)
    fit(callback, trainer, module, 9, fails)
    path = tmp_path / "version_0" / "mltd-probe.jsonl"
    assert header(path)["layers"] == ["body.conv", "body.norm", "body.fc", "body.head"]
    assert [record["step"] for record in steps(path)] == [8, 10, 15]
    assert len(by_layer(path, steps(path)[-1], "grad_norm")) == 4
    assert len(by_layer(path, steps(path)[-1], "act_mean")) == 5
    assert records(path)[-1]["reason"] == "closed"
    assert not any(m._forward_hooks for m in module.modules())


# -- transformers ----------------------------------------------------------------------------


class AcceleratedOptimizer(torch.optim.Optimizer):
    """Wraps an optimizer and steps it through a scaler; never initialises its own base class."""

    def __init__(self, optimizer: torch.optim.Optimizer, scaler: Any = None) -> None:
        self.optimizer, self.scaler = optimizer, scaler

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        if self.scaler is not None:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()


@pytest.mark.parametrize("scales", [False, True])
def test_transformers(install: Install, tmp_path: Path, scales: bool) -> None:
    install(transformers={"TrainerCallback": Callback})
    model = net()
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0) if scales else None
    optimizer = AcceleratedOptimizer(torch.optim.AdamW(model.parameters(), 0.01), scaler)
    args, state, control = SimpleNamespace(output_dir=str(tmp_path)), SimpleNamespace(), None
    state.global_step = 100
    callback = callback_of("hf")()
    callback.on_train_begin(args, state, control, model=model, optimizer=optimizer)
    for number in range(12):
        x, y = images(number)
        loss = functional.cross_entropy(model(x), y)
        backward(loss if scaler is None else scaler.scale(loss))
        optimizer.step()
        optimizer.optimizer.zero_grad()
        state.global_step += 1
    callback.on_train_end(args, state, control, model=model, optimizer=optimizer)
    path = tmp_path / "mltd-probe.jsonl"
    assert [record["step"] for record in steps(path)] == [101, 110]
    assert steps(path)[0].get("loss_scale") == (256.0 if scales else None)
    assert steps(path)[0]["total"]["grad_norm"] < 10


def test_transformers_with_an_optimizer_of_somebody_else(install: Install, tmp_path: Path) -> None:
    install(transformers={"TrainerCallback": Callback})
    model = net()
    inner = torch.optim.AdamW(model.parameters(), 0.01)
    callback = callback_of("hf")()
    args, state = SimpleNamespace(output_dir=str(tmp_path)), SimpleNamespace(global_step=0)
    callback.on_train_begin(args, state, None, model=model, optimizer=object())
    x, y = images()
    backward(functional.cross_entropy(model(x), y))
    inner.step()
    callback.on_train_end(args, state, None)
    assert len(steps(tmp_path / "mltd-probe.jsonl")) == 1


# -- Keras -----------------------------------------------------------------------------------


class Variable:
    """A weight: has a shape, and gives its value as an array."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value, dtype=np.float32)
        self.shape = self.value.shape

    def numpy(self) -> Any:
        return self.value


def dense(name: str, *shape: int, trainable: bool = True) -> Any:
    weights = [Variable(np.full(shape, 0.5)), Variable(np.zeros(shape[-1]))]
    return SimpleNamespace(name=name, weights=weights, trainable_weights=weights * trainable)


def keras_fit(callback: Any, model: Any, batches: int, change: Callable[[int], None]) -> None:
    callback.set_model(model)
    callback.on_train_begin({})
    for batch in range(batches):
        callback.on_train_batch_begin(batch, {})
        change(batch)
        callback.on_train_batch_end(batch, {"loss": 1.0})
    callback.on_train_end({})


@pytest.fixture
def keras_model() -> Any:
    inner = SimpleNamespace(name="body", layers=[dense("a", 4, 3)], weights=[1])
    flat = SimpleNamespace(name="flat", weights=[], trainable_weights=[])
    optimizer = SimpleNamespace(learning_rate=Variable(0.25), iterations=Variable(40))
    layers = [inner, flat, dense("b", 3, 2, trainable=False)]
    return SimpleNamespace(layers=layers, optimizer=optimizer)


def test_keras(install: Install, tmp_path: Path, keras_model: Any) -> None:
    install(keras__callbacks={"Callback": Callback}, keras={"__version__": "3.9"})
    weight = keras_model.layers[0].layers[0].weights[0]

    def change(batch: int) -> None:
        weight.value = weight.value * 1.01

    keras_fit(callback_of("keras")(tmp_path / "p"), keras_model, 12, change)
    path = tmp_path / "p"
    first = header(path)
    assert first["layers"] == ["body/a", "b"]
    assert first["parameters"] == [15, 8]
    assert first["trainable"] == [15, 0]
    assert first["keras"] == "3.9"
    assert [record["step"] for record in steps(path)] == [41, 50]
    assert by_layer(path, steps(path)[0], "update_ratio") == {
        "body/a": pytest.approx(0.01, rel=1e-3), "b": 0.0,
    }  # fmt: skip
    assert steps(path)[0]["lr"] == [0.25]
    assert "grad_norm" not in steps(path)[0]


def test_keras_names_the_first_layer_with_bad_weights(
    install: Install, tmp_path: Path, keras_model: Any
) -> None:
    install(keras__callbacks={"Callback": Callback})

    def change(batch: int) -> None:
        keras_model.layers[2].weights[0].value[0, 0] = np.nan

    keras_fit(callback_of("keras")(tmp_path / "p"), keras_model, 1, change)
    (record,) = steps(tmp_path / "p")
    assert record["nonfinite"]["first"] == {"kind": "weight", "layer": "b"}


def test_keras_goes_on_when_the_callback_fails(
    install: Install, tmp_path: Path, keras_model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    install(keras__callbacks={"Callback": Callback})

    def change(batch: int) -> None:
        keras_model.layers[2].weights[0].value = "no array"

    keras_fit(callback_of("keras")(tmp_path / "p", every=1), keras_model, 5, change)
    assert capsys.readouterr().err.count("mltd probe:") == 1


def test_without_the_framework_only_its_callback_is_missing() -> None:
    for name in ("lightning", "hf", "keras"):
        with pytest.raises(ImportError):
            callback_of(name)
