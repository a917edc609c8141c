"""Nothing of a private file is shown because a link in a run's folder leads to it."""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from mltd.analyzers.diagnosis import diagnose
from mltd.diagnosis.artifacts import ArtifactBook
from mltd.diagnosis.tools import ToolBox
from mltd.runs.discovery import explore
from mltd.runs.ingest import load
from mltd.runs.live import LiveRun
from mltd.tui.cli import main
from mltd.tui.engine.protocol import Diagnosed, Facts, FactsRequest, Open
from tests.tui.engine.test_service import Desk

WORD = "topsecretproject"
NUMBER = "0.31337"
SETTINGS = {"learning_rate": float(NUMBER), "project": WORD, "batch_size": 31337, "epochs": 31337}
STEPS = "".join(f"step {step} loss {3 - step / 100:.3f} lr 0.1\n" for step in range(120))
SECRET_STEPS = "".join(f"step {step} loss 31337.5 {WORD} lr {NUMBER}\n" for step in range(120))
SECRETS = {
    "secret.yaml": "".join(f"{key}: {value}\n" for key, value in SETTINGS.items()),
    "secret.json": json.dumps(SETTINGS),
    "secret.log": SECRET_STEPS,
    "secret.jsonl": "".join(
        json.dumps({"step": step, "loss": 31337.5, WORD: 31337}) + "\n" for step in range(120)
    ),
    "state.json": json.dumps(
        {"global_step": 9, "log_history": [{"step": s, "loss": 31337.5} for s in range(9)]}
    ),
    "param": WORD,
    "files/config.yaml": f"project:\n  value: {WORD}\n",
    "files/output.log": SECRET_STEPS,
}
LINKS = {
    "run/config.yaml": "secret.yaml",
    "run/hparams.yaml": "secret.yaml",
    "run/args.json": "secret.json",
    "run/.hydra/config.yaml": "secret.yaml",
    "run/train.out": "secret.log",
    "run/metrics.jsonl": "secret.jsonl",
    "run/train.probe.jsonl": "secret.jsonl",
    "run/checkpoint-9/trainer_state.json": "state.json",
    "run/logs": "files",
    "run/wandb/run-20240101_101010-abc123/files": "files",
    "run/wandb/run-20240101_101010-abc123/files2/config.yaml": "secret.yaml",
    "run/mlruns/0/0123456789abcdef0123456789abcdef/params/project": "param",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A run's folder in which everything but the log is a link to something private."""
    write(tmp_path / "private", SECRETS)
    top = tmp_path / "top"
    write(top, {"run/train.log": STEPS})
    store = "run/mlruns/0/0123456789abcdef0123456789abcdef"
    meta = "artifact_uri: x\nlifecycle_stage: active\nrun_id: a\nexperiment_id: 0\nstart_time: 1\n"
    write(top, {f"{store}/meta.yaml": meta, f"{store}/metrics/loss": "1700000000000 1.5 1\n"})
    for name, target in LINKS.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).symlink_to(tmp_path / "private" / target)
    return top


@pytest.fixture
def one_link(tmp_path: Path) -> Path:
    """The run of the report: a log, and settings that are a link."""
    write(tmp_path / "private", SECRETS)
    write(tmp_path, {"run/train.log": STEPS})
    (tmp_path / "run/config.yaml").symlink_to(tmp_path / "private/secret.yaml")
    return tmp_path


def assert_nothing_shown(text: str) -> None:
    for private in (WORD, NUMBER, "31337"):
        assert private not in text


COMMANDS = [
    ["check"], ["check", "--json"], ["report"], ["report", "--json"], ["pack"], ["export"]
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("name", ["run", "run/train.log"])
def test_settings_that_link_out_are_named_and_not_shown(
    one_link: Path, command: list[str], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, str(one_link / name)]) == 0
    said = capfd.readouterr()
    assert said.out
    assert_nothing_shown(said.out + said.err)
    if command != ["export"]:
        assert "config.yaml leads out of the run's folder" in said.out + said.err


@pytest.mark.parametrize("command", COMMANDS[:2] + COMMANDS[4:5], ids=" ".join)
@pytest.mark.parametrize("name", ["run", "."])
def test_no_kind_of_file_that_links_out_is_shown(
    trap: Path, command: list[str], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    main([*command, str(trap / name)])
    said = capfd.readouterr()
    assert "train.log" in said.out
    assert_nothing_shown(said.out + said.err)
    assert said.err.count("leads out of the run's folder") >= 5


@pytest.mark.parametrize(
    "target", ["/proc/self/environ", "/dev/zero", "../pipe", "loop", "inner", "gone"]
)
def test_what_is_no_file_of_a_run_holds_nobody_up(
    one_link: Path, target: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROJECT", WORD)
    os.mkfifo(one_link / "pipe")
    (one_link / "run/inner").mkdir()
    (one_link / "run/config.yaml").unlink()
    (one_link / "run/config.yaml").symlink_to(target if target != "loop" else "config.yaml")
    for command in COMMANDS:
        main([*command, str(one_link / "run")])
    assert_nothing_shown(capfd.readouterr().out)


def test_links_within_the_folder_are_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"run/train.log": STEPS, "run/configs/base.yaml": "learning_rate: 0.625\n"})
    (tmp_path / "run/config.yaml").symlink_to("configs/base.yaml")
    (tmp_path / "run/latest.log").symlink_to("train.log")
    assert main(["check", "--json", str(tmp_path / "run")]) in (0, 1)
    said = capfd.readouterr()
    assert json.loads(said.out)["run"]["config"]["learning_rate"] == 0.625
    assert not said.err


