"""A second app: works on a session as it is told on its standard input, and answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mltd.sessions.errors import SessionError
from mltd.sessions.storage.store import SessionStore

from .making import note


def main(folder: str, name: str) -> None:
    """One JSON answer for each line: `open`, `take`, `do N`, `flush`, `refresh`, `close`."""
    store = SessionStore(Path(folder))
    session = None
    print(json.dumps("ready"), flush=True)  # noqa: T201 - it is its answer
    for line in sys.stdin:
        what, _, number = line.strip().partition(" ")
        result: object = None
        try:
            if what in ("open", "take"):
                session = store.open(name, take_over=what == "take")
            elif session is None:
                result = "nothing is open"
            elif what == "do":
                session.do(note(int(number)))
            elif what == "flush":
                result = session.flush(20)
            elif what == "refresh":
                result = session.refresh()
            elif what == "close":
                result = len(session.close())
        except SessionError as problem:
            result = str(problem)
        answer = {
            "result": result,
            "why": session.why_read_only if session else "",
            "notes": [one.id for one in session.session.notes] if session else [],
            "state": session.saving.state if session else "",
        }
        print(json.dumps(answer), flush=True)  # noqa: T201 - it is its answer


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
