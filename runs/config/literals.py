"""Values as Python or JSON print them, read without running anything.

Understands dicts, lists, tuples, strings, numbers, `Name(key=value)` calls, `<reprs>` and
unquoted words, over as many lines as they take. Every character is looked at once.
"""

from __future__ import annotations

import re

from .plain import MOST_VALUES, read_scalar

_MOST_DEPTH = 40
_SPACE = re.compile(r"\s*")
_STRING = re.compile(
    r"""[rbfuRBFU]{0,2}(?:'(?P<single>(?:[^'\\]++|\\.)*+)'|"(?P<double>(?:[^"\\]++|\\.)*+)")""",
    re.DOTALL,
)
_OPEN_STRING = re.compile(r"""[rbfuRBFU]{0,2}["']""")
_CALL = re.compile(r"[A-Za-z_][\w.]{0,200}\(")
_KEY = re.compile(r"(?P<key>[A-Za-z_]\w{0,200})\s*=(?!=)\s*")
_BARE_KEY = re.compile(r"[\w.+-]{1,200}(?=\s*:)")
_BARE = re.compile(r"[^,()\[\]{}\n'\"]*")
_REPR_VALUE = re.compile(r"^<[\w.]+: (?P<value>.{1,200})>$")
_CLOSE = {"[": "]", "(": ")"}


class UnreadableError(Exception):
    """The text is not a value."""


class CutOffError(UnreadableError):
    """The text ends before the value does."""


class ValueReader:
    """Reads values from one text, from a position onwards."""

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position
        self._budget = MOST_VALUES

    def value(self, depth: int = 0) -> object:
        """The value at the position, which moves behind it."""
        self._budget -= 1
        if depth > _MOST_DEPTH or self._budget < 0:
            raise UnreadableError
        self._skip_space()
        start = self.text[self.position : self.position + 1]
        if not start:
            raise CutOffError
        if start == "{":
            return self._braces(depth)
        if start in "[(":
            self.position += 1
            return self._items(_CLOSE[start], depth)
        if start == "<":
            return self._repr()
        if _OPEN_STRING.match(self.text, self.position):
            return self._string()
        if call := _CALL.match(self.text, self.position):
            self.position = call.end()
            return self._arguments(call[0][:-1], depth)
        return self._bare()

    def _skip_space(self) -> None:
        found = _SPACE.match(self.text, self.position)
        self.position = found.end() if found else self.position

    def _string(self) -> str:
        parts = []
        while found := _STRING.match(self.text, self.position):
            raw = found["single"] if found["single"] is not None else found["double"]
            parts.append(re.sub(r"\\(['\"\\/])", r"\1", raw))
            self.position = found.end()
            self._skip_space()
        if not parts:
            raise CutOffError
        return "".join(parts)

    def _bare(self) -> object:
        found = _BARE.match(self.text, self.position)
        word = found[0].strip() if found else ""
        if found is None or not word:
            raise UnreadableError
        self.position = found.end()
        if self.position >= len(self.text):
            raise CutOffError
        return read_scalar(word)

    def _repr(self) -> object:
        depth, start = 0, self.position
        for index in range(start, min(len(self.text), start + 2000)):
            depth += (self.text[index] == "<") - (self.text[index] == ">")
            if depth == 0:
                self.position = index + 1
                shown = self.text[start : index + 1]
                inner = _REPR_VALUE.match(shown)
                return read_scalar(inner["value"].strip("'\"")) if inner else shown
        raise CutOffError if len(self.text) < start + 2000 else UnreadableError

    def _ends(self, closing: str) -> bool:
        """Skip a comma; tell whether the closing bracket was reached and skip it."""
        self._skip_space()
        if self.text.startswith(",", self.position):
            self.position += 1
            self._skip_space()
        if self.position >= len(self.text):
            raise CutOffError
        if self.text.startswith(closing, self.position):
            self.position += 1
            return True
        return False

    def _items(self, closing: str, depth: int) -> list[object]:
        items: list[object] = []
        while not self._ends(closing):
            before = self.position
            items.append(self.value(depth + 1))
            if self.position == before:
                raise UnreadableError
        return items

    def _braces(self, depth: int) -> object:
        self.position += 1
        found: dict[str, object] = {}
        items: list[object] = []
        while not self._ends("}"):
            key = self._key(depth)
            self._skip_space()
            if self.text.startswith(":", self.position):
                self.position += 1
                found[str(key)] = self.value(depth + 1)
            elif self.position >= len(self.text):
                raise CutOffError
            else:
                items.append(key)
        return items if items and not found else found

    def _key(self, depth: int) -> object:
        self._skip_space()
        is_quoted = _OPEN_STRING.match(self.text, self.position)
        if not is_quoted and (found := _BARE_KEY.match(self.text, self.position)):
            self.position = found.end()
            return found[0]
        return self.value(depth + 1)

    def _arguments(self, name: str, depth: int) -> object:
        named: dict[str, object] = {}
        items: list[object] = []
        while not self._ends(")"):
            before = self.position
            if key := _KEY.match(self.text, self.position):
                self.position = key.end()
                named[key["key"]] = self._argument(depth)
            else:
                items.append(self._argument(depth))
            if self.position == before:
                raise UnreadableError
        if named or not items:
            return named
        if name.endswith("Dict") and isinstance(items[0], list):
            pairs = [pair for pair in items[0] if isinstance(pair, list) and len(pair) == 2]
            return {str(key): value for key, value in pairs}
        return items[0] if len(items) == 1 else items

    def _argument(self, depth: int) -> object:
        """A value, to which unquoted text may still stick: `lr=1e-3 * 8`, `dir=a(b)c`."""
        self._skip_space()
        if self.text.startswith((",", ")"), self.position):
            return ""
        start = self.position
        value = self.value(depth + 1)
        end = self.position
        rest = _BARE.match(self.text, end)
        if rest is None or not rest[0].strip():
            return value
        self.position = rest.end()
        return self.text[start : self.position].strip()[:500]
