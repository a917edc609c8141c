"""Settings by meaning, under the names that projects give them."""

from __future__ import annotations

import pytest

from mltd.analyzers.core.settings_lookup import Setting, Settings, spellings
from mltd.runs.roles import normalise


@pytest.mark.parametrize(
    ("config", "meaning", "path"),
    [
        ({"lr": 0.1}, "lr", "lr"),
        ({"o": {"params": {"learning_rate": "1e-4"}}}, "lr", "o.params.learning_rate"),
        ({"max-grad-norm": 1.0}, "clip", "max-grad-norm"),
        ({"trainer": {"gradient_clip_val": 0.5}}, "clip", "trainer.gradient_clip_val"),
        ({"per_device_train_batch_size": 8}, "batch_size", "per_device_train_batch_size"),
        ({"numWorkers": 4}, "workers", "numWorkers"),
        ({"my_own_knob": 3}, "my own knob", "my_own_knob"),
    ],
)  # fmt: skip
def test_a_setting_is_found_by_its_meaning(
    config: dict[str, object], meaning: str, path: str
) -> None:
    found = Settings(config).get(meaning)
    assert found is not None
    assert found.path == path


def test_what_is_not_there_is_not_made_up() -> None:
    settings = Settings({"model": {"lr": {"nested": 1}}})
    assert settings.get("clip") is None
    assert settings.number("clip") is None
    assert not Settings({})
    assert settings


def test_the_better_spelling_wins() -> None:
    found = Settings({"base_lr": 1.0, "optim": {"lr": 2.0}}).get("lr")
    assert found is not None
    assert found.value == 2.0


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), ("3e-4", 3e-4), (" 5 ", 5.0), (True, 1.0), ("adam", None), ("1.2.3", None),
     (None, None), ([1], None), ("nan", None)],
)  # fmt: skip
def test_a_value_as_a_number(value: object, number: float | None) -> None:
    assert Setting("x", value).number == number


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"muon_lr": 0.02, "min_lr": 1e-5}, "muon_lr"),
        ({"min_lr": 1e-5}, None),
        ({"lr": "auto", "adam_lr": 1e-3}, "adam_lr"),
    ],
)
def test_the_learning_rate_under_any_name(config: dict[str, object], path: str | None) -> None:
    found = Settings(config).learning_rate()
    assert (found.path if found else None) == path


def test_a_setting_is_evidence() -> None:
    evidence = Setting("optimizer.lr", 0.1).evidence
    assert (evidence.kind.value, evidence.ref, evidence.quote) == (
        "config",
        "config:optimizer.lr",
        "0.1",
    )


def test_spellings_are_folded_as_names_are() -> None:
    for meaning, names in spellings().items():
        assert names, meaning
        assert [normalise(name) for name in names] == names, meaning


def test_a_config_deeper_than_any_person_writes_ends() -> None:
    config: dict[str, object] = {}
    inner = config
    for _ in range(100):
        inner["a"] = {}
        inner = inner["a"]  # type: ignore[assignment]
    assert len(list(Settings(config))) <= 1
