"""The form of the answer as a JSON schema that a strict tool input allows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .opinion import Opinion
from .vocabulary import cause_ids

_KEPT = frozenset({"type", "enum", "const", "description", "items", "properties", "anyOf", "$ref"})
"""Keywords that the service understands in a strict schema; all others are said in words."""
_NOT_ASKED = "notes"
_REFERENCE = "#/$defs/"


def answer_schema(failure_modes: Iterable[str] | None = None) -> dict[str, Any]:
    """The schema of an opinion; every property is required, so that none is forgotten."""
    modes = ", ".join(cause_ids() if failure_modes is None else failure_modes)
    made = Opinion.model_json_schema()
    definitions: dict[str, Any] = made.pop("$defs")
    made["properties"].pop(_NOT_ASKED)
    schema = _strict(made, definitions, modes)
    kinds = {
        name: _strict(one, definitions, modes)
        for name, one in definitions.items()
        if one["type"] == "object"
    }
    return {**schema, "$defs": kinds}


def _strict(node: dict[str, Any], definitions: dict[str, Any], modes: str) -> dict[str, Any]:
    """The same with nothing in it but what is kept, sentences filled in."""
    node = {**node, "anyOf": node["oneOf"]} if "oneOf" in node else node
    target = definitions.get(str(node.get("$ref", "")).removeprefix(_REFERENCE), {})
    if target and "enum" in target:
        # A reference may have no description beside it, so that its choices are put in place.
        words = node.get("description", target.get("description", ""))
        return {"type": "string", "enum": list(target["enum"]), "description": words}
    if target:
        return {"$ref": node["$ref"]}
    strict: dict[str, Any] = {}
    for keyword, value in node.items():
        if keyword not in _KEPT:
            continue
        if keyword == "properties":
            value = {name: _strict(one, definitions, modes) for name, one in value.items()}
            strict |= {"additionalProperties": False, "required": list(value)}
        elif keyword == "items":
            value = _strict(value, definitions, modes)
        elif keyword == "anyOf":
            value = [each for one in value for each in _flat(_strict(one, definitions, modes))]
        elif keyword == "description":
            value = " ".join(value.replace("{failure_modes}", modes).split())
        strict[keyword] = value
    return strict


def _flat(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of an alternative are alternatives themselves."""
    return node["anyOf"] if set(node) == {"anyOf"} else [node]
