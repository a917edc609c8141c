"""YAML read as data: unknown tags become what they hold, nothing is constructed."""

from __future__ import annotations

import re
from typing import Any

import yaml

from ..errors import FormatError

MOST_YAML = 2_000_000
_MOST_NESTING = 100
_NESTED_INLINE = re.compile(r"(?:[-?:][ \t]+){100}")
_Base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _DataLoader(_Base):  # type: ignore[misc]
    """A safe loader that takes any tag and reads `1e-4` as the number it is meant to be."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [
            pair
            for pair in pairs
            if pair[0].rpartition(":")[2] not in ("int", "float", "timestamp")
        ]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _construct_any(loader: Any, suffix: str, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    text = str(loader.construct_scalar(node))
    return text or suffix.rpartition(":")[2]


_DataLoader.add_multi_constructor("", _construct_any)
_DataLoader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9]\d{0,30})$"), list("-+0123456789")
)
_DataLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:\d{1,300}\.\d{0,300}(?:[eE][-+]?\d{1,4})?|\.\d{1,300}(?:[eE][-+]?\d{1,4})?"
        r"|\d{1,300}[eE][-+]?\d{1,4})|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)


def read_yaml(text: str, name: str) -> object:
    """What a YAML document holds; of several documents the first."""
    if len(text) > MOST_YAML:
        raise FormatError(f"{name} is too large for a configuration file")
    if _is_deep(text):
        raise FormatError(f"{name} is nested too deeply to be a configuration")
    try:
        return next(iter(yaml.load_all(text, Loader=_DataLoader)), None)
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
