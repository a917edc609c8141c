"""What the name of a run claims about its settings, read with care.

`lr1e-3_bs64_seed2`, `lr=0.001,batch_size=64`, `bs_64-wd0.01`. What may mean two things is not read:
ranges (`lr1e-4-1e-3`), several values of one key, digits run together (`lr0001`), and everything
behind a word that speaks of another run (`finetune_from_lr1e-3`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_EDGE = r"(?:^|(?<=[_\-,;.@+ =/()\[\]]))"
_FRACTION = r"(?:\d+(?:\.\d+)?[eE][-+]?\d{1,3}|\d+p\d+|\d*\.\d+)"
_END = r"(?=$|[_\-,;@+ /)\]]|\.(?:\D|$))"
_RANGE = re.compile(r"(?:-|_|,|\.\.|_?to_?)(?:\d*\.\d|\d+(?:\.\d+)?[eE])")
_JOINT = r"[_=\- ]?"
_KEYS = {
    "lr": rf"(?:lr|learning[_-]?rate){_JOINT}(?P<value>{_FRACTION})",
    "batch_size": rf"(?:bs|bsz|batch(?:[_-]?size)?){_JOINT}(?P<value>\d{{1,7}})",
    "seed": rf"seed{_JOINT}(?P<value>\d{{1,10}})",
    "weight_decay": rf"(?:wd|weight[_-]?decay){_JOINT}(?P<value>{_FRACTION})",
    "dropout": rf"(?:dropout|drop){_JOINT}(?P<value>{_FRACTION})",
    "momentum": rf"(?:momentum|mom){_JOINT}(?P<value>{_FRACTION})",
}
_PATTERNS = {
    meaning: re.compile(f"{_EDGE}{pattern}{_END}", re.IGNORECASE)
    for meaning, pattern in _KEYS.items()
}
_OTHER_RUN = re.compile(
    rf"(?i){_EDGE}(?:from|init|teacher|resume[ds]?|pre-?train(?:ed)?|distill?(?:ed)?|load(?:ed)?|"
    rf"sweep|grid|search){_END}"
)
_PAIR = re.compile(r"(?P<key>[A-Za-z_][\w./]{0,80})=(?P<value>[^=,]{1,80})")
_UNSIGNED = re.compile(r"(\d+(?:\.\d+)?)[eE](\d{1,3})")


@dataclass(frozen=True, slots=True)
class Claim:
    """One setting as a name has it."""

    meaning: str
    values: tuple[float, ...]
    """What the digits may mean: `3e4` is also how people write 3e-4."""


def claims_in(name: str) -> list[Claim]:
    """The settings that a name states with certainty."""
    if (other := _OTHER_RUN.search(name)) is not None:
        name = name[: other.start()]
    found = []
    for meaning, pattern in _PATTERNS.items():
        said = list(pattern.finditer(name))
        values = {_numbers(one["value"]) for one in said}
        if len(values) != 1 or any(_is_range(name, one, meaning) for one in said):
            continue
        found.append(Claim(meaning, values.pop()))
    return found


def pairs_in(name: str) -> list[tuple[str, str]]:
    """`key=value` pairs of a name that consists of nothing else, as Hydra makes them."""
    parts = name.split(",")
    found = [_PAIR.fullmatch(part.strip()) for part in parts]
    # `lr=0.1_bs=64` is one part with two pairs: where the first ends cannot be told.
    if any(one is None for one in found):
        return []
    return [(one["key"], one["value"].strip()) for one in found if one is not None]


def _is_range(name: str, said: re.Match[str], meaning: str) -> bool:
    if meaning in ("batch_size", "seed"):
        return re.match(r"(?:-|\.\.|_?to_?)\d", name[said.end() :]) is not None
    return _RANGE.match(name, said.end()) is not None


def _numbers(text: str) -> tuple[float, ...]:
    value = float(re.sub(r"(?i)p", ".", text))
    unsigned = _UNSIGNED.fullmatch(text)
    if unsigned is None:
        return (value,)
    return value, float(f"{unsigned[1]}e-{unsigned[2]}")
