"""Keys of the user's own: checked here, because Textual does not report mistakes in them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, KEY_TO_UNICODE_NAME, Keys

_MODIFIERS = {"ctrl", "shift", "alt", "meta", "super", "hyper"}
_NEVER_SENT = {"return", "ctrl-at"}


@dataclass(frozen=True, slots=True)
class Scope:
    """Commands that are within reach at the same time, such as those of one pane."""

    title: str
    bindings: tuple[Binding, ...]


def bindings_of(*classes: type[DOMNode]) -> tuple[Binding, ...]:
    """The commands of these classes and of what they derive from: all bindings with an id."""
    found: dict[str, Binding] = {}
    for owner in classes:
        own: dict[str, Binding] = {}
        for base in reversed(owner.__mro__):
            if not base.__dict__.get("_inherit_bindings", True):
                own.clear()
            for binding in base.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.id is not None:
                    own[binding.id] = binding
        found |= own
    return tuple(found.values())


def keys_of(binding: Binding, keymap: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The keys of a command as Textual calls them, the user's own if there are some."""
    written = (keymap or {}).get(binding.id or "") or binding.key
    return tuple(each.key for each in Binding.make_bindings([Binding(written, binding.action)]))


def remapped(binding: Binding, keymap: Mapping[str, str]) -> Binding:
    """The command with the keys that it has now."""
    written = keymap.get(binding.id or "")
    return binding.with_key(written) if written else binding


class Checked(NamedTuple):
    """A keymap without mistakes, ready for `App.set_keymap`, and what was left out of it."""

    keymap: dict[str, str]
    mistakes: dict[str, str]
    """Binding id -> what is wrong with its entry, and which keys it has instead."""


def check_keymap(keymap: Mapping[str, str], scopes: Sequence[Scope]) -> Checked:
    """The entries that make sense; each of the others is left out alone, and explained."""
    known = {b.id: b for scope in scopes for b in scope.bindings if b.id is not None}
    valid: dict[str, str] = {}
    mistakes: dict[str, str] = {}
    for name, written in keymap.items():
        keys = [part.strip() for part in written.split(",")]
        if name not in known:
            mistakes[name] = f'keys."{name}" is no command{_nearest(name, known)}; ignored'
        elif fault := next(filter(None, map(_fault_of_key, keys)), ""):
            mistakes[name] = f'keys."{name}" = "{written}": {fault}; {_usual(known[name])}'
        else:
            valid[name] = written
    # A command that gets its usual key back may in turn take it from another entry.
    while clash := next(filter(None, (_clash(scope, valid) for scope in scopes)), None):
        loser, message = clash
        written = valid.pop(loser)
        mistakes[loser] = f'keys."{loser}" = "{written}": {message}; {_usual(known[loser])}'
    return Checked(valid, {name: mistakes[name] for name in keymap if name in mistakes})


def _usual(binding: Binding) -> str:
    return f'"{binding.id}" stays on {" and ".join(keys_of(binding))}'


def _fault_of_key(key: str) -> str:
    if not key:
        return 'a key is missing (the comma key is called "comma")'
    *modifiers, base = key.split("+") if len(key) > 1 else [key]
    if not all((*modifiers, base)):
        return 'the plus key is called "plus"'
    if unknown := [modifier for modifier in modifiers if modifier not in _MODIFIERS]:
        return f'"{unknown[0]}" is none of ctrl, shift, alt, meta, super, hyper'
    if modifiers == ["shift"] and len(base) == 1:
        return f'terminals send "{base.upper()}" for "{key}", so write that'
    if len(base) == 1 and base.isprintable() and not base.isspace():
        return ""
    if base in KEY_NAME_REPLACEMENTS:
        return f'"{base}" is called "{KEY_NAME_REPLACEMENTS[base]}"'
    if base in key_names() or _is_character_name(base):
        return ""
    return f'"{base}" is no key{_nearest(base, key_names())}'


@lru_cache(maxsize=1)
def key_names() -> frozenset[str]:
    """The names of keys that are longer than one character, without modifiers."""
    listed = {str(key.value).rpartition("+")[2] for key in Keys if "<" not in key.value}
    named = {*listed, *KEY_TO_UNICODE_NAME, *KEY_NAME_REPLACEMENTS.values(), "comma", "colon"}
    return (
        frozenset(name for name in named if len(name) > 1) - _NEVER_SENT - {*KEY_NAME_REPLACEMENTS}
    )


def _is_character_name(name: str) -> bool:
    try:
        return unicodedata.lookup(name.replace("_", " ")).isprintable()
    except KeyError:
        return False


def _clash(scope: Scope, keymap: Mapping[str, str]) -> tuple[str, str] | None:
    """An entry that takes a key from another command, and the sentence about it.

    Usual keys go before those of the keymap, and earlier entries before later ones. What was
    shared before is our own business.
    """
    order = list(keymap)
    owners: dict[str, dict[str, Binding]] = {}
    for binding in scope.bindings:
        for key in keys_of(binding, keymap):
            owners.setdefault(key, {}).setdefault(_name(binding), binding)
    for key, named in owners.items():
        new = [b.id for b in named.values() if b.id in keymap and key not in keys_of(b)]
        if len(named) < 2 or not new:
            continue
        loser = max((name for name in new if name is not None), key=order.index)
        winner = next(name for name, binding in named.items() if binding.id != loser)
        return loser, f"{key} belongs to {winner} already ({scope.title})"
    return None


def _name(binding: Binding) -> str:
    return f'"{binding.id}"' if binding.id else f'"{binding.description or binding.action}"'


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 1)
    return f' (did you mean "{near[0]}"?)' if near else ""
