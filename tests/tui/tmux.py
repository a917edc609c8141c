"""The app in a real terminal: tmux draws it, keys go in, the screen is read back."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from tests.waiting import PATIENCE, wait_until

PROGRAM = str(Path(sys.executable).with_name("mltd-tui"))


class TmuxSession:
    """One tmux server of its own, with one window; ended with everything in it."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        size: tuple[int, int] = (80, 24),
        environment: Mapping[str, str] | None = None,
        command: str = "",
    ) -> None:
        self._socket = str(folder / "tmux.sock")
        self.status_file = folder / "status"
        given = {"LANG": "C.UTF-8", "COLUMNS": "80", "LINES": "24", **(environment or {})}
        words = [f"{name}={shlex.quote(value)}" for name, value in given.items()]
        started = command or shlex.join([PROGRAM, *arguments])
        noted = f"echo $? > {shlex.quote(str(self.status_file))}"
        script = f"env {' '.join(words)} {started}; {noted}; exec cat"
        width, height = size
        self._tmux(
            "-f", os.devnull, "new-session", "-d", "-x", str(width), "-y", str(height),
            "sh", "-c", script,
        )  # fmt: skip

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words], capture_output=True, text=True, check=True
        )
        return done.stdout

    @property
    def screen(self) -> str:
        """What a person would see now."""
        return self._tmux("capture-pane", "-p")

    @property
    def coloured_screen(self) -> str:
        """The same with the codes for colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def press(self, *keys: str) -> None:
        """Type keys, by tmux's names for them."""
        self._tmux("send-keys", *keys)

    def write(self, text: str) -> None:
        """Type a text as it is."""
        self._tmux("send-keys", "-l", text)

    def resize(self, width: int, height: int) -> None:
        """Make the terminal larger or smaller."""
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def wait_for(self, *texts: str) -> str:
        """Wait until all of these are on screen together; the screen."""
        return self._wait_screen(
            lambda screen: all(text in screen for text in texts), f"{texts} never came on screen"
        )

    def wait_match(self, pattern: str) -> re.Match[str]:
        """Wait until a regular expression matches somewhere on screen; the match."""
        screen = self._wait_screen(
            lambda screen: re.search(pattern, screen) is not None,
            f"nothing like {pattern!r} came on screen",
        )
        found = re.search(pattern, screen)
        assert found is not None
        return found

    def wait_gone(self, text: str) -> str:
        """Wait until this is no longer on screen."""
        return self._wait_screen(lambda screen: text not in screen, f"{text!r} stayed on screen")

    def _wait_screen(self, is_good: Callable[[str], bool], complaint: str) -> str:
        deadline = time.monotonic() + PATIENCE
        while not is_good(screen := self.screen):
            assert time.monotonic() < deadline, f"{complaint}:\n{screen}"
            # tmux cannot be asked to tell when a text appears; each look is a process.
            time.sleep(0.1)
        return screen

    def wait_end(self) -> int:
        """Wait until the program has ended; its exit code."""
        status = self.status_file
        wait_until(lambda: status.exists() and status.read_text().strip(), "it did not end", 0.05)
        return int(status.read_text())

    @property
    def is_alternate(self) -> bool:
        """True while the full-screen buffer is in use."""
        return self._tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    @property
    def program_pid(self) -> int:
        """Process id of the app itself: the shell's child."""
        shell = int(self._tmux("display-message", "-p", "#{pane_pid}").strip())
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(children[0])

    def close(self) -> None:
        """End the server and all in it."""
        subprocess.run(
            ["tmux", "-S", self._socket, "kill-server"], capture_output=True, check=False
        )

    def __enter__(self) -> TmuxSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
