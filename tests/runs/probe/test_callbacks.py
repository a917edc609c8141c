"""What all callbacks have in common: they need their framework, and know their options."""

from __future__ import annotations

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("name", "frameworks"),
    [
        ("lightning", ["lightning", "lightning.pytorch.callbacks", "pytorch_lightning"]),
        ("hf", ["transformers"]),
        ("keras", ["keras", "tensorflow", "tensorflow.keras.callbacks"]),
    ],
)
def test_without_the_framework_only_its_callback_is_missing(
    monkeypatch: pytest.MonkeyPatch, name: str, frameworks: list[str]
) -> None:
    for framework in frameworks:
        for module in [one for one in sys.modules if f"{one}.".startswith(f"{framework}.")]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"mltd.runs.probe.{name}", raising=False)
    with pytest.raises(ImportError):
        importlib.import_module(f"mltd.runs.probe.{name}")


@pytest.mark.parametrize(
    ("name", "framework"), [("lightning", "pytorch_lightning"), ("hf", "transformers")]
)
def test_an_option_that_does_not_exist_is_refused_before_the_training(
    name: str, framework: str
) -> None:
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    callback = importlib.import_module(f"mltd.runs.probe.{name}").ProbeCallback
    with pytest.raises(TypeError, match=r"no option 'evry'; it has .*every"):
        callback(evry=5)
