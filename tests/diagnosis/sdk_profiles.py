"""Profiles on disk as the SDK reads them, for tests that send evidence elsewhere by one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Profiles:
    """A folder of profiles; calling it writes one with a token in it."""

    folder: Path

    def __call__(self, name: str, base_url: str = "") -> None:
        credentials = self.folder / "credentials" / f"{name}.json"
        config: dict[str, Any] = {
            "authentication": {"type": "user_oauth", "credentials_path": str(credentials)}
        }
        if base_url:
            config["base_url"] = base_url
        token = {"type": "oauth_token", "access_token": "t-17"}
        self._write(self.folder / "configs" / f"{name}.json", config)
        self._write(credentials, token)

    def select(self, monkeypatch: pytest.MonkeyPatch, name: str = "") -> None:
        """Let the SDK of this test find these profiles, and nothing else to log in by."""
        for variable in (
            "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE",
        ):  # fmt: skip
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(self.folder))
        if name:
            monkeypatch.setenv("ANTHROPIC_PROFILE", name)

    @staticmethod
    def _write(path: Path, content: dict[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        path.chmod(0o600)
