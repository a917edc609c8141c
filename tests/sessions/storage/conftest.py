"""A place for sessions, and a disk that can be full."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mltd.sessions.storage.open_session import OpenSession
from mltd.sessions.storage.store import SessionStore


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


@pytest.fixture
def opened(store: SessionStore) -> Iterator[OpenSession]:
    session = store.create("loss explodes")
    yield session
    session.close()


class FullDisk:
    """All writes fail while it is full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        real = os.write

        def write(handle: int, data: Any) -> int:
            if self.is_full and handle > 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(handle, data)

        monkeypatch.setattr(os, "write", write)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    return FullDisk(monkeypatch)
