"""The command `inspect`: from a path to an answer, an exit code, a document."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mltd.tui.cli import main
from mltd.tui.complaint import UNUSABLE
from tests.runs.checkpoints.looking import write_safetensors

from .pty_terminal import Terminal


def weights(path: Path, tensors: dict[str, Any]) -> Path:
    made = {
        name: ("F32", list(values.shape), values.astype("<f4").tobytes())
        for name, values in tensors.items()
    }
    return write_safetensors(path, made)


@pytest.fixture
def healthy() -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {
        "embed.weight": random.normal(0, 0.02, (20, 32)),
        "h.0.attn.q_proj.weight": random.normal(0, 0.1, (32, 32)),
        "h.0.mlp.up_proj.weight": random.normal(0, 0.1, (64, 32)),
        "h.0.mlp.down_proj.weight": random.normal(0, 0.1, (32, 64)),
        "lm_head.weight": random.normal(0, 0.1, (20, 32)),
    }


def test_a_healthy_checkpoint_says_so_first_and_what_was_looked_at(
    healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = weights(tmp_path / "m.safetensors", healthy)
    assert main(["inspect", str(path)]) == 0
    out = capfd.readouterr().out
    lines = out.splitlines()
    assert lines[0].endswith("m.safetensors")
    assert "nothing found that should worry you" in lines[1]
    assert "looked at" in lines[2]
    assert "all values of 5 tensors" in out
    assert "not looked at the optimizer" in out
    order = [out.index(f"\n  {title}") for title in ("Checkpoint", "Modules", "Balance", "Memory")]
    assert order == sorted(order)
    assert "(estimated)" in out


def test_a_nan_is_an_alarm_with_its_place_and_what_to_do(
    healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    healthy["h.0.mlp.up_proj.weight"][3, 1] = np.nan
    assert main(["inspect", str(weights(tmp_path / "m.safetensors", healthy))]) == 1
    out = capfd.readouterr().out
    assert "1 critical" in out.splitlines()[1]
    assert "at m.safetensors:h.0.mlp.up_proj.weight: 1 NaN of 2,048 values" in out
    assert out.index("What to do") < out.index("Checkpoint")
    assert "feed-forward, 1 bad" in out


def test_without_values_it_does_not_claim_health(
    healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    healthy["embed.weight"][0, 0] = np.nan
    path = weights(tmp_path / "m.safetensors", healthy)
    assert main(["inspect", "--no-values", str(path)]) == 0
    out = capfd.readouterr().out
    assert "but the values were not looked at" in out
    assert "not looked at values" in out


def test_two_checkpoints_show_what_moved(
    healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first = weights(tmp_path / "a.safetensors", healthy)
    for name in healthy:
        if "attn" not in name:
            healthy[name] = healthy[name] * 1.01
    second = weights(tmp_path / "b.safetensors", healthy)
    assert main(["inspect", str(first), str(second)]) == 1
    out = capfd.readouterr().out
    assert "frozen_layers" in out
    assert "did not move: h.0.attn.q_proj" in out
    assert "1.00e-02" in out


def test_the_document_is_plain_json_with_all_parts(
    healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first = weights(tmp_path / "a.safetensors", healthy)
    healthy["embed.weight"][0, 0] = np.inf
    second = weights(tmp_path / "b.safetensors", healthy)
    assert main(["inspect", "--json", "--tensors", str(first), str(second)]) == 1
    said = capfd.readouterr()
    assert said.out.count("\n") == 1
    assert said.err == ""
    found = json.loads(said.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert (found["schema"], found["status"]) == (1, "findings")
    assert found["checkpoint"]["parameters"] == 6400
    assert found["findings"][0]["id"] == "nan_weights"
    assert found["findings"][0]["evidence"][0]["kind"] == "checkpoint"
    assert found["modules"][0]["label"] == "embed"
    assert sum(kind["share"] for kind in found["balance"]["kinds"]) == pytest.approx(1)
    assert found["comparison"]["is_loadable"] is True
    assert found["memory"]["parts"][0]["name"] == "parameters"
    assert [tensor["name"] for tensor in found["tensors"]] == list(healthy)
    assert found["tensors"][0]["stats"]["infs"] == 1


def test_the_newest_checkpoint_of_a_run_is_taken_and_said(
    healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run" / "checkpoints"
    folder.mkdir(parents=True)
    for age, name in enumerate(("new", "old", "older")):
        path = weights(folder / f"{name}.safetensors", healthy)
        os.utime(path, (1e9 - age, 1e9 - age))
    log = "".join(f"step {step} loss {4 / step:.4f}\n" for step in range(1, 60))
    (tmp_path / "run" / "train.log").write_text(f"batch_size: 8\n{log}")
    assert main(["inspect", str(tmp_path / "run")]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "new.safetensors (the newest of 3 checkpoints there)" in out
    assert "--run" not in out


def test_a_log_that_is_named_is_used(
    healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = weights(tmp_path / "m.safetensors", healthy)
    logs = tmp_path / "logs"
    logs.mkdir()
    log = logs / "train.log"
    log.write_text("optimizer: adamw\n" + "".join(f"step {s} loss 1.0\n" for s in range(1, 60)))
    assert main(["inspect", "--json", str(path), "--run", str(log)]) == 0
    found = json.loads(capfd.readouterr().out)
    assert not any("--run" in part for part in found["not_looked_at"])


def evil(path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(path.parent / "was run"),)

    path.write_bytes(pickle.dumps({"weight": Evil()}, protocol=2))


def whole(path: Path) -> bytes:
    return weights(path, {"weight": np.ones((64, 64))}).read_bytes()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_text("step 1 loss 2\n"), "no checkpoint format"),
        (lambda path: path.write_bytes(whole(path)[:-100]), "m.pt"),
        (lambda path: path.mkdir(), "holds no checkpoint"),
        (lambda path: os.mkfifo(path), "not a regular file"),
        (lambda path: None, "there is no"),
        (evil, "m.pt"),
    ],
    ids=["empty", "text", "cut", "folder", "pipe", "missing", "hostile"],
)
def test_what_cannot_be_used_is_one_sentence(
    make: Any, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.pt"
    make(path)
    assert main(["inspect", str(path)]) == UNUSABLE
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("mltd-tui: ")
    assert said.err.count("\n") == 1
    assert words in said.err
    assert not (tmp_path / "was run").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--", "-oProxyCommand=x:/y.pt"], "is not a possible host"),
        (["ssh://-oProxyCommand=x/y.pt"], "is not a possible host"),
        (["login01:/scratch/m.pt", "./none.pt"], "there is no ./none.pt"),
        (["-"], "through a pipe"),
        ([""], "stands for no checkpoint"),
        (["a.pt", "b.pt", "--no-values"], "compared by their values"),
        (["a.pt", "--depth", "0"], "--depth 1 or more"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_way_out(
    arguments: list[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", *arguments]) == UNUSABLE
    assert words in capfd.readouterr().err


def test_ctrl_c_ends_a_long_look_at_once(tmp_path: Path) -> None:
    size = 6 << 30
    header = {"weight": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}
    text = json.dumps(header).encode()
    path = tmp_path / "huge.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    os.truncate(path, 8 + len(text) + size)  # a hole: it takes no room, only time
    terminal = Terminal("inspect", str(path))
    terminal.wait_for("of 6 GiB")
    terminal.press("\x03")
    code, out = terminal.end()
    assert (code, out) == (130, "")
    assert not any(target == str(path) for target in open_files())


def open_files() -> Iterator[str]:
    """What all processes of ours have open."""
    for link in glob.iglob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            yield os.readlink(link)


def test_neither_torch_nor_textual_is_loaded_to_look_at_a_checkpoint(
    healthy: dict[str, Any], tmp_path: Path
) -> None:
    path = weights(tmp_path / "m.safetensors", healthy)
    script = (
        "import sys; from mltd.tui.cli import main; code = main(['inspect', sys.argv[1]]);"
        "print(code, [m for m in ('torch', 'textual', 'anthropic') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines()[-1] == "0 []"


@pytest.mark.parametrize("name", ["hf", "hf/model.safetensors"])
def test_the_settings_beside_the_weights_are_used_for_the_memory(
    name: str, healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hf").mkdir()
    weights(tmp_path / "hf" / "model.safetensors", healthy)
    sizes = {"n_layer": 1, "n_head": 4, "n_embd": 32, "n_positions": 16, "model_type": "gpt2"}
    (tmp_path / "hf" / "config.json").write_text(json.dumps(sizes))
    assert main(["inspect", "--json", str(tmp_path / name)]) == 0
    found = json.loads(capfd.readouterr().out)
    (part,) = (one for one in found["memory"]["parts"] if one["name"] == "activations")
    assert part["how"] == "not stated: batch size per device"


def test_a_trainer_that_wrote_its_batch_size_lets_activations_be_estimated(
    healthy: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    weights(tmp_path / "model.safetensors", healthy)
    sizes = {"n_layer": 1, "n_head": 4, "n_embd": 32, "n_positions": 16}
    (tmp_path / "config.json").write_text(json.dumps(sizes))
    state = {"global_step": 7, "train_batch_size": 8}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    assert main(["inspect", str(tmp_path)]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "8 samples x 16 tokens x 1 layers, width 32" in out


@pytest.mark.parametrize(
    ("make", "names"), [(lambda path: None, []), (evil, ["posix.mkdir"])], ids=["missing", "evil"]
)
def test_a_program_gets_a_document_about_what_cannot_be_used(
    make: Any, names: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.pt"
    make(path)
    assert main(["inspect", "--json", str(path)]) == UNUSABLE
    said = capfd.readouterr()
    assert said.out.count("\n") == 1
    found = json.loads(said.out)
    assert (found["schema"], found["status"]) == (1, "unusable")
    assert found["checkpoint"]["path"] == str(path)
    assert found["hint"]
    assert found["globals"] == names
    assert said.err == f"mltd-tui: {found['problem']}; {found['hint']}\n"


def test_types_are_told_in_per_cent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write_safetensors(
        tmp_path / "m.safetensors",
        {"w.weight": ("F32", [64, 64], bytes(16384)), "n": ("I64", [1], bytes(8))},
    )
    main(["inspect", str(path)])
    assert "float32 >99.9%, int64 <0.1%" in capfd.readouterr().out
