"""The hosts that this process reads from, and its copies of their files."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ..discovery.run_files import Discovery, Purpose, RunFiles
from ..discovery.tree import Limits
from ..errors import InputError, MltdError
from ..sources.pieces import FollowState
from .address import Address, Host
from .connection import Connection
from .explore import RemoteTree
from .far_host import FarHost
from .host_link import HostLink, LinkPhase, LinkState
from .mirror_root import MirrorRoot
from .mirrored_file import MirroredFile
from .names import may_own_mirror, mirror_root, shown
from .problems import LinkError, LinkKind

LOGS = (Purpose.LOG, Purpose.METRICS)
FIRST_ANSWER = 45.0
"""Seconds within which a host has to answer for the first time."""
FIRST_TRIES = 4
"""Attempts at a first answer from a host that has let us in."""
JUST_LOGGED_IN = 10.0
"""Seconds; on a slow line it takes one to see that a connection lives."""
LIST_EVERY = 30.0
"""Seconds between two looks at what else has appeared over there."""


class Links:
    """One link per host, made when something of it is first wanted; for any thread."""

    def __init__(self, root: Path, *, is_interactive: bool = False) -> None:
        self.root = root
        self._is_interactive = is_interactive
        self._lock = threading.RLock()
        self._links: dict[Host, HostLink] = {}
        self._hosts: dict[Host, FarHost] = {}
        self._trees: dict[Host, RemoteTree] = {}
        self._listed: dict[Address, float] = {}
        self._files: dict[str, MirroredFile] = {}
        self._copying: set[str] = set()
        self._listeners: list[Callable[[set[Path]], None]] = []

    # -- finding ----------------------------------------------------------------------------

    def explore(self, address: Address, limits: Limits) -> Discovery:
        """The runs behind a remote name: the first time it is looked up over there.

        Later the copies of what was listed are looked at, and the list is renewed behind: a link
        that hangs must not keep anybody waiting.
        """
        tree = self._tree(address.host)
        now = time.monotonic()
        listed = self._listed.get(address)
        if listed is None:
            found = tree.explore(address, limits, list(self._files), skew=self._skew(address.host))
            self._listed[address] = now
            return found
        if now - listed > LIST_EVERY:
            self._listed[address] = now
            _start("list", self._list, tree, address, limits)
        return tree.explore_copies(address, limits)

    def place(self, address: Address) -> str:
        """Where the copy of a remote file or directory is, or would be."""
        return self._tree(address.host).place(address)

    # -- following --------------------------------------------------------------------------

    def follow(self, path: str, *, tail_first: bool = True) -> MirroredFile:
        """Keep the copy at this path up to date, its end first."""
        with self._lock:
            file = self._files.get(path)
            if file is None:
                host, remote = self._split(path)
                if self._tree(host).is_partial(path):
                    # Nobody is to take the beginning for the whole.
                    Path(path).unlink(missing_ok=True)
                file = self._link(host).follow(remote, Path(path), tail_first)
                self._files[path] = file
            return file

    def complete(self, files: RunFiles) -> None:
        """Have those settings of a run here that were left until it is opened."""
        host = self._split(files.paths(*LOGS)[0])[0]
        self._tree(host).complete(files, skew=self._skew(host))

    def unfollow(self, path: str) -> None:
        """Leave the copy as it is."""
        with self._lock:
            file = self._files.pop(path, None)
            if file is not None:
                self._link(self._split(path)[0]).unfollow(file)

    def prefer(self, path: str) -> None:
        """Complete this copy before others."""
        host, remote = self._split(path)
        self._link(host).prefer(remote)

    def bring(self, run: RunFiles) -> None:
        """Have whole copies of a run's files, and wait for them; what cannot be had raises."""
        self.complete(run)
        paths = [path for path in run.paths(*LOGS) if path.startswith(f"{self.root}/")]
        files = [self.follow(path, tail_first=False) for path in paths]
        news = threading.Event()
        self.listen(lambda _: news.set())
        silent_since = time.monotonic()
        while waiting := [file for file in files if not file.is_complete]:
            news.clear()
            state = self.state(str(waiting[0].local))
            if state.kind is LinkPhase.CONNECTED:
                silent_since = time.monotonic()
            if state.kind is LinkPhase.FAILED or time.monotonic() - silent_since > FIRST_ANSWER:
                raise _lost(self._split(str(waiting[0].local))[0], state)
            news.wait(0.2)

    def copy_soon(self, paths: Iterable[str]) -> bool:
        """True if whole copies are here; otherwise they are made behind, once."""
        missing = [path for path in paths if not self._is_copied(path)]
        if missing:
            with self._lock:
                fresh = [path for path in missing if path not in self._copying]
                self._copying.update(fresh)
            if fresh:
                _start("copy", self._copy, fresh)
        return not missing

    # -- asking -----------------------------------------------------------------------------

    def is_whole(self, path: str) -> bool:
        """True if everything over there is here, or will never be."""
        file = self._files.get(path)
        return file is None or file.is_complete or bool(file.note and file.is_caught_up)

    def copied(self, path: str) -> tuple[int, int]:
        """Bytes that are here, and bytes that there are."""
        file = self._files.get(path)
        if file is None:
            return 0, 0
        return max(0, file.size - file.start), max(file.size, file.far_size or 0)

    def size(self, path: str) -> int:
        """Length over there, when it was listed."""
        return self._tree(self._split(path)[0]).size_of(path)

    def head(self, path: str) -> bytes:
        """How a file begins, as far as that is known."""
        file = self._files.get(path)
        return file.head if file is not None else b""

    def trouble(self, path: str) -> str:
        """Why a file cannot be read; empty if it can."""
        file = self._files.get(path)
        if file is None:
            return ""
        is_fine = file.status.state is FollowState.FOLLOWING or not file.is_looked_at
        return file.note if is_fine else file.status.reason

    def state(self, path: str) -> LinkState:
        """How the link to the host of this file is doing."""
        return self._link(self._split(path)[0]).state

    def states(self) -> dict[str, LinkState]:
        """How the link to each host is doing, by the name of the host."""
        return {host.label: link.state for host, link in list(self._links.items())}

    def host_of(self, path: str) -> str:
        """What the host of this file is called."""
        return self._split(path)[0].label

    def listen(self, changed: Callable[[set[Path]], None]) -> None:
        """Tell this, from some thread, which copies may have changed or lost their link."""
        self._listeners.append(changed)

    def close(self) -> None:
        """End all links."""
        with self._lock:
            links, self._links = list(self._links.values()), {}
        for link in links:
            link.close()

    # -- inside -----------------------------------------------------------------------------

    def _split(self, path: str) -> tuple[Host, bytes]:
        """The host of a copy, and the path over there."""
        inside = path.removeprefix(f"{self.root}/")
        for host in self._links:
            if inside.startswith(host.folder + "/"):
                return host, os.fsencode(inside.removeprefix(host.folder))
        raise InputError(f"{shown(path)} is on no host that is connected")

    def _link(self, host: Host) -> HostLink:
        with self._lock:
            link = self._links.get(host)
            if link is None:
                connection = Connection(host, trusted_seconds=JUST_LOGGED_IN)
                if self._is_interactive:
                    connection.open(interactive=True)
                link = self._links[host] = HostLink(connection)
                link.on_change(lambda: self._announce(host))
                try:
                    _await(link, host)
                except LinkError:
                    del self._links[host]
                    link.close()
                    raise
            return link

    def _tree(self, host: Host) -> RemoteTree:
        with self._lock:
            if host not in self._trees:
                self._hosts[host] = FarHost(self._link(host))
                self._trees[host] = RemoteTree(host, self._hosts[host], self.root)
            return self._trees[host]

    def _skew(self, host: Host) -> float:
        return self._hosts[host].skew if self._hosts[host].home else 0.0

    def _list(self, tree: RemoteTree, address: Address, limits: Limits) -> None:
        try:
            tree.refreshed(address, limits, list(self._files), skew=self._skew(address.host))
        except MltdError:
            return  # what was listed before still holds; the link itself says what is wrong

    def _announce(self, host: Host) -> None:
        folder = f"{self.root}/{host.folder}/"
        paths = {Path(path) for path in list(self._files) if path.startswith(folder)}
        for changed in self._listeners:
            changed(paths)

    def _is_copied(self, path: str) -> bool:
        return os.path.isfile(path) and os.path.getsize(path) >= self.size(path)

    def _copy(self, paths: list[str]) -> None:
        for path in paths:
            host, remote = self._split(path)
            try:
                self._link(host).fetch(remote, Path(path), self.size(path) + (1 << 20))
            except MltdError:
                continue  # the row stays as it is, and opening the run tells why
            finally:
                self._copying.discard(path)


