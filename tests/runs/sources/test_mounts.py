from __future__ import annotations

from pathlib import Path

import pytest

from mltd.runs.sources.mounts import (
    Mount,
    delivers_inotify,
    file_system_type,
    is_silent_type,
    parse_mountinfo,
)

TABLE = rb"""27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
42 27 0:39 / /home rw shared:7 master:1 - nfs4 filer:/home rw,vers=4.2
43 42 0:40 / /home/ann/my\040runs\134x rw - fuse.sshfs ann@node:/ rw
44 27 0:41 / /scratch rw,noatime shared:3 - autofs systemd-1 rw
45 44 0:42 / /scratch rw,noatime - lustre 10.0.0.1@tcp:/scratch rw
46 27 0:43 / /homestead rw - xfs /dev/vdb rw
broken line
47 27 0:44 / /odd\377name rw - tmpfs none rw
"""


@pytest.fixture
def mountinfo(tmp_path: Path) -> Path:
    table = tmp_path / "mountinfo"
    table.write_bytes(TABLE)
    return table


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/log/x", "ext4"),
        ("/home", "nfs4"),
        ("/home/ann/train.log", "nfs4"),
        ("/home/ann/my runs\\x/a.log", "fuse.sshfs"),
        ("/homestead/a.log", "xfs"),
        ("/scratch/run/a.log", "lustre"),
        ("/", "ext4"),
        ("/odd\udcffname/a", "tmpfs"),
    ],
)
def test_the_longest_mount_point_above_a_path_decides(
    mountinfo: Path, path: str, expected: str
) -> None:
    assert file_system_type(path, mountinfo=mountinfo) == expected


def test_a_symlink_counts_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near.log").symlink_to(tmp_path / "far" / "train.log")
    table = tmp_path / "mountinfo"
    far = str(tmp_path / "far").encode()
    table.write_bytes(b"1 0 8:1 / / rw - ext4 a rw\n2 1 0:9 / %b rw - beegfs b rw\n" % far)
    assert file_system_type(tmp_path / "near.log", mountinfo=table) == "beegfs"
    assert not delivers_inotify(tmp_path / "near.log", mountinfo=table)
    assert delivers_inotify(tmp_path / "other.log", mountinfo=table)


SILENT = """nfs nfs4 lustre gpfs beegfs cifs smb3 smbfs ceph afs 9p fuse fuse.sshfs fuse.rclone
fuseblk glusterfs orangefs pvfs2 virtiofs wekafs panfs autofs"""


@pytest.mark.parametrize("name", SILENT.split())
def test_shared_and_served_file_systems_are_silent(name: str) -> None:
    assert is_silent_type(name)


@pytest.mark.parametrize(
    "name", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "fusectl", "nfsd"]
)
def test_local_file_systems_speak(name: str) -> None:
    assert not is_silent_type(name)


def test_without_a_table_nothing_is_known(tmp_path: Path) -> None:
    assert file_system_type("/", mountinfo=tmp_path / "absent") == ""
    assert delivers_inotify("/", mountinfo=tmp_path / "absent")
    assert file_system_type("/a\0b") == ""


def test_lines_of_another_shape_are_left_out() -> None:
    assert parse_mountinfo(b"x\n\n1 2 - \n27 1 254:0 / / rw - ext4 a rw") == [Mount("/", "ext4")]


def test_the_real_table_is_understood() -> None:
    assert file_system_type("/proc/self/status") == "proc"
