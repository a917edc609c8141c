"""The schema of an answer: strict, complete, and the same as what is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mltd.analyzers.core.registry import registry
from mltd.diagnosis.answer import answer_schema
from mltd.diagnosis.answer.opinion import Fix, Opinion, RootCauseOpinion

KNOWN = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "const"),
    *("anyOf", "description", "$ref", "$defs"),
}


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for part in ("properties", "$defs"):
        for one in schema.get(part, {}).values():
            yield from nodes(one)
    for one in schema.get("anyOf", []):
        yield from nodes(one)
    if "items" in schema:
        yield from nodes(schema["items"])


def test_only_keywords_of_a_strict_schema_are_used() -> None:
    for node in nodes(answer_schema()):
        assert set(node) <= KNOWN, node


def test_every_object_is_closed_and_requires_all_of_its_properties() -> None:
    objects = [node for node in nodes(answer_schema()) if node.get("type") == "object"]
    assert len(objects) == 10
    for node in objects:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])


def test_every_property_explains_itself() -> None:
    for node in nodes(answer_schema()):
        for name, one in node.get("properties", {}).items():
            assert name == "kind" or one.get("description"), name


def test_a_reference_stands_alone_and_leads_somewhere() -> None:
    schema = answer_schema()
    references = [node for node in nodes(schema) if "$ref" in node]
    assert references
    for node in references:
        assert set(node) == {"$ref"}
        assert node["$ref"].removeprefix("#/$defs/") in schema["$defs"]


def test_the_fields_are_those_that_are_read() -> None:
    schema = answer_schema()
    assert set(schema["properties"]) == set(Opinion.model_fields) - {"notes"}
    assert set(schema["$defs"]["Fix"]["properties"]) == set(Fix.model_fields)
    causes = schema["$defs"]["RootCauseOpinion"]["properties"]
    assert set(causes) == set(RootCauseOpinion.model_fields)
    assert len(causes["evidence"]["items"]["anyOf"]) == 5
    assert {"type": "string"} in causes["against"]["items"]["anyOf"]


def test_the_known_failure_modes_are_named() -> None:
    mode = answer_schema()["$defs"]["RootCauseOpinion"]["properties"]["failure_mode"]
    assert all(name in mode["description"] for name in registry().causes)
    mine = answer_schema(["one_mode"])["$defs"]["RootCauseOpinion"]["properties"]["failure_mode"]
    assert "one_mode" in mine["description"]
    assert "lr_too_high" not in mine["description"]
    assert "enum" not in mode


def test_the_schema_is_the_same_each_time_and_the_callers_own() -> None:
    first = answer_schema()
    first["properties"].clear()
    assert answer_schema() == answer_schema()
    assert json.dumps(answer_schema()) == json.dumps(answer_schema())
    assert answer_schema()["properties"]
