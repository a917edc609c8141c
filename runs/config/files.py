"""Configuration files beside a log: JSON, YAML, TOML, and Python assignments."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

from ..errors import FormatError, InputError
from ..open_artifact import ANYWHERE, Roots
from ..sources.inputs import open_input
from .plain import plain_dict
from .python_source import read_assignments
from .yaml_source import read_yaml

_MOST_BYTES = 8_000_000


def read_config_file(path: str | os.PathLike[str], root: Roots = ANYWHERE) -> dict[str, object]:
    """The settings in a file, as plain data; nothing in the file is ever run."""
    path = Path(path)
    text = _read_text(path, root)
    match path.suffix.lower():
        case ".json":
            found = _read_json(text, path.name)
        case ".toml":
            found = _read_toml(text, path.name)
        case ".py":
            found = read_assignments(text, path.name)
        case ".yaml" | ".yml":
            found = read_yaml(text, path.name)
        case _:
            found = _read_unnamed(text, path.name)
    if not isinstance(found, dict):
        kind = "nothing" if found is None else "no table of settings"
        raise FormatError(f"{path.name} holds {kind}", hint="give the file with key-value settings")
    return _unwrap_wandb(plain_dict(found))


def _read_text(path: Path, root: Roots) -> str:
    descriptor = open_input(path, root)
    try:
        if os.fstat(descriptor).st_size > _MOST_BYTES:
            raise FormatError(f"{path.name} is too large for a configuration file")
        data = os.read(descriptor, _MOST_BYTES)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    finally:
        os.close(descriptor)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _read_json(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise FormatError(f"{name} is not valid JSON: {where}: {error.msg}") from None
    except (ValueError, RecursionError):
        raise FormatError(f"{name} is not valid JSON, or too deeply nested") from None


def _read_toml(text: str, name: str) -> object:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} is not valid TOML: {str(error)[:200]}") from None


def _read_unnamed(text: str, name: str) -> object:
    """A file whose name says nothing: JSON if it starts like JSON, else YAML."""
    if text.lstrip()[:1] == "{":
        try:
            return _read_json(text, name)
        except FormatError:
            pass
    return read_yaml(text, name)


def _unwrap_wandb(found: dict[str, object]) -> dict[str, object]:
    """W&B writes each setting as `{desc: ..., value: ...}`."""
    wrapped = {
        key: value["value"]
        for key, value in found.items()
        if isinstance(value, dict) and value.keys() <= {"desc", "value"} and "value" in value
    }
    others = found.keys() - wrapped.keys()
    return wrapped if wrapped and others <= {"wandb_version", "_wandb"} else found