def test_what_the_user_names_is_followed_wherever_it_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"2024-05-01/train.log": STEPS, "2024-05-01/config.yaml": "lr: 0.625\n"})
    (tmp_path / "here").mkdir()
    (tmp_path / "here/latest").symlink_to("../2024-05-01")
    (tmp_path / "here/latest.log").symlink_to("../2024-05-01/train.log")
    monkeypatch.chdir(tmp_path / "here")
    for name in ("latest", "latest/", "latest/train.log", "latest.log", "./latest.log", "lat*.log"):
        assert main(["check", "--json", name]) in (0, 1)
        said = json.loads(capfd.readouterr().out)["run"]
        assert said["series"], name
        is_folder = name.startswith("latest/") or name == "latest"
        assert ("lr" in said["config"]) == is_folder, name
        assert main(["pack", name]) == 0
        assert "leads out" not in capfd.readouterr().out


def test_what_lies_beside_a_named_link_stays_in_the_folder_of_the_link(
    one_link: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (one_link / "run/latest.log").symlink_to("../elsewhere.log")
    (one_link / "elsewhere.log").write_text(STEPS)
    main(["pack", str(one_link / "run/latest.log")])
    said = capfd.readouterr()
    assert "step 119" in said.out
    assert_nothing_shown(said.out + said.err)


def test_a_big_log_that_becomes_a_link_is_not_read_by_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mltd.runs import bulk, ingest

    monkeypatch.setattr(ingest, "WORTH_IT", 1)
    monkeypatch.setattr(bulk, "STRETCH", 512)
    write(tmp_path, {"run/train.log": STEPS, "secret.log": SECRET_STEPS})
    (files,) = explore(str(tmp_path / "run")).runs
    recognise = ingest.FileFeed.recognise

    def swap(feed: ingest.FileFeed, head: bytes) -> object:
        found = recognise(feed, head)
        (tmp_path / "run/train.log").unlink()
        (tmp_path / "run/train.log").symlink_to(tmp_path / "secret.log")
        return found

    monkeypatch.setattr(ingest.FileFeed, "recognise", swap)
    loaded = load(files)
    assert "leads out of the run's folder" in loaded.problems[0].message
    assert_nothing_shown(repr([list(series.values) for series in loaded.run.series]))


@pytest.mark.parametrize("name", ["secret.yaml", "config.yaml"])
def test_settings_that_are_named_with_a_run_are_its_settings(
    one_link: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    target = one_link / "private" / name
    (one_link / "private/secret.yaml").rename(target)
    (one_link / "run/config.yaml").unlink()
    (one_link / "run/config.yaml").symlink_to(target)
    for command in (["check", "--json"], ["pack"]):
        assert main([*command, str(one_link / "run"), str(target)]) in (0, 1)
        said = capfd.readouterr()
        assert WORD in said.out
        assert "leads out" not in said.out + said.err


def test_a_followed_log_that_becomes_a_link_is_not_read_on(tmp_path: Path) -> None:
    write(tmp_path, {"run/train.log": STEPS, "secret.log": SECRET_STEPS})
    (files,) = explore(str(tmp_path / "run")).runs
    live = LiveRun(files)
    live.read()
    before = live.loaded.run.files[0].lines
    log = tmp_path / "run/train.log"
    log.rename(tmp_path / "run/train.log.1")
    log.symlink_to(tmp_path / "secret.log")
    live.read()
    assert "leads out of the run's folder" in live.status_of(live.paths[0]).reason
    log.unlink()
    log.symlink_to("train.log.1")
    live.read()
    assert live.loaded.run.files[0].lines == before
    assert live.status_of(live.paths[0]).reason == ""
    live.close()


def test_settings_swapped_for_a_link_after_they_were_found_are_not_read(tmp_path: Path) -> None:
    write(tmp_path / "private", SECRETS)
    write(tmp_path, {"run/train.log": STEPS, "run/sub/config.yaml": "lr: 0.1\n"})
    (files,) = explore(str(tmp_path / "run")).runs
    (tmp_path / "run/sub").rename(tmp_path / "old")
    (tmp_path / "private/secret.yaml").rename(tmp_path / "private/config.yaml")
    (tmp_path / "run/sub").symlink_to(tmp_path / "private")
    loaded = load(files)
    assert [problem.message for problem in loaded.problems if "leads out" in problem.message]
    assert not loaded.run.config


# -- Claude's tools, the app's engine ----------------------------------------------------------


def test_no_tool_of_claude_shows_it(trap: Path) -> None:
    runs = {f"run{n}": load(files).run for n, files in enumerate(explore(str(trap / "run")).runs)}
    book = ArtifactBook(runs)
    box = ToolBox(book, runs, {key: diagnose(run) for key, run in runs.items()})
    said = [box.call("list_artifacts", {}).text]
    for artifact in book:
        for tool, more in (
            ("read_lines", {"first": 1, "last": 50}),
            ("grep", {"pattern": "."}),
            ("read_config", {}),
            ("read_source", {}),
        ):
            for name in (artifact.name, artifact.path):
                said.append(box.call(tool, {"artifact": name, **more}).text)
    for run in runs:
        said.append(box.call("read_config", {"run": run}).text)
    assert "leads out of the run's folder" in said[0]
    assert_nothing_shown("\n".join(said))


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.watcher.close()


def test_the_engine_of_the_app_tells_nothing_of_it(trap: Path, desk: Desk) -> None:
    desk.inbox.wish(Open((str(trap / "run"),)))
    desk.until(lambda: desk.of(Diagnosed))
    desk.inbox.wish(FactsRequest(0))
    desk.until(lambda: desk.of(Facts))
    assert_nothing_shown(repr(desk.news))


def test_a_session_about_a_link_is_not_found_by_the_name_of_the_link(
    tmp_path: Path, desk: Desk
) -> None:
    """Whoever opens the session later would read by its name what nobody has named."""
    write(tmp_path, {"run/config.yaml": "lr: 0.1\n", "secret.log": SECRET_STEPS})
    (tmp_path / "run/train.log").symlink_to(tmp_path / "secret.log")
    desk.inbox.wish(Open((str(tmp_path / "run"),)))
    desk.until(lambda: desk.service._followed or len(desk.news) > 3)
    desk.inbox.wish(FactsRequest(0))
    desk.until(lambda: desk.of(Facts))
    facts = desk.of(Facts)[-1]
    assert facts.location == str(tmp_path / "run")
    assert '"digest":""' in facts.prints
    assert_nothing_shown(repr(desk.news))


# -- inspect -----------------------------------------------------------------------------------


def safetensors(name: str) -> bytes:
    header = json.dumps({name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return struct.pack("<Q", len(header)) + header + struct.pack("<2f", 0.5, -0.5)


@pytest.mark.parametrize("name", ["../secret.safetensors", "{tmp}/secret.safetensors", "link"])
def test_an_index_of_shards_leads_to_no_other_folder(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.safetensors").write_bytes(safetensors(WORD))
    (folder / "link").symlink_to(tmp_path / "secret.safetensors")
    (folder / "own.safetensors").write_bytes(safetensors("own.weight"))
    shards = {WORD[::-1]: name.format(tmp=tmp_path), "own.weight": "own.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    for target in (folder, folder / "model.safetensors.index.json"):
        main(["inspect", "--tensors", str(target)])
        said = capfd.readouterr()
        assert "own.weight" in said.out
        assert WORD not in said.out + said.err
        if name == "link":
            assert "leads out of the run's folder" in " ".join(said.out.split())


def test_settings_and_optimizers_beside_weights_stay_in_the_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(safetensors("own.weight"))
    (tmp_path / "secret.json").write_text(json.dumps({"model_type": WORD, "architectures": [WORD]}))
    (tmp_path / "secret.pt").write_bytes(pickle.dumps({WORD: 1}))
    for name in ("config.json", "trainer_state.json", "adapter_config.json"):
        (folder / name).symlink_to(tmp_path / "secret.json")
    (folder / "optimizer.pt").symlink_to(tmp_path / "secret.pt")
    for target in (folder, folder / "model.safetensors"):
        main(["inspect", "--json", "--tensors", str(target)])
        said = capfd.readouterr()
        assert "own.weight" in said.out
        assert WORD not in said.out + said.err


def test_a_cache_of_the_hugging_face_hub_is_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "hub/models--org--net"
    snapshot = model / "snapshots/607a30d"
    write(model, {"blobs/b": json.dumps({"model_type": "llama"}), "refs/main": "607a30d"})
    (model / "blobs/a").write_bytes(safetensors("own.weight"))
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").symlink_to("../../blobs/a")
    (snapshot / "config.json").symlink_to("../../blobs/b")
    (tmp_path / "net").symlink_to(snapshot)
    for target in (snapshot, snapshot / "model.safetensors", model, model / "snapshots"):
        assert main(["inspect", "--json", "--tensors", str(target)]) == 0
        said = capfd.readouterr().out
        assert "own.weight" in said
        assert "llama" in said


def test_the_newest_checkpoint_of_a_folder_does_not_lie_elsewhere(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "secret.safetensors").write_bytes(safetensors(WORD))
    (tmp_path / "run/last.ckpt").symlink_to(tmp_path / "secret.safetensors")
    assert main(["inspect", str(tmp_path / "run")]) == 2
    said = capfd.readouterr()
    assert "last.ckpt leads out of the run's folder" in said.err
    assert WORD not in said.out + said.err.replace("secret.safetensors", "")
    assert main(["inspect", str(tmp_path / "run/last.ckpt")]) == 0
    assert WORD in capfd.readouterr().out