def _start(name: str, work: Callable[..., None], *given: object) -> None:
    threading.Thread(target=work, args=given, name=f"mltd-{name}", daemon=True).start()


def _await(link: HostLink, host: Host) -> None:
    """Wait for the first answer."""
    news = threading.Event()
    link.on_change(news.set)
    deadline = time.monotonic() + FIRST_ANSWER
    while link.state.kind is not LinkPhase.CONNECTED:
        if link.state.kind is LinkPhase.FAILED or time.monotonic() > deadline:
            raise _lost(host, link.state)
        most = FIRST_TRIES if link.has_logged_in else 1
        if link.state.attempts >= most:
            raise _lost(host, link.state)
        news.wait(0.2)
        news.clear()


def _lost(host: Host, state: LinkState) -> LinkError:
    message = state.message or "it does not answer"
    named = message if host.name in message else f"{host.label}: {message}"
    return LinkError(named, hint=state.hint, kind=LinkKind.LOST)


_current: list[Links] = []


def links() -> Links:
    """The links of this process."""
    if not _current:
        root = mirror_root()
        if not root:
            if not may_own_mirror():
                raise InputError(
                    "no other host is connected",
                    hint="name it on the command line, so that ssh can ask what it has to: "
                    "mltd-tui HOST:PATH",
                )
            mirror = MirrorRoot()
            atexit.register(mirror.close)
            root = str(mirror.path)
        made = Links(Path(root), is_interactive=may_own_mirror() and sys.stderr.isatty())
        atexit.register(made.close)
        _current.append(made)
    return _current[0]
