"""Patterns over there: what has to be listed for `*`, `?`, `[...]` and `**` to be matched here.

The shell over there lists a little more than the pattern matches; the same code decides then
that decides about local patterns.
"""

from __future__ import annotations

import re

from ..discovery.locate import COMPANIONS
from .listing_script import CHUNK, MOST_NAMES
from .quoting import sh_quote

MOST_BESIDE = 2_000
"""A folder with more entries is not listed whole for the sake of some files that match."""
_SPECIAL = re.compile(rb"\*|\?|\[!?\]?[^\]]*\]", re.DOTALL)
_CHARACTERS = b"*?["
_ANY_DEPTH = b"**"

_FUNCTIONS = rf"""
# When these folders were changed last, before we look: a match may appear in any of them.
stamp() {{
  case $# in 0) return 0 ;; 1) set -- "${{1:-/}}" ;; esac
  while [ $# -gt {CHUNK} ]; do eval "ends $slice"; shift {CHUNK}; done
  ends "$@"
}}
step() {{
  stamp "$@"
  next=; bit=; found=0
  for b; do
    eval "set -- \"\$b\"/$want"
    for m; do
      if [ -d "$m" ]; then push "$m"; found=$((found + 1)); fi
      [ $found -lt {MOST_NAMES} ] || return 0
    done
  done
}}
last() {{
  stamp "$@"
  next=; bit=
  for b; do
    files=
    eval "set -- \"\$b\"/$want"
    for m; do
      if [ -d "$m" ]; then push "$m"; elif there "$m"; then files=1; fi
    done
    [ -z "$files" ] || pick "$b"
    [ $count -lt $most ] || break
  done
}}
pick() {{
  enter "$1" || return 0
  set -- ./*
  if [ $# -gt {MOST_BESIDE} ]; then
    printf 'P\0%s\0' "$dir"; ends .
    set --
    for m in {" ".join(COMPANIONS)}; do [ ! -f "./$m" ] || set -- "$@" "./$m"; done
    room=$most; chunks "$@"
    eval "set -- ./$want"
  else
    printf 'G\0%s\0' "$dir"; ends .
    case $want in .*)
      room=$most; ! there "$1" || chunks "$@"
      eval "set -- ./$want" ;;
    esac
  fi
  room=$((most - count)); count=$((count + $#))
  ! there "$1" || chunks "$@"
}}
"""


def is_pattern(path: bytes) -> bool:
    """True if a path may stand for several."""
    return any(character in path for character in _CHARACTERS)


def wider(part: bytes) -> bytes:
    """A pattern of `sh` for all that one part of a pattern matches, and more.

    A `?` is a character here and a byte over there, and sets are written in several ways.
    """
    return b"*".join(sh_quote(piece) if piece else b"" for piece in _SPECIAL.split(part))


def glob_commands(path: bytes) -> bytes:
    """Commands for a listing script that list what a pattern needs, no deeper than it needs."""
    parts = [part for part in path.split(b"/") if part]
    first = next(number for number, part in enumerate(parts) if is_pattern(part))
    start = b"".join(b"/" + part for part in parts[:first])
    has_any_depth = _ANY_DEPTH in parts
    folders = parts[first : parts.index(_ANY_DEPTH)] if has_any_depth else parts[first:-1]
    lines = [_FUNCTIONS.encode(), b"set -- %s; [ -d %s/ ] || set --" % ((sh_quote(start),) * 2)]
    for part in folders:
        lines.append(b'want=%s; step "$@"; eval "set -- $next$bit"' % sh_quote(wider(part)))
    if not has_any_depth:
        lines.append(b'want=%s; last "$@"; eval "set -- $next$bit"' % sh_quote(wider(parts[-1])))
    lines.append(b'for match; do walk "$match"; done')
    lines.append(b"[ $count -lt $most ] || printf 'O\\0%s\\0' \"$target\"")
    return b"\n".join(lines)
