"""The one door through which text leaves the machine."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from typing import Any

from .addresses import replace_addresses
from .host_names import is_domain_name, is_hostlike
from .hosts import replace_hosts
from .links import replace_links
from .names import Doubt, Named, announced, announced_by_key
from .paths import PathShortener
from .people import replace_people
from .pseudonyms import Pseudonyms
from .secrets import mask_secrets
from .values import is_secret

_DEEPEST = 100
_MOST_ROUNDS = 5
"""What is learned from one place may show in another, so it is done until nothing changes."""
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")


class Masker:
    """Masks secrets; with `redact` also users, hosts and paths, each called the same throughout."""

    def __init__(
        self,
        redact: bool = False,
        known_paths: Sequence[str] = (),
        known_names: Sequence[str] = (),
    ) -> None:
        self.redacts = redact
        self._names = Pseudonyms()
        if not redact:
            return
        for name in known_names:
            if (is_hostlike(name) and "-" in name) or is_domain_name(name):
                self._names.know_host(name)
            else:
                self._names.know_user(name, is_certain=True)
        for variable in ("USER", "LOGNAME", "USERNAME"):
            self._names.know_user(os.environ.get(variable, ""))
        self._names.know_host(socket.gethostname())
        self._paths = PathShortener(self._names, known_paths)

    def clean(self, text: str) -> str:
        """The text as it may be shown to others."""
        text = mask_secrets(text)
        if not self.redacts:
            return text
        for _ in range(_MOST_ROUNDS):
            before, text = text, self._redacted(text)
            if text == before:
                break
        return text

    def _redacted(self, text: str) -> str:
        text = replace_links(text, self._names, self._paths)
        text = replace_people(text, self._names)
        text = self._paths.shorten_all(text)
        text = replace_hosts(text, self._names)
        text = replace_addresses(text, self._names)
        return self._names.replace_known(text)

    def clean_value(self, value: Any) -> Any:
        """The same for all that JSON can hold; a key that names a secret masks its value."""
        return self._cleaned(value, None, _DEEPEST)

    def _cleaned(self, value: Any, named: Named | None, depth: int) -> Any:
        if isinstance(value, str):
            if named is not None and is_secret(value, named, is_quoted=True):
                return f"[masked: {named.kind}]"
            return self.clean(value)
        if isinstance(value, dict):
            return self._cleaned_dict(value, named, depth) if depth else "[masked: too deep]"
        if isinstance(value, (list, tuple)):
            if not depth:
                return "[masked: too deep]"
            return type(value)(self._cleaned_items(value, named, depth))
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and named is not None and named.doubt is Doubt.NONE and named.kind != "token":
            return f"[masked: {named.kind}]"
        return value

    def _cleaned_dict(
        self, value: dict[Any, Any], named: Named | None, depth: int
    ) -> dict[Any, Any]:
        cleaned: dict[Any, Any] = {}
        # {"name": "API_KEY", "value": "..."}, as containers are given their environment.
        label = value.get("name", value.get("key"))
        for key, item in value.items():
            about = announced_by_key(key) if isinstance(key, str) else None
            if key == "value" and isinstance(label, str):
                about = about or announced_by_key(label)
            if key == "key" and ("username" in value or "user" in value):
                about = Named("API key", Doubt.MOST)  # {"username": "joe", "key": "..."}
            cleaned[self._new_key(key, cleaned)] = self._cleaned(item, about or named, depth - 1)
        return cleaned

    def _new_key(self, key: Any, taken: dict[Any, Any]) -> Any:
        name = self.clean(key) if isinstance(key, str) else key
        count = 2
        while name in taken:
            name = f"{self.clean(str(key))} ({count})"
            count += 1
        return name

    def _cleaned_items(self, items: Sequence[Any], named: Named | None, depth: int) -> list[Any]:
        cleaned: list[Any] = []
        about = named
        for item in items:
            cleaned.append(self._cleaned(item, about, depth - 1))
            # ["--password", "..."], as programs are given their arguments.
            is_flag = isinstance(item, str) and _FLAG.fullmatch(item) is not None
            about = announced(item.lstrip("-")) if is_flag else named
        return cleaned
