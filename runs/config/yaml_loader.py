"""A YAML loader that makes plain data of any document."""

from __future__ import annotations

import re
from typing import Any

import yaml

_Base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class DataLoader(_Base):  # type: ignore[misc]
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


DataLoader.add_multi_constructor("", _construct_any)
DataLoader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9]\d{0,30})$"), list("-+0123456789")
)
DataLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:\d{1,300}\.\d{0,300}(?:[eE][-+]?\d{1,4})?|\.\d{1,300}(?:[eE][-+]?\d{1,4})?"
        r"|\d{1,300}[eE][-+]?\d{1,4})|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)
