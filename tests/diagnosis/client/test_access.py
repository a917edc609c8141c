"""Which way to log in would be used, by name and never by value."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.diagnosis.client.access import obstacle, way_to_log_in
from mltd.diagnosis.settings import ConsultSettings

WORKLOAD = {
    "ANTHROPIC_FEDERATION_RULE_ID": "rule",
    "ANTHROPIC_ORGANIZATION_ID": "org",
    "ANTHROPIC_IDENTITY_TOKEN_FILE": "/run/token",
}


@pytest.mark.parametrize(
    ("environment", "way"),
    [
        ({}, ""),
        ({"ANTHROPIC_API_KEY": ""}, ""),
        ({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t"}, "ANTHROPIC_API_KEY"),
        ({"ANTHROPIC_AUTH_TOKEN": "t"}, "ANTHROPIC_AUTH_TOKEN"),
        ({"ANTHROPIC_CUSTOM_HEADERS": "X-Team: a\nX-Api-Key: k"}, "ANTHROPIC_CUSTOM_HEADERS"),
        ({"ANTHROPIC_CUSTOM_HEADERS": "X-Team: a"}, ""),
        ({"ANTHROPIC_PROFILE": "work"}, "the profile work"),
        (WORKLOAD, "workload identity"),
        ({**WORKLOAD, "ANTHROPIC_ORGANIZATION_ID": ""}, ""),
        ({"ANTHROPIC_BASE_URL": "http://gateway"}, ""),
    ],
)
def test_the_ways_of_the_sdk_are_known(
    environment: dict[str, str], way: str, own_home: Path
) -> None:
    assert way_to_log_in({"HOME": str(own_home), **environment}) == way
    error = obstacle(ConsultSettings(), {"HOME": str(own_home), **environment})
    assert (error is None) is bool(way)


@pytest.mark.parametrize("pointer", ["", "work"])
def test_a_profile_on_disk_is_a_way(own_home: Path, pointer: str) -> None:
    folder = own_home / ".config" / "anthropic"
    (folder / "configs").mkdir(parents=True)
    assert way_to_log_in({"HOME": str(own_home)}) == ""
    (folder / "configs" / f"{pointer or 'default'}.json").write_text("{}")
    if pointer:
        (folder / "active_config").write_text(pointer)
    assert way_to_log_in({"HOME": str(own_home)}) == "the active profile"


@pytest.mark.parametrize(
    "key", ["s3 cr3t", "s3cr3t\n", " s3cr3t", "'s3cr3t'", '"s3cr3t"', "s3cr3té", "s3cr3t\0"]
)
def test_a_key_that_cannot_be_sent_is_told_without_showing_it(key: str) -> None:
    error = obstacle(ConsultSettings(), {"ANTHROPIC_API_KEY": key})
    assert error is not None
    assert error.kind == "bad_key"
    assert "cr3t" not in str(error)


@pytest.mark.parametrize("address", ["http://[x", "gateway.example", "ftp://x", "https://", "::"])
def test_an_address_that_is_none_is_told_before_anything_is_tried(address: str) -> None:
    known = {"ANTHROPIC_API_KEY": "sk-ant-1", "ANTHROPIC_BASE_URL": address}
    problem = obstacle(ConsultSettings(), known)
    assert problem is not None
    assert problem.kind == "bad_address"
