"""Configuration files are read as data, and bad ones are explained."""

from __future__ import annotations

import contextlib
import json
import math
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mltd.runs.config import read_config_file
from mltd.runs.errors import FormatError, InputError, MltdError


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_json(tmp_path: Path) -> None:
    path = write(
        tmp_path, "args.json", '{"lr": 1e-4, "betas": [0.9, 0.95], "model": {"dim": 64}, "x": NaN}'
    )
    found = read_config_file(path)
    assert math.isnan(found.pop("x"))  # type: ignore[arg-type]
    assert found == {"lr": 1e-4, "betas": [0.9, 0.95], "model": {"dim": 64}}


def test_toml(tmp_path: Path) -> None:
    path = write(tmp_path, "config.toml", "[training]\nsteps = 10\nstarted = 2024-01-02\n")
    assert read_config_file(path) == {"training": {"steps": 10, "started": "2024-01-02"}}


def test_yaml_numbers_are_what_people_mean(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "hparams.yaml",
        "lr: 1e-4\nmin_lr: 1.0e-05\nsteps: 1000\ntime: 24:00:00\nday: 2024-13-45\n"
        "none: null\nfp16: true\n",
    )
    assert read_config_file(path) == {
        "lr": 1e-4,
        "min_lr": 1e-5,
        "steps": 1000,
        "time": "24:00:00",
        "day": "2024-13-45",
        "none": None,
        "fp16": True,
    }


def test_yaml_tags_become_what_they_hold(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    path = write(
        tmp_path,
        "hparams.yaml",
        f"""\
args: !!python/object:argparse.Namespace {{lr: 0.1}}
shape: !!python/tuple [1, 2]
run: !!python/object/apply:os.system ["touch {marker}"]
name: !!python/name:torch.nn.ReLU ''
path: !custom some/where
""",
    )
    found = read_config_file(path)
    assert found["args"] == {"lr": 0.1}
    assert found["shape"] == [1, 2]
    assert found["path"] == "some/where"
    assert "ReLU" in str(found["name"])
    assert not marker.exists()


def test_yaml_that_stands_for_gigabytes_is_cut_short(tmp_path: Path) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    found = read_config_file(write(tmp_path, "bomb.yaml", "\n".join(levels)))
    assert len(json.dumps(found)) < 2_000_000


def test_yaml_that_holds_itself_ends(tmp_path: Path) -> None:
    found = read_config_file(write(tmp_path, "loop.yaml", "a: &a\n  b: *a\n  lr: 1\n"))
    assert json.dumps(found).count("lr") <= 50


def test_wandb_settings_are_unwrapped(tmp_path: Path) -> None:
    text = (
        "wandb_version: 1\n_wandb: {desc: null, value: {v: 1}}\nlr:\n  desc: null\n  value: 0.1\n"
    )
    assert read_config_file(write(tmp_path, "config.yaml", text))["lr"] == 0.1


PYTHON = '''\
"""A config."""
import os
_base_ = ["../base.py"]
batch_size: int = 16
lr = 0.02 / 8 * -1
norm = dict(type="BN", requires_grad=False)
model = dict(type="RCNN", norm=norm, depth=50, sizes=(1, 2), hook=lambda x: x)
data = {"root": os.environ["HOME"], "workers": 4}
os.system("touch {marker}")
flag, other = 1, 2
'''


def test_python_is_parsed_but_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    found = read_config_file(write(tmp_path, "cfg.py", PYTHON.replace("{marker}", str(marker))))
    assert found == {
        "_base_": ["../base.py"],
        "batch_size": 16,
        "lr": -0.0025,
        "norm": {"type": "BN", "requires_grad": False},
        "model": {
            "type": "RCNN",
            "norm": {"type": "BN", "requires_grad": False},
            "depth": 50,
            "sizes": [1, 2],
        },
        "data": {"workers": 4},
    }
    assert not marker.exists()


def test_a_name_that_says_nothing_is_looked_into(tmp_path: Path) -> None:
    assert read_config_file(write(tmp_path, "settings", '{"lr": 1}')) == {"lr": 1}
    assert read_config_file(write(tmp_path, "options", "lr: 1\n")) == {"lr": 1}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", '{"lr": }', "not valid JSON: line 1, column 8"),
        ("a.json", "[1, 2]", "no table of settings"),
        ("a.json", "[" * 100_000, "not valid JSON"),
        ("a.yaml", "a: [1, 2\nb: }", "not valid YAML: line"),
        ("a.yaml", "[" * 100_000, "nested too deeply"),
        ("a.yaml", "- " * 100_000, "nested too deeply"),
        ("a.yaml", "", "holds nothing"),
        ("a.yaml", "x" * 3_000_000, "too large"),
        ("a.toml", "lr = ", "not valid TOML"),
        ("a.py", "def f(:\n", "not valid Python: line 1"),
        ("a.py", "a = " + "-" * 100_000 + "1", "not valid Python"),
        ("a.py", "a = 1\n" * 200_000, "too large"),
    ],
)
def test_a_bad_file_is_explained_in_a_sentence(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(FormatError, match=words) as caught:
        read_config_file(write(tmp_path, name, text))
    assert caught.value.message.startswith("a.")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_explained(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for name in ("missing.yaml", "pipe.yaml", "nul\0.yaml"):
        with pytest.raises(InputError):
            read_config_file(tmp_path / name)
    with pytest.raises(InputError, match="not a regular file"):
        read_config_file(tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=300),
    st.sampled_from(["a.json", "a.yaml", "a.toml", "a.py", "a"]),
)
def test_no_bytes_crash_the_reader(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with contextlib.suppress(MltdError):
        assert isinstance(read_config_file(path), dict)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(
            ["a", ": ", "\n", "  ", "- ", "[", "]", "{", "}", "&x ", "*x", "!!t ", "'", '"', "1"]
        ),
        max_size=40,
    )
)
def test_no_yaml_crashes_the_reader(tmp_path: Path, parts: list[str]) -> None:
    with contextlib.suppress(FormatError):
        read_config_file(write(tmp_path, "a.yaml", "".join(parts)))
