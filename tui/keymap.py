"""Keys of the user's own: checked here, because Textual stays silent about mistakes in them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, KEY_TO_UNICODE_NAME, Keys

from mltd.runs.errors import SettingsError

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


def checked(keymap: Mapping[str, str], scopes: Sequence[Scope], path: str) -> dict[str, str]:
    """The keymap, ready for `App.set_keymap`; `SettingsError` tells everything that is wrong."""
    known = {b.id: b for scope in scopes for b in scope.bindings if b.id is not None}
    faults = [*_faults_of_names(keymap, known), *_faults_of_keys(keymap)]
    if not faults:
        faults = list(dict.fromkeys(clash for s in scopes for clash in _clashes(s, keymap)))
    if faults:
        raise SettingsError(
            f"{path}: {', '.join(faults)}", hint="`docs/keys.md` lists commands and keys"
        )
    return dict(keymap)


def _faults_of_names(keymap: Mapping[str, str], known: Iterable[str]) -> list[str]:
    names = list(known)
    return [
        f'keys."{name}" is no command{_nearest(name, names)}'
        for name in keymap
        if name not in names
    ]


def _faults_of_keys(keymap: Mapping[str, str]) -> list[str]:
    faults = []
    for name, written in keymap.items():
        for key in (part.strip() for part in written.split(",")):
            if problem := _fault_of_key(key):
                faults.append(f'keys."{name}" = "{written}": {problem}')
    return faults


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


def _clashes(scope: Scope, keymap: Mapping[str, str]) -> list[str]:
    """Keys that the keymap gives to two commands; what was shared before is our own business."""
    owners: dict[str, list[Binding]] = {}
    for binding in scope.bindings:
        for key in keys_of(binding, keymap):
            owners.setdefault(key, []).append(binding)
    faults = []
    for key, bindings in owners.items():
        names = list(dict.fromkeys(_name(binding) for binding in bindings))
        is_new = any(b.id in keymap and key not in keys_of(b) for b in bindings)
        if len(names) > 1 and is_new:
            faults.append(f"{' and '.join(names)} are both on {key} ({scope.title})")
    return faults


def _name(binding: Binding) -> str:
    return f'"{binding.id}"' if binding.id else f'"{binding.description or binding.action}"'


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 1)
    return f' (did you mean "{near[0]}"?)' if near else ""
