"""How Prefect says that a flow run or one of its task runs ended."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mltd.runs.event import Event

from .dask_workers import MEMORY, NETWORK

STOPPED = "stopped"
"""Ended from outside, by a person or by the environment."""

_RUN = re.compile(r"(?P<kind>[Ff]low|[Tt]ask) run '(?P<name>[^']{1,120})'")
_END = re.compile(
    r"Finished in state (?P<state>Failed|Crashed|TimedOut)\(|Crash detected! (?P<crash>.*)|"
    r"as crashed(?:: (?P<reported>.*))?|(?P<exit>exited with status code: .*)|"
    r"Flow run process (?P<process>(?:exited|could not).*)|"
    r"run failed with (?P<tried>.*?) - Retries are exhausted"
)
_MESSAGE = re.compile(r"Finished in state \w+\((?P<quote>['\"])(?P<said>.*?)(?P=quote)?\)?$")
_CODE = re.compile(r"status code:? (-?\d{1,10})")
_KILLS = frozenset({-9, 137, 247})
_STOPS = frozenset({-15, -2, 130, 143})
_STOPPED = re.compile(r"cancelled by the runtime|an interrupt signal|a termination signal")
_UNREACHED = re.compile(
    r"Request to \S+ failed|attempting to contact the server|Connect(?:Error|Timeout)|"
    r"ReadTimeout|PoolTimeout"
)


@dataclass(frozen=True, slots=True)
class FlowEnd:
    """A run that did not end well."""

    what: str
    """`flow run 'red-fox'`; `a flow run` if it is not named."""
    how: str
    """`failed`, `crashed`, `timed out`."""
    said: str
    root: str
    """Why, if the message gives it away: memory, network, stopped."""
    is_flow: bool

    @property
    def sentence(self) -> str:
        """What happened, in one line."""
        return f"Prefect: {self.what} {self.how}" + (f": {self.said}" if self.said else "")


def flow_end(event: Event) -> FlowEnd | None:
    """The end that an event tells of; None if it is not about Prefect."""
    text = event.text.partition("\n")[0].strip() if event.text else event.title
    found = _END.search(text)
    named = _RUN.search(text)
    if found is None or (named is None and "low run " not in text):
        return None
    is_flow = named is None or named["kind"].lower() == "flow"
    what = f"{named['kind'].lower()} run '{named['name']}'" if named else "a flow run"
    how = {"Failed": "failed", "Crashed": "crashed", "TimedOut": "timed out"}.get(
        found["state"] or "", "failed after all retries" if found["tried"] else "crashed"
    )
    message = _MESSAGE.search(text)
    said = message["said"] if message else next((g for g in found.groups() if g), "")
    said = "" if said == found["state"] else said.strip().removeprefix("exception: ")
    return FlowEnd(what, how, said, _root(text), is_flow)


def _root(text: str) -> str:
    code = _CODE.search(text)
    number = int(code[1]) if code else None
    if number in _KILLS:
        return MEMORY
    if number in _STOPS or _STOPPED.search(text):
        return STOPPED
    return NETWORK if _UNREACHED.search(text) else ""
