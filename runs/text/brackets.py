"""Names in front of brackets: `losses: [1.0, 2.0]`, COCO's `Average Precision @[ .. ] = 0.9`."""

from __future__ import annotations

import re

from .axes import find_axis
from .names import clean_key
from .numbers import NUMBER
from .passage import Passage

_QUALIFIED = re.compile(
    r"\s*(?P<name>[^\W\d][\w\s()]{1,60}?)\s*@\[\s*(?P<of>[^\]]{1,120}?)\s*\]\s*=\s*(?P<value>\S)"
)
"""`Average Precision (AP) @[ IoU=0.50 | area= all | maxDets=100 ] = 0.9`."""
_BRACKETED = re.compile(r"[\[(]([^\[\](){}]{3,2000})[\])]")
_KEY = re.compile(r"[^\[\](){},;|\t]*$")
"""What stands between the last separator and the end."""
_MAX_KEY = 80
"""Characters before a bracket among which its name is looked for."""
_MAX_NUMBERS = 64


def read_qualified(passage: Passage, position: int) -> bool:
    """Read a COCO line, whose brackets are part of the name; True if it was one."""
    found = _QUALIFIED.match(passage.text, position)
    number = NUMBER.match(passage.text, found.start("value")) if found else None
    if found is None or number is None:
        return False
    name = " ".join([*found["name"].split(), *found["of"].replace("|", " ").split()])
    passage.add_slot(name.replace("= ", "="), number)
    return True


def read_vectors(passage: Passage, position: int) -> None:
    """Read the lists of numbers that have a name, and hide them from later readers."""
    for brackets in _BRACKETED.finditer(passage.text, position):
        numbers = _numbers_alone(passage.text, *brackets.span(1))
        key = _key_before(passage, position, brackets) if numbers else ""
        if not key:
            continue
        is_known = passage.roles.is_known(key)
        for index, number in enumerate(numbers):
            passage.add_slot(f"{key}[{index}]", number, is_known=is_known)
        passage.blank(brackets.span())


def _numbers_alone(text: str, start: int, end: int) -> list[re.Match[str]]:
    """The numbers between two places, none if there is anything else or only one."""
    numbers = list(NUMBER.finditer(text, start, end))
    if not 2 <= len(numbers) <= _MAX_NUMBERS:
        return []
    rest = NUMBER.sub("", text[start:end]).replace(",", "").strip()
    return [] if rest else numbers


def _key_before(passage: Passage, position: int, brackets: re.Match[str]) -> str:
    """The name in front of brackets, nothing if they are no measurement."""
    start = brackets.start()
    before = passage.text[max(position, start - _MAX_KEY) : start].rstrip()
    is_assigned = before.endswith((":", "="))
    is_glued = before[-1:].isalnum()
    is_call = is_glued and brackets[0].startswith("(")  # Linear(20, 30) is a layer
    if is_call or not (is_assigned or is_glued):
        return ""
    words = _KEY.search(before.rstrip(":= "))
    key = clean_key(words[0], passage.roles) if words else ""
    if find_axis(key, passage.roles) is not None or passage.roles.is_prose(key):
        return ""
    return key
