"""Which way to log in would be used, by name and never by value."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.diagnosis.client.access import destination, host_name, obstacle, way_to_log_in
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


def test_the_place_where_everything_goes_is_known() -> None:
    assert destination({}) == "api.anthropic.com"
    gateway = {"ANTHROPIC_BASE_URL": "https://user:secret@gateway.example:8443/v1"}
    assert destination(gateway) == "gateway.example:8443"
    assert host_name(gateway) == "gateway.example"


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("https://gateway.example", "gateway.example"),
        ("https://Gateway.example:443/v1", "gateway.example"),
        ("https://gateway.example:8443", "gateway.example:8443"),
        ("http://gateway.example", "http://gateway.example"),
        ("http://gateway.example:80", "http://gateway.example"),
        ("http://user:secret@gateway.example:8080", "http://gateway.example:8080"),
        ("http://127.0.0.1:4010", "127.0.0.1:4010"),
        ("http://localhost", "localhost"),
        ("http://[::1]:4010", "[::1]:4010"),
        ("http://127.0.0.1.example:4010", "http://127.0.0.1.example:4010"),
        ("https://[fd00::7]:8443", "[fd00::7]:8443"),
    ],
)
def test_another_port_and_a_line_that_anyone_can_read_are_seen(address: str, place: str) -> None:
    assert destination({"ANTHROPIC_BASE_URL": address}) == place


@pytest.mark.parametrize("port", ["99999", "x", "-1"])
def test_a_password_in_a_broken_address_is_never_told(port: str) -> None:
    known = {"ANTHROPIC_BASE_URL": f"https://user:secret@gateway.example:{port}/v1"}
    assert "secret" not in destination(known) + host_name(known)
    assert "gateway.example" in destination(known)
    assert "secret" not in destination({"ANTHROPIC_BASE_URL": "https://u:secret@[x"})


@pytest.mark.parametrize("address", ["http://[x", "gateway.example", "ftp://x", "https://", "::"])
def test_an_address_that_is_none_is_told_before_anything_is_tried(address: str) -> None:
    known = {"ANTHROPIC_API_KEY": "sk-ant-1", "ANTHROPIC_BASE_URL": address}
    problem = obstacle(ConsultSettings(), known)
    assert problem is not None
    assert problem.kind == "bad_address"
    assert destination(known)
