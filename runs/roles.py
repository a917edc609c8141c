"""What names mean: axes, roles, splits, units, and which words measure something.

The knowledge is in `roles.toml`; the user's configuration may add to it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z]{3})(?=[A-Z]$)")
_SEPARATORS = re.compile(r"[\s_\-./:|()\[\]{}#,'\"]+")
_NORM = re.compile(r"‖([^‖]+)‖")
"""`‖g‖`: the norm of something."""
_GLUED = re.compile(
    r"(train|trn|tr|t|valid|val|va|v|test|tst|te|dev|eval)"
    r"(loss|nll|ppl|bpc|bpb|acc|accuracy|err|error|auc|mse|mae|rmse|reward)"
)
"""`vloss`, `trainacc`: the split and what was measured in one word."""
_LONGEST_NAME = 120
"""Characters; longer phrases are prose that happens to end in "loss"."""
_STATISTICS = frozenset({"num", "std", "count", "min", "max", "var", "n", "change"})
_SETTINGS = frozenset({
    "freq", "frequency", "interval", "weight", "weights", "coef", "coeff", "coefficient",
    "window", "patience",
})  # fmt: skip
"""At the end of a name: `val_loss_freq` says how often, not how large."""
_AMOUNT = re.compile(r"(?:.* )?total (?:tokens|samples|examples|images|frames|words|sequences)")
"""`throughput/total_tokens`: how much went through so far, not how fast."""
_RATE = re.compile(r"[a-z]/s(?:ec(?:ond)?)?$", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"(?:ENV\[)?[A-Z][A-Z0-9]*_[A-Z0-9_]{4,}\]?")
_DIGITS = re.compile(r"[0-9]+")
_BESIDE_STAR = re.compile(r"[0-9]+(?=\*)|(?<=\*)[0-9]+")


@lru_cache(maxsize=65536)
def normalise(name: str) -> str:
    """Fold a name to lower-case words separated by single spaces."""
    if "‖" in name:
        name = _NORM.sub(r" \1 norm ", name)
    words = _SEPARATORS.sub(" ", _CAMEL.sub(" ", name)).strip().casefold()
    if glued := _GLUED.fullmatch(words):
        split = {"t": "train", "v": "val"}.get(glued[1], glued[1])
        return f"{split} {glued[2]}"
    return words


@dataclass(frozen=True)
class Roles:
    """The vocabulary of one user: the shipped tables plus the user's own."""

    table: Mapping[str, object]
    overrides: Mapping[str, str] = field(default_factory=dict)
    """Raw name to role, from the user's configuration; always wins."""

    @cached_property
    def _axis_by_name(self) -> dict[str, tuple[str, int]]:
        return _rank_by_name(self._tables("axes"))

    @cached_property
    def _total_by_name(self) -> dict[str, tuple[str, int]]:
        return _rank_by_name(self._tables("totals"))

    @cached_property
    def _split_by_word(self) -> dict[str, str]:
        return {word: split for split, words in self._tables("splits").items() for word in words}

    @cached_property
    def _split_by_stem(self) -> tuple[re.Pattern[str], dict[str, str]]:
        stems = {s: split for split, found in self._tables("split_stems").items() for s in found}
        return re.compile("|".join(map(re.escape, stems))), stems

    @cached_property
    def _role_rules(self) -> tuple[dict[str, str], re.Pattern[str], list[str]]:
        """Roles by name; all names with stars as one pattern, and the role of each group in it."""
        exact: dict[str, str] = {}
        patterns: list[str] = []
        targets: list[str] = []
        rules = self.table["roles"]
        assert isinstance(rules, list)
        for rule in rules:
            wild = [_wildcard(name) for name in rule["names"] if "*" in name]
            if wild:
                patterns.append(f"({'|'.join(wild)})")
                targets.append(rule["role"])
            for name in rule["names"]:
                if "*" not in name:
                    exact.setdefault(name, rule["role"])
        # At once: most names have no role, and there are dozens of rules.
        return exact, re.compile("|".join(patterns) or "(?!)"), targets

    @cached_property
    def units(self) -> dict[str, tuple[str, float]]:
        """Unit to (dimension, factor)."""
        found = self.table["units"]
        assert isinstance(found, dict)
        return {unit: (str(dim), float(factor)) for unit, (dim, factor) in found.items()}

    def _tables(self, section: str) -> dict[str, list[str]]:
        found = self.table[section]
        assert isinstance(found, dict)
        return found

    @lru_cache(maxsize=64)  # noqa: B019 - one instance lives for the whole process
    def words(self, group: str) -> frozenset[str]:
        """A word list of the vocabulary, such as outcome, setting or prose."""
        return frozenset(self._tables("vocabulary")[group])

    @cached_property
    def telling_words(self) -> frozenset[str]:
        """Words of which one is in nearly every line that measures a training."""
        axes = self._axis_by_name.items()
        counters = {name for name, (axis, _) in axes if axis in ("step", "epoch")}
        return self.words("outcome") | {name for name in counters if name.isalpha()}

    @cached_property
    def _telling_numbers(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """Numbers that are part of names in the tables, and those of them beside a star."""
        tables = repr(self.table)
        return frozenset(_DIGITS.findall(tables)), tuple(_BESIDE_STAR.findall(tables))

    def _generic(self, name: str) -> str:
        """A name that means the same: numbers that no rule names are replaced by one of them.

        What `expert_4711/load` means is then known for all experts.
        """
        return _DIGITS.sub(self._any_number, name)

    def _any_number(self, match: re.Match[str]) -> str:
        digits = match[0]
        telling, beside_star = self._telling_numbers
        if digits in telling or digits.startswith(beside_star) or digits.endswith(beside_star):
            return digits
        return any_digits if (any_digits := "8" * len(digits)) not in telling else digits

    def axis_of(self, name: str) -> str | None:
        """Which coordinate a name is, if it is one."""
        return self.axis_rank(name)[0]

    @lru_cache(maxsize=16384)  # noqa: B019
    def axis_rank(self, name: str) -> tuple[str | None, int]:
        """Coordinate and its precedence among names for the same one (0 is best)."""
        override = self.overrides.get(name)
        if override in ("step", "epoch", "tokens", "samples", "time"):
            return override, 0
        if override is not None:
            return None, 0
        return self._axis_rank(self._generic(name))

    @lru_cache(maxsize=16384)  # noqa: B019
    def _axis_rank(self, name: str) -> tuple[str | None, int]:
        words = normalise(name)
        found = self._axis_by_name.get(words)
        if found is None and (stripped := self._without_split(words)) != words:
            # "train/global_step", "valid_num_updates": the split word changes nothing.
            found = self._axis_by_name.get(stripped)
            if found is None and words.split()[0] in self._split_by_word:
                # "dev_other_num_updates": nor does the name of the data behind it.
                found = self._axis_by_name.get(" ".join(words.split()[-2:]))
            if found is not None and found[0] not in ("step", "epoch"):
                found = None
        return found if found is not None else (None, 0)

    def total_of(self, name: str) -> str | None:
        """Which coordinate's planned total a name is, if it is one."""
        return self._total_by_name.get(normalise(name), (None, 0))[0]

    def split_of(self, text: str) -> str:
        """The split that the words of a text speak of: train, val, test or nothing."""
        words = normalise(text)
        if "eval" in words and any(phrase in words for phrase in self.words("evaluated_names")):
            return "val"
        for word in words.split():
            if (split := self._split_by_word.get(word)) is not None:
                return split
        pattern, stems = self._split_by_stem
        found = pattern.search(text.casefold())
        return stems[found[0]] if found else ""

    def is_split(self, name: str) -> bool:
        """True if a name says which data was used and nothing else."""
        return normalise(name) in self._split_by_word

    def is_identity(self, name: str) -> bool:
        """True if a name tells which one it is, not how much."""
        return normalise(name) in self.words("identity")

    def tells_evaluation(self, text: str) -> bool:
        """True if a phrase of the text is one with which an evaluation is reported."""
        words = normalise(text)
        return any(phrase in words for phrase in self.words("evaluation"))

    def _without_split(self, words: str) -> str:
        return " ".join(w for w in words.split() if w not in self._split_by_word)

    @lru_cache(maxsize=16384)  # noqa: B019
    def role_of(self, name: str, split: str = "") -> str | None:
        """The canonical role of a raw name, such as `train/loss`, or None."""
        if (override := self.overrides.get(name)) is not None:
            return override
        return self._role_of(self._generic(name), split)

    @lru_cache(maxsize=16384)  # noqa: B019
    def _role_of(self, name: str, split: str) -> str | None:
        words = normalise(name)
        if (axis := self._axis_by_name.get(words)) is not None and axis[0] != "batch":
            return f"axis/{axis[0]}"
        last = words.rpartition(" ")[2]
        if last != words and (last in _STATISTICS or last in _SETTINGS):
            return None
        if _AMOUNT.fullmatch(words) or words in self.words("sent_back"):
            return None
        if _RATE.search(name):
            return "throughput"
        bare = self._match_role(words) or self._match_role(self._without_split(words))
        if bare is None and words.partition(" ")[0] in self.words("containers"):
            bare = self._match_role(self._without_split(words.partition(" ")[2]))
        if bare is None:
            return None
        split = self.split_of(name) or split
        if words == "tel":
            split = "val"
        if split in ("val", "test"):
            return f"{split}/{bare}"
        return f"train/{bare}" if bare in ("loss", "accuracy", "perplexity") else bare

    def _match_role(self, words: str) -> str | None:
        exact, pattern, targets = self._role_rules
        if (role := exact.get(words)) is not None:
            return role
        if len(words) > _LONGEST_NAME:
            return None
        found = pattern.fullmatch(words)
        return targets[found.lastindex - 1] if found and found.lastindex else None

    @lru_cache(maxsize=16384)  # noqa: B019
    def is_outcome(self, name: str) -> bool:
        """True if the name speaks of something measured, not of something set."""
        return self._is_outcome(self._generic(name))

    @lru_cache(maxsize=16384)  # noqa: B019
    def _is_outcome(self, name: str) -> bool:
        if _ENVIRONMENT.fullmatch(name):
            return False
        words = set(normalise(name).split())
        words |= {w.rstrip("0123456789@") for w in words}
        return bool(words & self.words("outcome")) and not (words & self.words("setting"))

    @lru_cache(maxsize=16384)  # noqa: B019
    def is_known(self, name: str) -> bool:
        """True if the name has a role (other than being a coordinate) or is an outcome."""
        role = self.role_of(name)
        return (role is not None and not role.startswith("axis/")) or self.is_outcome(name)

    @lru_cache(maxsize=16384)  # noqa: B019
    def is_prose(self, phrase: str) -> bool:
        """True if the phrase reads like a piece of a sentence."""
        words = phrase.casefold().split()
        return len(words) > 5 or any(w in self.words("prose") for w in words)

    def __hash__(self) -> int:
        """Instances are compared by identity; their tables are never changed."""
        return id(self)

    def __eq__(self, other: object) -> bool:
        """Identity."""
        return self is other


def _rank_by_name(tables: Mapping[str, list[str]]) -> dict[str, tuple[str, int]]:
    return {
        name: (target, rank) for target, names in tables.items() for rank, name in enumerate(names)
    }


def _wildcard(name: str) -> str:
    # A star beside a space may also match nothing, together with that space.
    escaped = re.escape(name).replace(r"\*\ ", r"(?:.* )?").replace(r"\ \*", r"(?: .*)?")
    return escaped.replace(r"\*", ".*")


@lru_cache(maxsize=1)
def shipped() -> Roles:
    """The vocabulary that comes with the package."""
    text = resources.files(__package__).joinpath("roles.toml").read_text(encoding="utf-8")
    return Roles(tomllib.loads(text))
