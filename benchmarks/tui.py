"""How the app feels in a terminal, beside the smallest Textual program, in one run.

    python benchmarks/tui.py [--quick]

Both run in a pty of 120x40. A text counts as shown when its bytes arrive there. Compare the
ratios within one run, not the milliseconds between two.
"""

from __future__ import annotations

import argparse
import fcntl
import math
import os
import pty
import random
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

COLUMNS, ROWS = 120, 40
HELLO = """
from textual.app import App
from textual.widgets import Footer, Header, Static
class Hello(App):
    BINDINGS = [("x", "bump", "bump"), ("q", "quit", "quit")]
    n = 0
    def compose(self):
        yield Header()
        yield Static("hello", id="n")
        yield Footer()
    def action_bump(self):
        self.n += 1
        self.query_one("#n", Static).update(f"hello {self.n}")
Hello().run()
"""
_QUERY = re.compile(rb"\x1b\[\?(\d+)\$p")


class Terminal:
    """A program in a pty, and everything it wrote with the time at which it came."""

    def __init__(self, command: list[str], home: Path) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "HOME": str(home),
        }
        self.written = 0
        self.tail = b""
        self.started = time.monotonic()
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment,
            start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self._master = master

    def read(self, seconds: float, until: bytes = b"") -> float | None:
        """Read for a while; the moment at which a text came, if it did."""
        deadline = time.monotonic() + seconds
        seen = b""
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self._master], [], [], left)[0]:
                break
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:
                break
            now = time.monotonic()
            self.written += len(data)
            for mode in _QUERY.findall(data):
                # Synchronised output is there, as in any terminal of today.
                os.write(self._master, b"\x1b[?" + mode + b";2$y")
            seen = (seen + data)[-(1 << 17) :]
            if until and until in seen:
                return now
        return None

    def press(self, key: str) -> float:
        """Send a key; the moment at which that was."""
        now = time.monotonic()
        os.write(self._master, key.encode())
        return now

    def close(self) -> None:
        """End the program and everything it started."""
        self.press("q")
        self.read(0.5)
        for process in family(self.process.pid):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()
        os.close(self._master)


def family(process: int) -> list[int]:
    """A process and all below it."""
    found, rest = [], [process]
    while rest:
        one = rest.pop()
        found.append(one)
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                rest += map(int, children.read_text().split())
            except OSError:
                continue
    return found


def processor_seconds(process: int) -> float:
    """Processor time of a whole family so far."""
    total = 0
    for one in family(process):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def resident_mib(process: int) -> float:
    """Memory of a whole family."""
    total = 0
    for one in family(process):
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1])
        except OSError:
            continue
    return total * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class Log:
    """A training log that grows."""

    def __init__(self, path: Path, megabytes: float) -> None:
        self.path = path
        self._step = 0
        self._marks = 0
        self._noise = random.Random(7)
        with path.open("w") as file:
            while file.tell() < megabytes * 1e6:
                file.write("".join(self._line() for _ in range(2000)))
        self.mark()

    def _line(self, mark: str = "") -> str:
        self._step += 1
        loss = 2 + 8 * math.exp(-self._step / 20_000) + self._noise.gauss(0, 0.05)
        return (
            f"2026-11-01 12:00:00,000 INFO {mark}step {self._step} | loss {loss:.4f} | lr 3.0e-04"
            f" | grad_norm {abs(self._noise.gauss(1.2, 0.3)):.3f} | tok/s 123456 | mem 38.2GiB\n"
        )

    def append(self, count: int = 1) -> None:
        """More lines."""
        with self.path.open("a") as file:
            file.write("".join(self._line() for _ in range(count)))

    def mark(self) -> tuple[bytes, float]:
        """One line that can be told from all others, and when it was written."""
        self._marks += 1
        name = f"MRK{self._marks:05d} "
        with self.path.open("a") as file:
            file.write(self._line(name))
        return name.strip().encode(), time.monotonic()

    @property
    def last_mark(self) -> bytes:
        """The mark that was written last."""
        return f"MRK{self._marks:05d}".encode()


def start(command: list[str], shown: bytes, home: Path, times: int) -> list[float]:
    """Seconds from start to a text on screen, some times."""
    taken = []
    for _ in range(times):
        terminal = Terminal(command, home)
        moment = terminal.read(60, shown)
        taken.append((moment or math.inf) - terminal.started)
        terminal.close()
    return taken


def measure(command: list[str], log: Log, home: Path, quick: bool) -> dict[str, float]:
    """Everything about one session."""
    terminal = Terminal([*command, str(log.path)], home)
    terminal.read(60, log.last_mark)
    terminal.read(3)
    process = terminal.process.pid
    seconds = 5 if quick else 10
    before, written = processor_seconds(process), terminal.written
    terminal.read(seconds)
    found = {
        "idle processor s per 10 s": (processor_seconds(process) - before) * 10 / seconds,
        "idle bytes per 10 s": (terminal.written - written) * 10 / seconds,
    }
    latencies = []
    for _ in range(8 if quick else 30):
        terminal.read(random.uniform(0.3, 0.8))
        name, moment = log.mark()
        seen = terminal.read(5, name)
        latencies.append(((seen or math.inf) - moment) * 1000)
    found["append to screen ms, median"] = statistics.median(latencies)
    found["append to screen ms, 95 %"] = sorted(latencies)[int(0.95 * (len(latencies) - 1))]
    written = terminal.written
    for _ in range(seconds * 10):
        log.append()
        terminal.read(0.1)
    found["kB/s at 10 lines/s"] = (terminal.written - written) / seconds / 1000
    keys = []
    for number in range(20):
        terminal.read(0.3)
        moment = terminal.press("\x1b[A" if number < 10 else "\x1b[B")
        keys.append((_next_output(terminal) - moment) * 1000)
    found["key ms, median"] = statistics.median(keys)
    terminal.press("G")
    terminal.read(0.5)
    before, began = processor_seconds(process), time.monotonic()
    while time.monotonic() - began < seconds:
        log.append(100)
        terminal.read(0.01)
    name, moment = log.mark()
    seen = terminal.read(10, name)
    found["staleness after 10,000 lines/s, ms"] = ((seen or math.inf) - moment) * 1000
    found["cores at 10,000 lines/s"] = (processor_seconds(process) - before) / (
        time.monotonic() - began
    )
    found["memory MiB"] = resident_mib(process)
    terminal.close()
    return found


def _next_output(terminal: Terminal) -> float:
    written = terminal.written
    while terminal.written == written:
        terminal.read(0.002)
    return time.monotonic()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    options = parser.parse_args()
    times = 3 if options.quick else 9
    command = [str(Path(sys.executable).with_name("mltd-tui"))]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        log = Log(home / "train.log", 10)
        hello, ours = [], []
        for _ in range(times):
            hello += start([sys.executable, "-c", HELLO], b"hello", home, 1)
            ours += start([*command, str(log.path)], log.last_mark, home, 1)
        floor, reached = statistics.median(hello), statistics.median(ours)
        print(f"{'smallest Textual program, first text':<44}{floor * 1000:>10.0f} ms")
        print(f"{'mltd-tui, last line of 10 MB':<44}{reached * 1000:>10.0f} ms"
              f"   {reached / floor:.2f}x")  # fmt: skip
        for name, value in measure(command, log, home, options.quick).items():
            print(f"{name:<44}{value:>10.2f}")


if __name__ == "__main__":
    main()
