"""Cited settings: does the run state that key with that value?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..answer.citation import ConfigCitation
from .checked import CheckedCitation, Verdict
from .desk import Desk, Struck, closest
from .numerals import is_same, stated
from .tokens import tokens

if TYPE_CHECKING:
    from mltd.runs.run import Run

_WORDS = {"yes": "true", "on": "true", "no": "false", "off": "false", "none": "null", "~": "null"}
_SEPARATORS = re.compile(r"[./\s]+|__+")
_MARKS = frozenset("()[]{}\"'")
_CUT = re.compile(r"\s*(?:\.{3,}|…)$")
_LONGEST = 200


def check_config(citation: ConfigCitation, desk: Desk) -> CheckedCitation:
    """The citation with what the run states."""
    found: list[tuple[str, str]] = []
    names: list[str] = []
    for called, run in desk.runs(citation.run):
        shown, raw = _settings(run, desk)
        names += shown
        key = citation.key.removeprefix(f"{called}/").removeprefix("config.")
        named = _named(citation.key, shown) or _named(key, shown)
        found += [(name, value) for name in named for value in (shown[name], raw.get(name, ""))]
    if not found:
        if any(name.startswith(f"{citation.key}.") for name in names):
            raise Struck(f"{citation.key} is a group of settings; one of them must be cited")
        raise Struck(f"no setting is called {citation.key!r}{closest(citation.key, names)}")
    if any(_is_equal(citation.value, value) for _, value in found):
        return CheckedCitation(citation=citation, verdict=Verdict.CONFIRMED)
    # What is told is what may be shown: the masked ones come first, and the others never.
    values = dict.fromkeys(" ".join(value.split())[:_LONGEST] or "empty" for _, value in found[::2])
    raise Struck(f"{found[0][0]} is {' or '.join(list(values)[:3])}")


def _settings(run: Run, desk: Desk) -> tuple[dict[str, str], dict[str, str]]:
    """The settings by their keys as they are shown, and as they are."""
    from ..tools.settings_rows import flat_settings

    raw = flat_settings(run.config)
    if desk.cleaner is None:
        return raw, raw
    return flat_settings(desk.cleaner.clean_value(run.config)), raw


def _named(key: str, names: dict[str, str]) -> list[str]:
    """The keys that are meant: the whole of one, in another spelling, or the end of one."""
    for fold in (str, str.casefold, _levels):
        if same := [name for name in names if fold(name) == fold(key)]:
            return same
    end = f".{_levels(key)}"
    return [name for name in names if _levels(name).endswith(end)]


def _levels(path: str) -> str:
    return _SEPARATORS.sub(".", path.strip().lstrip("-")).replace("-", "_").casefold()


def _is_equal(said: str, value: str) -> bool:
    """True if two texts stand for the same value, whatever their notation."""
    wanted, there = _plain(said), _plain(value)
    if wanted == there:
        return True
    number, actual = stated(wanted), stated(there)
    if number is not None and actual is not None:
        return is_same(number, actual.value) and number.is_percent == actual.is_percent
    if not wanted or not there:
        return False
    cut = _CUT.search(wanted)
    sense, whole = _sense(_CUT.sub("", wanted)), _sense(there)
    return bool(sense) and (whole[: len(sense)] if cut else whole) == sense


def _plain(text: str) -> str:
    word = text.strip().strip("\"'`").strip()
    folded = word.casefold()
    return _WORDS.get(folded, folded if folded in _WORDS.values() else word)


def _sense(text: str) -> list[str]:
    """What counts of a text: brackets and quotation marks differ between notations."""
    return [token.key.casefold() for token in tokens(text) if token.raw not in _MARKS]
