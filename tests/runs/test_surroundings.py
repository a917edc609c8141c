"""What is seen around a run: missing, empty, here, or not to be seen from this machine."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mltd.runs.discovery import discover
from mltd.runs.ingest import load
from mltd.runs.remote.names import VARIABLE
from mltd.runs.schedulers.job import Job
from mltd.runs.surroundings import Presence, Surroundings, surroundings_of
from mltd.runs.tracker_folders import own_folders, sync_command, tracker_folders

LOG = "step 1 loss 2.0\nstep 2 loss 1.0\n"


def make(folder: Path, *names: str) -> Surroundings:
    """A run folder with these files; `train.log` is its log."""
    for name in ("train.log", *names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LOG if name.endswith(".log") else '{"lr": 0.1}')
    (files,) = discover(str(folder / "train.log"))
    return Surroundings.of(files)


def presence(around: Surroundings, name: str, *bases: str) -> str:
    return around.look_up(name, bases).presence.value


class TestLookUp:
    def test_a_name_beside_the_settings_of_a_run(self, tmp_path: Path) -> None:
        around = make(tmp_path / "run", "config.json", "last.pt")
        assert presence(around, "best.pt") == "missing"
        (tmp_path / "run" / "best.pt").touch()
        assert presence(around, "best.pt") == "empty"
        (tmp_path / "run" / "best.pt").write_text("w")
        assert presence(around, "best.pt") == "here"

    def test_a_log_that_was_copied_alone_says_nothing_about_its_folder(
        self, tmp_path: Path
    ) -> None:
        around = make(tmp_path / "Downloads")
        assert presence(around, "best.pt") == "unseen"
        assert presence(around, "checkpoints/best.pt") == "unseen"
        (tmp_path / "Downloads" / "checkpoints").mkdir()
        assert presence(around, "checkpoints/best.pt") == "missing"

    def test_a_copy_of_a_run_folder_may_lack_its_weights(self, tmp_path: Path) -> None:
        around = make(tmp_path / "run", "config.json")
        assert presence(around, "best.pt") == "unseen"
        (tmp_path / "run" / "checkpoints").mkdir()
        found = around.look_up("checkpoints/best.pt")
        assert (found.presence, found.is_certain) == (Presence.MISSING, False)
        assert around.look_up("checkpoints/best.pt", [str(tmp_path / "run")]).is_certain
        (tmp_path / "run" / "checkpoints" / "last.pt").write_text("w")
        assert around.look_up("checkpoints/best.pt").is_certain
        assert presence(around, "best.pt") == "missing"

    def test_neighbours_that_have_theirs_show_that_it_is_no_copy(self, tmp_path: Path) -> None:
        around = make(tmp_path / "run", "config.json")
        make(tmp_path / "other", "config.json", "best.pt")
        assert presence(around, "best.pt") == "missing"

    def test_names_may_start_in_the_folders_above(self, tmp_path: Path) -> None:
        around = make(tmp_path / "out" / "exp" / "run", "config.json")
        assert presence(around, "out/exp/run/best.pt") == "missing"
        (tmp_path / "out/exp/run/best.pt").write_text("w")
        assert presence(around, "out/exp/run/best.pt") == "here"
        assert presence(around, "./best.pt") == "here"

    @pytest.mark.parametrize(
        "name",
        [
            "/no/such/cluster/run/best.pt", "$SCRATCH/best.pt", "s3://bucket/best.pt", "",
            "../../best.pt", "a\0b", "/proc/best.pt",
        ],
    )  # fmt: skip
    def test_what_is_elsewhere_is_unseen(self, tmp_path: Path, name: str) -> None:
        assert presence(make(tmp_path / "run", "config.json"), name) == "unseen"

    def test_absolute_names(self, tmp_path: Path) -> None:
        around = make(tmp_path / "run", "config.json")
        assert presence(around, f"{tmp_path}/run/best.pt") == "missing"
        assert presence(around, f"{tmp_path}/run/gone/best.pt") == "unseen"

    def test_a_tree_that_is_mounted_elsewhere_is_recognised(self, tmp_path: Path) -> None:
        around = make(tmp_path / "run7", "config.json")
        (tmp_path / "run7" / "best.pt").write_text("w")
        around = replace(around, artifacts=(*around.artifacts, str(tmp_path / "run7/best.pt")))
        assert presence(around, "/gpfs/anna/run7/best.pt") == "here"

    def test_a_stem_stands_for_its_files(self, tmp_path: Path) -> None:
        around = make(tmp_path / "run", "config.json", "model.ckpt-100.index")
        assert presence(around, "model.ckpt-100") == "here"
        assert presence(around, f"{tmp_path}/run/model.ckpt-100") == "here"
        assert presence(around, "model.ckpt-10") == "missing"

    def test_a_folder_without_anything_is_empty(self, tmp_path: Path) -> None:
        around = make(tmp_path / "run", "config.json")
        (tmp_path / "run" / "checkpoint-5").mkdir()
        assert presence(around, "checkpoint-5") == "empty"
        (tmp_path / "run" / "checkpoint-5" / "model.pt").write_text("w")
        assert presence(around, "checkpoint-5") == "here"

    def test_folders_that_the_settings_name_are_looked_into(self, tmp_path: Path) -> None:
        around = make(tmp_path / "run", "config.json", "last.pt")
        (tmp_path / "store").mkdir()
        (tmp_path / "store" / "best.pt").write_text("w")
        assert presence(around, "best.pt") == "missing"
        assert presence(around, "best.pt", str(tmp_path / "store")) == "here"
        assert presence(around, "best.pt", "store") == "here"

    def test_where_the_job_works_counts(self, tmp_path: Path) -> None:
        (tmp_path / "work").mkdir()
        make(tmp_path / "logs")
        (files,) = discover(str(tmp_path / "logs" / "train.log"))
        run = load(files).run
        around = surroundings_of(run)
        assert around is not None
        assert presence(around, "best.pt") == "unseen"
        run.job = Job(id="1", work_dir=str(tmp_path / "work"))
        around = surroundings_of(run)
        assert around is not None
        assert presence(around, "best.pt") == "missing"

    def test_of_a_remote_run_only_copies_of_logs_are_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        around = make(tmp_path / "mltd-ssh-1" / "login01:" / "run", "config.json", "last.pt")
        assert presence(around, "best.pt") == "missing"
        monkeypatch.setenv(VARIABLE, str(tmp_path / "mltd-ssh-1"))
        assert presence(around, "best.pt") == "unseen"

    @given(st.text(max_size=300))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_any_name_can_be_looked_up(self, tmp_path: Path, name: str) -> None:
        around = Surroundings(str(tmp_path), (str(tmp_path / "train.log"),))
        assert around.look_up(name, [name]).presence in Presence


def offline(holder: Path, name: str, ago: float = 0.0, job: str = "") -> Path:
    """A folder as W&B lays it out."""
    folder = holder / "wandb" / f"offline-run-{name}"
    (folder / "files").mkdir(parents=True)
    record = folder / f"run-{name.rpartition('-')[2]}.wandb"
    record.write_bytes(b":W&B\x32\xbe\x00")
    os.utime(record, (time.time() - ago,) * 2)
    if job:
        metadata = {"slurm": {"job_id": job}}
        (folder / "files" / "wandb-metadata.json").write_text(json.dumps(metadata))
    return folder


class TestTrackerFolders:
    def test_the_only_one_that_ended_with_the_log_is_the_run_s(self, tmp_path: Path) -> None:
        around = make(tmp_path)
        own = offline(tmp_path, "20240101_000000-abc")
        offline(tmp_path, "20230101_000000-old", ago=90_000)
        folders, is_sure = own_folders(around)
        assert [one.path for one in folders] == [str(own)]
        assert is_sure
        assert folders[0].is_offline
        assert not folders[0].is_synced

    def test_two_that_ended_together_may_be_anyone_s_unless_the_log_names_one(
        self, tmp_path: Path
    ) -> None:
        around = make(tmp_path)
        offline(tmp_path, "20240101_000000-abc")
        offline(tmp_path, "20240101_000001-def")
        folders, is_sure = own_folders(around)
        assert (len(folders), is_sure) == (2, False)
        folders, is_sure = own_folders(around, "wandb sync wandb/offline-run-20240101_000001-def")
        assert [one.id for one in folders] == ["def"]
        assert is_sure

    def test_the_slurm_job_tells_them_apart(self, tmp_path: Path) -> None:
        make(tmp_path)
        log = tmp_path / "slurm_logs" / "48213-vgae.out"
        log.parent.mkdir()
        log.write_text(LOG)
        offline(tmp_path, "20240101_000000-abc", job="48213", ago=9000)
        offline(tmp_path, "20240101_000001-def", job="48214")
        (files,) = discover(str(log))
        folders, is_sure = own_folders(Surroundings.of(files))
        assert [one.id for one in folders] == ["abc"]
        assert is_sure

    def test_the_mark_of_a_sync_is_seen(self, tmp_path: Path) -> None:
        around = make(tmp_path)
        folder = offline(tmp_path, "20240101_000000-abc")
        (folder / "run-abc.wandb.synced").touch()
        assert [one.is_synced for one in tracker_folders(around)] == [True]

    def test_links_and_other_folders_are_left_out(self, tmp_path: Path) -> None:
        around = make(tmp_path)
        folder = offline(tmp_path, "20240101_000000-abc")
        (tmp_path / "wandb" / "latest-run").symlink_to(folder)
        (tmp_path / "wandb" / "sweep-xyz").mkdir()
        (tmp_path / "wandb" / "debug.log").write_text("")
        assert len(tracker_folders(around)) == 1

    def test_a_run_that_was_opened_by_its_tracker_folder(self, tmp_path: Path) -> None:
        folder = offline(tmp_path, "20240101_000000-abc")
        (folder / "files" / "output.log").write_text(LOG)
        (files,) = discover(str(folder))
        folders, is_sure = own_folders(Surroundings.of(files))
        assert ([one.id for one in folders], is_sure) == (["abc"], True)

    def test_the_command_quotes_what_a_shell_would_take_apart(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = tmp_path / "a b$(x)"
        around = make(place)
        offline(place, "20240101_000000-abc")
        folders = tracker_folders(around)
        wanted = f"wandb sync '{place}/wandb/offline-run-20240101_000000-abc'"
        assert sync_command(folders) == wanted
        monkeypatch.chdir(place)
        assert sync_command(folders) == "wandb sync wandb/offline-run-20240101_000000-abc"

    def test_a_remote_folder_is_synced_over_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = tmp_path / "mltd-ssh-1" / "login01:" / "scratch" / "run"
        around = make(place)
        offline(place, "20240101_000000-abc")
        monkeypatch.setenv(VARIABLE, str(tmp_path / "mltd-ssh-1"))
        assert sync_command(tracker_folders(around)) == (
            "wandb sync /scratch/run/wandb/offline-run-20240101_000000-abc  # on login01"
        )


def test_siblings_are_counted_by_their_settings(tmp_path: Path) -> None:
    around = make(tmp_path / "c", "config.json")
    for name, has in (("a", True), ("b", True), ("d", False)):
        make(tmp_path / name, "config.json", *(["best_model.pt"] if has else []))
    make(tmp_path / "no_run", "best_model.pt")
    assert around.siblings("best_model.pt", "config.json") == (2, 3)
