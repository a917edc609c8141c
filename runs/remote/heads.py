"""The first bytes of many files over there, in one question."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from .far_numbers import whole_number
from .far_side import sent
from .listing import FarSide, unpacked
from .listing_script import SEND
from .quoting import sh_quote
from .wishes import MOST_HEAD, Wish

MOST_FILES = 400
MOST_BYTES = 4 << 20
"""In one question, before compression: seconds on the slowest link that anybody works over."""
MOST_CONFIGS = 64
"""More settings than these are copied when their run is opened."""
_BLOCK = 4096

_FUNCTIONS = rb"""
n=0
# Only regular files are opened: a pipe would block.
part() {
  n=$((n + 1))
  case $n in *0) say beat >&3 ;; esac
  printf '\n%s %s\n' "$sign" "$1"
  [ ! -f "$3" ] || dd if="$3" bs=4096 count="$2"
}
"""


def chosen(wanted: Sequence[Wish]) -> tuple[list[Wish], int]:
    """What to ask for now, settings first, then the newest; and how many have to wait."""
    configs = [wish for wish in wanted if wish.is_config]
    heads = [wish for wish in wanted if not wish.is_config]
    if len(configs) > MOST_CONFIGS:
        # Their beginnings tell settings from metrics; all else waits until their run is opened.
        heads += [w for w in configs if w.path.endswith(b".json") and w.size <= MOST_HEAD]
        configs = []
    picked: list[Wish] = []
    total = 0
    newest_first = sorted(heads, key=lambda wish: -wish.entry.modified)
    for wish in (*configs, *newest_first):
        if len(picked) < MOST_FILES and total + wish.size <= MOST_BYTES:
            picked.append(wish)
            total += wish.size
    return picked, len(configs) + len(heads) - len(picked)


def fetch(far: FarSide, wanted: Sequence[Wish]) -> dict[bytes, bytes]:
    """The first bytes of files by their paths; fewer than wished where a file is shorter now."""
    if not wanted:
        return {}
    sign = secrets.token_hex(16).encode()
    lines = [
        b"part %d %d %s" % (number, -(-wish.size // _BLOCK), sh_quote(wish.path))
        for number, wish in enumerate(wanted)
    ]
    main = b"main() {\n%s\nprintf '\\n%%s end\\n' \"$sign\"\n}\n" % b"\n".join(lines)
    most = sum(wish.size + _BLOCK for wish in wanted) + 128 * len(wanted)
    answer = far.ask(_FUNCTIONS + b"sign=" + sign + b"\n" + main + SEND, most=sent(most))
    data = unpacked(answer, most)
    found: dict[bytes, bytes] = {}
    for part in data.split(b"\n" + sign + b" ")[1:]:
        name, newline, content = part.partition(b"\n")
        number = whole_number(name, len(wanted) - 1)
        if newline and number is not None:
            wish = wanted[number]
            found[wish.path] = content[: wish.size]
    return found
