"""Python and the packages: there, and of versions that we work with? None is imported."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import metadata

from ..check import Check
from ..line import Line, State
from ..surroundings import Surroundings
from .requirement import Requirement, is_met, parse

AREA = "versions"
OURSELVES = "mltd-tui"
GAINS = {
    "claude": "a second opinion by Claude",
    "parquet": "`mltd-tui export --parquet`",
    "torch": "a look at the weights inside checkpoints",
    "zstd": "logs that are compressed as .zst",
}
"""What an extra is good for; others are for those who work on the app."""

_line = partial(Line, AREA)


def python(_around: Surroundings) -> Iterator[Line]:
    """The version of the app, and of the Python below it."""
    try:
        described = metadata.metadata(OURSELVES)
    except metadata.PackageNotFoundError:
        yield _line(State.WARNING, f"{OURSELVES} is not installed as a package", "`pip install .`")
        return
    running = platform.python_version()
    wanted = (described.get_all("Requires-Python") or [""])[0]
    said = f"{OURSELVES} {described['Version']}, Python {running}"
    if is_met(running, wanted):
        yield _line(State.OK, said)
    else:
        yield _line(State.PROBLEM, f"{said}, but {wanted} is needed", "install it anew with that")


def packages(_around: Surroundings) -> Iterator[Line]:
    """What we need, and what we could do with more."""
    try:
        entries = metadata.requires(OURSELVES) or []
    except metadata.PackageNotFoundError:
        return
    wanted = [found for entry in entries if (found := parse(entry)) is not None]
    yield from compared(wanted, installed_version)


def compared(
    wanted: Sequence[Requirement], version_of: Callable[[str], str | None]
) -> Iterator[Line]:
    """Lines about the packages that are asked for, the needed ones first."""
    for extras, what in ((False, "needed"), (True, "optional")):
        good: list[str] = []
        unfit: list[Line] = []
        for requirement in wanted:
            if bool(requirement.extra) is not extras or (extras and requirement.extra not in GAINS):
                continue
            version = version_of(requirement.name)
            if version is not None and is_met(version, requirement.bounds):
                good.append(f"{requirement.name} {version}")
            else:
                unfit.append(_unfit(requirement, version))
        if good:
            yield _line(State.OK, f"{what}: {', '.join(good)}")
        yield from unfit


def _unfit(requirement: Requirement, version: str | None) -> Line:
    name, bounds, extra = requirement
    package = f"{OURSELVES}[{extra}]" if extra else OURSELVES
    install = f"`pip install --upgrade '{package}'`"
    if version is not None:
        state = State.WARNING if extra else State.PROBLEM
        return _line(state, f"{name} {version} does not fit: {bounds} is asked for", install)
    if extra:
        return _line(State.OK, f"{name} is not installed", f"{install} for {GAINS[extra]}")
    return _line(State.PROBLEM, f"{name} is not installed", install)


def installed_version(name: str) -> str | None:
    """The version of an installed package; None if it is not there."""
    try:
        # A broken installation has a folder without a version in it.
        return metadata.version(name) or None
    except (metadata.PackageNotFoundError, KeyError):
        return None


CHECKS = (
    Check(AREA, "Python", python),
    Check(AREA, "the packages", packages),
)
