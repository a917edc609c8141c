from __future__ import annotations

from typing import Any

import pytest

from mltd.tui.log import clipboard


class Driver:
    def __init__(self) -> None:
        self.written = ""

    def write(self, data: str) -> None:
        self.written += data

    def flush(self) -> None:
        pass


class FakeApp:
    def __init__(self) -> None:
        self._driver = Driver()

    def copy_to_clipboard(self, text: str) -> None:
        import base64

        self._driver.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\a")


def written(text: str) -> str:
    app: Any = FakeApp()
    clipboard.copy(app, text)
    written: str = app._driver.written
    return written


def test_the_terminal_gets_one_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert written("loss é") == "\x1b]52;c;bG9zcyDDqQ==\x07"


def test_tmux_gets_it_plain_and_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux-1000/default,1,0")
    assert written("hi") == "\x1b]52;c;aGk=\x07" + "\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"


def test_too_long_a_text_is_cut_between_characters() -> None:
    fitting = clipboard.fitting("é" * clipboard.MOST_BYTES)
    assert len(fitting.encode()) <= clipboard.MOST_BYTES
    assert set(fitting) == {"é"}
