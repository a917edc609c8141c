"""Provenance: which data, which code, which seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mltd.analyzers.core.settings_lookup import Setting, Settings
from mltd.runs.roles import normalise

from ..model.constraints import Fact
from .lines import Line
from .material import Material, Piece, fact_of, from_line, from_setting, says_something, tidy

DATA_NEEDLES = (
    b"dataset", b"data_path", b"data-path", b"data_dir", b"data-dir", b"loading data", b"corpus:",
    b"scanning '", b"filenames from", b"num examples", b"belonging to", b"train_file",
)  # fmt: skip
REVISION_NEEDLES = (b"commit", b"git_", b"git-", b"git sha", b"git hash", b"git rev", b"git:")
SEED_NEEDLES = (b"seed",)

# -- data ---------------------------------------------------------------------------------

_DATA_KEYS = (
    "dataset", "dataset name", "dataset path", "dataset dir", "dataset id", "datasets", "data path",
    "data dir", "data root", "data folder", "data file", "data files", "train file", "train files",
    "train data", "train data path", "train data file", "train data dir", "train dir", "train path",
    "training data", "train dataset", "dataset config", "dataset config name", "train manifest",
    "manifest filepath", "data prefix", "train data prefix", "dataset version", "data version",
    "validation file", "val data path", "val file", "eval dataset", "data source",
)  # fmt: skip
_DATA_SAID = (
    re.compile(r"\b(?:[Ll]oad(?:ing|ed)|[Rr]eusing|[Uu]sing|[Pp]reparing) (?:the )?"
               r"(?P<text>(?:[\w./@:-]*[\w/] )?dataset (?:from )?['\"]?"
               r"(?!(?:from|for|to|with|and|is|in|on|of|cached|into|by|at|as|took|has)\b)"
               r"[\w./@:\\-]*[\w/])"),
    re.compile(r"\b[Ll]oad(?:ing|ed) (?:training |train )?(?P<text>data(?:set)? from:? "
               r"[\w./@:\\-]+[\w/])"),
    re.compile(r"\bScanning '(?P<text>[^']{1,120})' images"),
    re.compile(r"\bfilenames from: (?P<text>\S{1,120})"),
    re.compile(r"\bCorpus: \"?(?P<text>\d+ train \+ \d+ dev \+ \d+ test sentences)"),
    re.compile(r"^\W{0,20}(?:\S{1,40} ){0,4}?Found "
               r"(?P<text>\d+ (?:images|files) belonging to \d+ classes)"),
)  # fmt: skip
_DATA_VARIABLE = re.compile(
    r"^\+* ?(?:export )?(?P<name>(?:TRAIN_)?DATA(?:SET)?_?(?:PATH|DIR|ROOT|FILE)?)="
    r"['\"]?(?P<value>[^\s'\"]{2,120})"
)
_DATA_OPTION = re.compile(
    r"\s--(?P<name>(?:train[_-])?data(?:set)?[_-](?:path|dir|root|name|file))[= ]"
    r"(?P<value>[^\s'\"-][^\s'\"]{0,119})"
)
_EXAMPLES = re.compile(r"\bNum examples = (?P<count>\d[\d,]*)")
_SOURCE_CODE = re.compile(
    r"^\s*(?:def |class |import |from \w+ import|[│|└]|File \")|[({]\s*$|\(\*"
)


def data(material: Material) -> Iterator[Piece]:
    """Settings that name data, then what the log says it loads."""
    seen: set[str] = set()
    for setting in _chosen(material):
        shown = _listed(setting.value)
        if shown and shown not in seen:
            seen.add(shown)
            yield from_setting(setting, f"{tidy(setting.path.rpartition('.')[2], 40)}: {shown}")
    for line in material.lines:
        if _SOURCE_CODE.search(line.text) or "-packages/" in line.text or "%|" in line.text:
            continue
        yield from _said(line, seen)
    for line, found in _first(material, _EXAMPLES):
        yield from_line(line, found, f"{found['count']} examples")


def _chosen(material: Material) -> list[Setting]:
    """At most four, in the order of the names: what tells most comes first."""
    found = sorted(
        material.named(*_DATA_KEYS),
        key=lambda s: _DATA_KEYS.index(normalise(s.path.rpartition(".")[2])),
    )
    return [setting for setting in found if _listed(setting.value)][:4]


def _listed(value: object) -> str:
    """A name, a path or a short list of them; empty for anything else."""
    if isinstance(value, str):
        text = tidy(value, 100)
        is_name = bool(re.search(r"[A-Za-z]{2}", text)) and text.casefold() not in ("true", "false")
        return text if is_name and not text.startswith(("<", "{", "dict(")) else ""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value[:4]):
        more = f" and {len(value) - 2} more" if len(value) > 2 else ""
        return tidy(", ".join(value[:2]), 100) + more
    return ""


def _said(line: Line, seen: set[str]) -> Iterator[Piece]:
    for pattern in _DATA_SAID:
        if found := pattern.search(line.text):
            text = tidy(found["text"], 100)
            if text not in seen:
                seen.add(text)
                yield from_line(line, found, text)
            return
    if found := _DATA_VARIABLE.search(line.text) or _DATA_OPTION.search(line.text):
        text = tidy(found["value"], 100)
        if text not in seen and "$" not in text:
            seen.add(text)
            yield from_line(line, found, f"{found['name'].casefold().replace('-', '_')}: {text}")


# -- code ---------------------------------------------------------------------------------

_HASH = r"(?P<hash>[0-9a-f]{7,40})"
_REVISION_KEYS = (
    "git sha", "git commit", "git hash", "git rev", "git revision", "commit", "commit hash",
    "commit id", "commit sha", "code revision", "code version", "git commit hash", "git commit id",
    "git head", "git version", "mlflow source git commit",
)  # fmt: skip
_REVISION_SAID = re.compile(
    rf"(?:\bgit(?:[ _-](?:commit|sha1?|hash|rev(?:ision)?|head))+(?: id| hash)?\s*(?:[:=]|is)?\s*"
    rf"['\"]?|\bcommit(?: hash| id| sha)?\s*[:=]\s*['\"]?|^commit )"
    rf"{_HASH}\b(?P<dirty>(?:-| \(?|\+)dirty)?",
    re.IGNORECASE,
)
_NOT_THE_CODE = re.compile(r"MKL|DeepSpeed info|NCCL|oneDNN|build|\bcuDNN|pip |egg=", re.IGNORECASE)
_WHOLE_HASH = re.compile(rf"{_HASH}(?P<dirty>-dirty|\+dirty)?", re.IGNORECASE)


def revision_fact(material: Material) -> Fact | None:
    """Which code ran; what was new in it no log says, so it is only half an answer."""
    fact = fact_of(revision(material))
    return None if fact is None else fact.model_copy(update={"is_complete": False})


def revision(material: Material) -> Iterator[Piece]:
    """The commit, from a setting that is one or a line that names one."""
    for setting in material.named(*_REVISION_KEYS):
        found = _WHOLE_HASH.fullmatch(str(setting.value).strip())
        if found is not None and _is_hash(found["hash"]):
            yield from_setting(setting, f"commit {found['hash'].lower()}{_dirty(found)}")
            return
    for line, said in material.search(_REVISION_SAID, _NOT_THE_CODE):
        if _is_hash(said["hash"]):
            yield from_line(line, said, f"commit {said['hash'].lower()}{_dirty(said)}")
            return


def _is_hash(text: str) -> bool:
    """A number or a word is rarely a hash: it has digits and letters, or all forty characters."""
    return len(text) == 40 or (any(map(str.isdigit, text)) and any(map(str.isalpha, text)))


def _dirty(found: re.Match[str]) -> str:
    return " with uncommitted changes" if found["dirty"] else ""


# -- seeds --------------------------------------------------------------------------------

_SEED_SAID = re.compile(
    r"(?:\b(?:[Gg]lobal |[Rr]andom |[Mm]anual )?[Ss]eed(?:s|ed| everything)?(?: set)?(?: to| with|"
    r" ?[:=]| is) ?|\brun_set_random_seed: ?|\+ SEED='?\s*|--seed[ =])(?P<seed>\d{1,20})\b"
)
_NOT_A_SEED = re.compile(
    r"^(?:num|n|no|use|has|is|max|min|fixed validation)\b|\blayers?\b|\bhook\b"
)
MOST_SEEDS = 4


def seeds(material: Material) -> Iterator[Piece]:
    """Settings that are seeds, else what the log says was seeded."""
    count = 0
    for setting in seed_settings(material.settings):
        yield from_setting(setting)
        count += 1
    if count:
        return
    said: set[str] = set()
    for line, found in material.search(_SEED_SAID):
        if found["seed"] not in said and len(said) < MOST_SEEDS:
            said.add(found["seed"])
            yield from_line(line, found, f"seed = {found['seed']}")


def seed_settings(settings: Settings) -> list[Setting]:
    """Settings whose name is a seed's and whose value is a number that seeds something."""
    found: dict[tuple[str, object], Setting] = {}
    for setting in settings:
        name = normalise(setting.path.rpartition(".")[2])
        if "seed" not in name.split() or _NOT_A_SEED.search(name) or not says_something(setting):
            continue
        if isinstance(setting.value, bool) or setting.number is None or setting.number < 0:
            continue
        if setting.number.is_integer():
            found.setdefault((name, setting.number), setting)
    return list(found.values())[:MOST_SEEDS]


def _first(material: Material, pattern: re.Pattern[str]) -> list[tuple[Line, re.Match[str]]]:
    hit = next(material.search(pattern), None)
    return [hit] if hit is not None else []
