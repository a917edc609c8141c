"""What holds for every test: a home of its own, no network, reproducible examples."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import kinds, warm_python

ROOT = Path(__file__).resolve().parent.parent
KEPT_SETTINGS = {"MLTD_CORPUS", "MLTD_CUTS", "MLTD_REQUIRE_SERVICES", "MLTD_ROTATIONS"}
FOREIGN_PREFIXES = ("MLTD_", "XDG_", "SLURM_", "ANTHROPIC_")

# The same examples everywhere, and no deadline: a busy machine is not a bug.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore", settings.get_profile("ci"), derandomize=False, max_examples=2000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

RequireService = Callable[..., None]


def pytest_configure(config: pytest.Config) -> None:
    """Make the kinds known; hear Ctrl+C also where a shell in the background was deaf to it."""
    kinds.register(config)
    # Hundreds of tests start a Python: each would compile the whole package again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Under `nohup` they would be deaf to the end of a terminal, and wait for ever.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its kinds where they are asked for."""
    if config.getoption("markexpr"):
        kinds.mark(items)


def pytest_sessionfinish() -> None:
    """End the process from which those of tests are forked."""
    warm_python.close()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector: it would go through all that is there, and find none.

    Each worker collects all tests, and a fifth of that time is the collector's.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through thousands of tests and modules again."""
    gc.collect()
    gc.freeze()


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Leave modules alone that could not be imported here."""
    return kinds.make_module(module_path, parent)


class NetworkTouchedError(RuntimeError):
    """A test tried to leave this machine; not an OSError, so that no handler hides it."""


HOME_FOLDERS = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": "run",
}


class Homes:
    """Empty homes, one after the other.

    They are numbered here and used again while they are empty: `mktemp` reads the names of all
    folders to find a free number, and both take longer than most tests do.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = (folder / str(number) for number in itertools.count())
        self._last: Path | None = None
        self._before: list[object] = []

    def take(self) -> Path:
        """Return a home in which there is no file, nor anything that a test has changed."""
        if self._last is None or self._look(self._last) != self._before:
            self._last = next(self._paths)
            for folder in HOME_FOLDERS.values():
                os.makedirs(self._last / folder, mode=0o700)
            self._before = self._look(self._last)
        return self._last

    def _look(self, home: Path) -> list[object]:
        try:
            return [
                (sorted(os.listdir(path)), os.stat(path).st_mode)
                for path in (
                    f"{home}/{folder}" for folder in ("", ".local", *HOME_FOLDERS.values())
                )
            ]
        except OSError:
            return []


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    """Make homes for all tests of this process."""
    return Homes(tmp_path_factory.mktemp("homes"))


@pytest.fixture(autouse=True)
def own_home(homes: Homes) -> Iterator[Path]:
    """Give the test an empty home, outside its `tmp_path` so that this stays empty."""
    home = homes.take()
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(FOREIGN_PREFIXES) and name not in KEPT_SETTINGS:
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        for variable, folder in HOME_FOLDERS.items():
            patch.setenv(variable, f"{home}/{folder}")
        yield home


def is_this_machine(host: object) -> bool:
    """Tell whether a host name or address stays on the loopback interface."""
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    text = host.decode(errors="replace") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Let sockets reach this machine alone."""
    with pytest.MonkeyPatch.context() as patch:
        guard_sockets(patch)
        yield


def guard_sockets(patch: pytest.MonkeyPatch) -> None:
    """Make sockets and lookups refuse every host but this one."""

    def refuse(what: str) -> None:
        raise NetworkTouchedError(f"a test tried to reach {what}")

    def guard_method(name: str, find_address: Callable[[tuple[Any, ...]], Any]) -> None:
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            address = find_address(args)
            is_internet = self.family in (socket.AF_INET, socket.AF_INET6)
            if is_internet and address is not None and not is_this_machine(address[0]):
                refuse(f"{address[0]} port {address[1]}")
            return original(self, *args)

        patch.setattr(socket.socket, name, guarded)

    guard_method("connect", lambda args: args[0])
    guard_method("connect_ex", lambda args: args[0])
    guard_method("sendto", lambda args: args[-1])
    guard_method("sendmsg", lambda args: args[3] if len(args) > 3 else None)

    def guard_lookup(name: str) -> None:
        original = getattr(socket, name)

        def guarded(host: object, *args: Any, **options: Any) -> Any:
            if not is_this_machine(host):
                refuse(f"{host!r}")
            return original(host, *args, **options)

        patch.setattr(socket, name, guarded)

    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        guard_lookup(name)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of collected real training logs, or a skip where there is none."""
    named = os.environ.get("MLTD_CORPUS")
    folder = Path(named) if named else ROOT.parent / "shared" / "corpus"
    if not (folder / "INDEX.jsonl").is_file():
        pytest.skip(f"no log corpus at {folder}; set MLTD_CORPUS to its folder")
    return folder


@pytest.fixture(scope="session")
def require_service() -> RequireService:
    """A function that skips the test unless all the named programs are installed."""
    return require_programs


def require_programs(*programs: str) -> None:
    """Skip, or fail where MLTD_REQUIRE_SERVICES=1 says that every service must be there."""
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    missing = [program for program in programs if shutil.which(program, path=places) is None]
    if not missing:
        return
    reason = f"not installed: {', '.join(missing)}"
    if os.environ.get("MLTD_REQUIRE_SERVICES") == "1":
        pytest.fail(f"{reason}; MLTD_REQUIRE_SERVICES=1 forbids skipping", pytrace=False)
    pytest.skip(reason)
