"""Claude: could it be asked, how would one log in, and where? No key is shown, not even in part."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..check import Check
from ..line import Line, State
from ..programs import Answer
from ..surroundings import Surroundings

if TYPE_CHECKING:
    from mltd.diagnosis.client.errors import ConsultError
    from mltd.diagnosis.settings import ConsultSettings

AREA = "Claude"
NAME = "ANTHROPIC_API_KEY"
_PLAUSIBLE = re.compile(r"sk-ant-[A-Za-z0-9_-]{20,500}")
_EXPORT = f"`export {NAME}=...`"
_OWN_HOST = "api.anthropic.com"

_line = partial(Line, AREA)


def claude(around: Surroundings) -> Iterator[Line]:
    """What would happen if somebody asked; nothing is sent anywhere to find out."""
    from mltd.diagnosis.client.access import obstacle
    from mltd.diagnosis.settings import load
    from mltd.runs.errors import SettingsError

    try:
        settings = load(path=around.config)
    except SettingsError:
        fact = f"not known before the mistakes in {around.config} are corrected"
        yield _line(State.WARNING, fact, "see above, under configuration")
        return
    if not settings.is_enabled:
        fact = f"switched off by `enabled = false` in {around.config}: nothing is ever sent"
        yield _line(State.OK, fact)
        return
    error = obstacle(settings, around.environment)
    yield _refused(around, error) if error is not None else _ready(around, settings)


def _refused(around: Surroundings, error: ConsultError) -> Line:
    """What stands in the way; a fault only if somebody has prepared to ask."""
    from mltd.diagnosis.client.access import INSTALL, way_to_log_in

    way = way_to_log_in(around.environment)
    if error.kind == "not_installed":
        if way:
            fact = f"{way} is there to log in, but the package anthropic is not installed"
            return _line(State.WARNING, fact, f"`{INSTALL}`")
        fact = "the package anthropic is not installed: no second opinion by Claude"
        return _line(State.OK, fact, f"`{INSTALL}`, if you want one")
    value = around.environment.get(NAME)
    if error.kind == "no_key" and value is None:
        fact = "there is no way to log in: no second opinion by Claude"
        return _line(State.OK, fact, f"{_EXPORT}, if you want one")
    if value is not None and way in (NAME, "") and (fault := fault_of(value)):
        return _line(State.WARNING, f"{NAME} is set, but {fault}", f"copy the key anew: {_EXPORT}")
    return _line(State.WARNING, error.sentence, error.hint or "")


def _ready(around: Surroundings, settings: ConsultSettings) -> Line:
    from mltd.diagnosis.client.access import way_to_log_in
    from mltd.diagnosis.client.models import choose_model

    way = way_to_log_in(around.environment)
    answer = ask_destination(around)
    host = answer.output.strip()
    if answer.code == 1 and "\t" in answer.complaint:
        return _line(State.WARNING, *answer.complaint.split("\t", 1))
    # Other hosts have keys of their own, which may look like anything.
    if way == NAME and host == _OWN_HOST and (fault := fault_of(around.environment[NAME])):
        return _line(State.WARNING, f"{NAME} is set, but {fault}", f"copy the key anew: {_EXPORT}")
    model = choose_model(settings.model)
    if not answer.is_good or not host:
        fact = f"{model} can be asked, logged in by {way}; you see where before you agree"
        return _line(State.OK, fact)
    return _line(State.OK, f"{model} can be asked at {host}, logged in by {way}; you agree first")


def ask_destination(around: Surroundings) -> Answer:
    """Where the SDK would send to, found out in a process of its own as the SDK loads slowly."""
    return around.ask(sys.executable, "-P", "-m", "mltd.diagnosis.client.sdk_client")


def fault_of(value: str) -> str:
    """Why this cannot be a key, in words that tell nothing about it; empty if it can be one."""
    if not value.strip():
        return "empty"
    if value != value.strip():
        return "has white space around it"
    if value[0] in "'\"" or value[-1] in "'\"":
        return "has quotes around it"
    if not _PLAUSIBLE.fullmatch(value):
        return "does not have the form of a key"
    return ""


CHECKS = (Check(AREA, "Claude", claude),)
