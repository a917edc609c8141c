"""A log on a far side that is a shell of this machine, its copy, and a reader of the copy."""

from __future__ import annotations

import os
import time
from pathlib import Path

from mltd.runs.remote.conversation import Conversation
from mltd.runs.remote.mirrored_file import MirroredFile
from mltd.runs.remote.polling import Outcome, Poller
from mltd.runs.sources.follower import FileFollower
from mltd.runs.sources.pieces import FollowState


class MirroredLog:
    """Looks when told to; what a reader of the copy gets is kept by generation."""

    def __init__(
        self, place: Path, argv: list[str], *, name: bytes = b"train.log", tail_first: bool = True
    ) -> None:
        self.folder = place / "far"
        self.folder.mkdir(parents=True)
        self.far = Path(os.fsdecode(os.path.join(os.fsencode(self.folder), name)))
        self.local = place / "near" / "copy.log"
        self.file = MirroredFile(os.fsencode(self.far), self.local, tail_first=tail_first)
        self.argv = argv
        self.conversation = Conversation(argv)
        self.poller = Poller(self.conversation)
        self.reader = FileFollower(self.local)
        self.read: list[bytes] = []
        self._moment = 1_700_000_000 * 10**9

    def state(self) -> FollowState:
        return self.file.status.state

    def close(self) -> None:
        self.conversation.close()
        self.reader.close()

    def cut(self) -> None:
        """Lose the link and have a new one."""
        self.conversation.close()
        self.conversation = Conversation(self.argv)
        self.poller = Poller(self.conversation)

    def write(self, data: bytes, mode: str = "ab", path: Path | None = None) -> None:
        """Write at a moment of its own: the kernel's clock may tick more slowly than we write."""
        place = path or self.far
        with place.open(mode) as file:
            file.write(data)
        self._moment += 10**7
        os.utime(place, ns=(self._moment, self._moment))

    def look_once(self, now: float = 0.0) -> Outcome:
        outcome = self.poller.look([self.file], now, time.time())
        for piece in self.reader.read(1 << 26):
            self.read += [b""] * (piece.generation + 1 - len(self.read))
            self.read[piece.generation] += piece.data
        return outcome

    def look(self, now: float = 0.0) -> None:
        """See all that there is to see."""
        for _ in range(50):
            if not self.look_once(now).is_more:
                return
        raise AssertionError("there is always more")
