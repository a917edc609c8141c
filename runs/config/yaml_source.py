"""YAML read as data: unknown tags become what they hold, nothing is constructed."""

from __future__ import annotations

import re

from ..errors import FormatError

MOST_YAML = 2_000_000
_MOST_NESTING = 100
_NESTED_INLINE = re.compile(r"(?:[-?:][ \t]+){100}")


def read_yaml(text: str, name: str) -> object:
    """What a YAML document holds; of several documents the first."""
    if len(text) > MOST_YAML:
        raise FormatError(f"{name} is too large for a configuration file")
    if _is_deep(text):
        raise FormatError(f"{name} is nested too deeply to be a configuration")
    import yaml  # most logs hold none, and all of them would wait for this

    from .yaml_loader import DataLoader

    try:
        return next(iter(yaml.load_all(text, Loader=DataLoader)), None)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise FormatError(f"{name} is not valid YAML: {where}{error.problem}") from None
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        raise FormatError(f"{name} is not valid YAML") from None


def _is_deep(text: str) -> bool:
    """The C parser recurses on the C stack, so depth is bounded before it starts."""
    depth = deepest = 0
    for bracket in re.finditer(r"[\[\]{}]", text):
        depth = max(0, depth + (1 if bracket[0] in "[{" else -1))
        deepest = max(deepest, depth)
    indent = max((len(line) - len(line.lstrip(" ")) for line in text.split("\n")), default=0)
    return deepest > _MOST_NESTING or indent > 1000 or _NESTED_INLINE.search(text) is not None
