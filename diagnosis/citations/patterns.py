"""The table of what is dangerous, read once: how it is written, and what it would do."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

_PATH = (
    r"[\"']?[\w./~*$-]*\.(?:pt|pth|ckpt|safetensors|bin|log|out|err|csv|tsv|jsonl?|np[yz]|py|ya?ml"
    r"|tar|gz|zip|h5|hdf5|parquet|arrow|pkl|pickle|joblib|onnx|gguf|toml|sh|txt|db|sqlite)\b"
)
_FILE = (
    r"(?:checkpoints?|ckpts?|weights|logs?|log ?files?|data ?sets?|data|runs?|outputs?|results?"
    r"|caches?|wandb|tensorboard|experiments?|environments?|repo(?:sitory)?|shards?|artifacts?|snapshots?"
    r"|backups?|saved models?|model files?|event files?|journals?"
    r"|(?:\w+ )?(?:folders?|director(?:y|ies)|dirs?|files?))"
)
_NOT_ADVISED = "".join(
    rf"(?<!{words}\s)"
    for words in (
        "not",
        "n't",
        "never",
        "without",
        "avoid",
        "instead of",
        "rather than",
        "no need to",
    )
)
_BETWEEN = (
    r"(?:(?!(?:from|in|of|to|for|on|at|with|by|into|and|or|before|after|than|near|inside|when|if)\b)"
    r"[\w'/.~*-]+\s+){0,4}?"
)
"""Words between a verb and what it is done to; `remove outliers from the data` spares the data."""
_NOUN_ENDS = (
    r"(?=[\"']?\s*(?:$|[.,;:!?)(\]~/$]|(?:and|or|to|from|in|at|before|after|that|which|of|so|then|with"
    r"|under|on|older|except|first|now|by|if|once|when|until|away|aside|back|over|out|altogether)\b))"
)
"""`remove checkpoint saving` spares the checkpoints: what ends there is the whole noun."""


_WHERE = r"(?<![\w./~$-])(?:[\w.~$-]*/(?:[\w.-]+/)*)?"
"""Where a command begins: as a word, with the path to it or without."""


class Rule(NamedTuple):
    """One way to do harm, or to start something."""

    kind: str
    reason: str
    pattern: re.Pattern[str]
    is_start: bool
    """It starts something, and does no other harm."""


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """All there are."""
    text = resources.files(__package__).joinpath("dangers.toml").read_text(encoding="utf-8")
    return tuple(
        Rule(one["kind"], one["reason"], pattern, one.get("is_start", False))
        for one in tomllib.loads(text)["rule"]
        for pattern in _patterns(one)
    )


def _patterns(rule: dict[str, Any]) -> Iterator[re.Pattern[str]]:
    for command in rule.get("command", ()):
        yield re.compile(rf"{_WHERE}{command}")
    for code in rule.get("code", ()):
        yield re.compile(code.replace("{path}", _PATH))
    for said in rule.get("said", ()):
        filled = said.replace("{path}", _PATH).replace("{file}", _FILE)
        yield re.compile(rf"{_NOT_ADVISED}\b{filled}", re.IGNORECASE | re.MULTILINE)
    if "verb" in rule:
        verb, noun = "|".join(rule["verb"]), "|".join(rule["noun"])
        noun = noun.replace("{path}", _PATH).replace("{file}", _FILE)
        yield re.compile(
            rf"{_NOT_ADVISED}\b(?:{verb})\s+{_BETWEEN}(?:{noun}){_NOUN_ENDS}",
            re.IGNORECASE | re.MULTILINE,
        )
