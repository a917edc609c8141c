"""The callback in real trainings of Keras, with torch as its backend."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runs.probe.training import by_layer, header, records, steps

os.environ.setdefault("KERAS_BACKEND", "torch")
keras: Any = pytest.importorskip("keras", reason="Keras is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of Keras

from mltd.runs.probe.keras import ProbeCallback  # noqa: E402 - needs Keras

DATA = np.random.default_rng(0).normal(size=(48, 6)).astype("float32")
LABELS = np.random.default_rng(0).integers(0, 3, 48)


def model(**options: Any) -> Any:
    keras.utils.set_random_seed(0)
    layers = keras.layers
    body = keras.Sequential([layers.Dense(8, activation="relu", name="a")], name="body")
    parts = [layers.Input((6,)), body, layers.BatchNormalization(name="norm")]
    parts += [layers.Dropout(0.2), layers.Dense(3, name="head")]
    made = keras.Sequential(parts)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(optimizer=keras.optimizers.SGD(0.1, **options), loss=loss)
    return made


def fit(trained: Any, *callbacks: Any, **options: Any) -> list[float]:
    keras.utils.set_random_seed(1)
    chosen = {"batch_size": 4, "epochs": 2, "verbose": 0, "validation_split": 0.25, **options}
    losses: list[float] = trained.fit(DATA, LABELS, callbacks=list(callbacks), **chosen).history[
        "loss"
    ]
    return losses


def test_a_training_is_recorded_and_the_same(tmp_path: Path) -> None:
    plain, watched, path = model(), model(), tmp_path / "p"
    assert fit(plain) == fit(watched, ProbeCallback(path, every=5))
    for one, other in zip(plain.get_weights(), watched.get_weights(), strict=True):
        assert np.array_equal(one, other)
    first = header(path)
    assert first["layers"] == ["body/a", "norm", "head"]
    assert first["parameters"] == [56, 32, 27]
    assert first["trainable"] == [56, 16, 27]
    assert first["keras"] == keras.__version__
    assert [record["step"] for record in steps(path)] == [1, 5, 10, 15]
    assert all(record["lr"] == [pytest.approx(0.1)] for record in steps(path))
    assert records(path)[-1]["reason"] == "closed"
    # Keras goes on counting where a training ended.
    fit(watched, ProbeCallback(path, every=5), epochs=1)
    assert [record["step"] for record in steps(path)][4:] == [19, 20, 25]


def test_gradients_weights_and_updates_are_those_of_the_step(tmp_path: Path) -> None:
    trained, path = model(), tmp_path / "p"
    fit(trained, ProbeCallback(path, every=1))
    for record in steps(path):
        gradients = by_layer(path, record, "grad_norm")
        weights = by_layer(path, record, "weight_norm")
        ratios = by_layer(path, record, "update_ratio")
        # That is what plain gradient descent does, and running statistics are no part of it.
        expected = {name: 0.1 * gradients[name] / weights[name] for name in gradients}
        assert len(expected) == 3
        assert ratios == pytest.approx(expected, rel=1e-3)


def test_only_batches_after_which_the_weights_move_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "p"
    fit(model(gradient_accumulation_steps=4), ProbeCallback(path, every=2))
    assert [record["step"] for record in steps(path)] == [1, 2, 4]
    assert all(min(record["update_ratio"]) > 0 for record in steps(path))
    assert "grad_norm" not in steps(path)[0]  # one batch's would not be the step's


def test_the_first_layer_with_bad_weights_is_named(tmp_path: Path) -> None:
    trained, path = model(), tmp_path / "p"
    values = trained.get_layer("norm").get_weights()
    trained.get_layer("norm").set_weights([*values[:3], np.full_like(values[3], np.nan)])
    fit(trained, ProbeCallback(path), epochs=1)
    assert steps(path)[0]["nonfinite"]["first"] == {"kind": "weight", "layer": "norm"}


def test_a_callback_that_fails_ends_no_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gone" / "p"
    callback = ProbeCallback(path, every=1)

    class Removing(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 3 and path.exists():
                path.unlink()
                path.parent.rmdir()

    assert len(fit(model(), callback, Removing())) == 2
    assert capsys.readouterr().err.count("mltd probe: stopped recording") == 1
