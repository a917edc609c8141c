"""Settings: a name and its value in YAML, TOML, JSON, as options or in the environment."""

from __future__ import annotations

import re

from .shell import starts_program
from .words import words

_QUOTED = r"\"[^\"`\n]*\"|'[^'`\n]*'"
_VARIABLE = r"\$(?:\w+|\{(?!IFS)[\w.:,/-]+\})"
_BARE = rf"(?:[\w.~+@%/*-]|{_VARIABLE})(?:[\w.:/@%+~*-]|{_VARIABLE})*"
_LIST = r"\[[^\]\[()|&;`<>]*\]|\([^()|&;`<>]*\)|\{[^{}()|&;`<>]*\}|<[\w /*.+-]+>"
_VALUE = rf"(?:{_QUOTED}|{_LIST}|{_BARE})"
_NAME = r"[~+]{0,2}[\"']?(?P<key>[A-Za-z_][\w./@\[\]-]*)[\"']?"
_ARROW = r"(?:->|→|=>)"

_PAIR = re.compile(rf"\s*(?:- )?{_NAME}\s*(?:[:=]\s*(?P<value>{_VALUE})|:(?=\s*$))\s*")
_CHANGE = re.compile(rf"\s*{_NAME}(?:\s+{_VALUE})?\s*{_ARROW}\s*(?P<value>{_VALUE})\s*")
_OPTION = re.compile(
    rf"\s*--?(?P<key>[A-Za-z][\w.-]*)(?:(?:=|\s+(?!-))(?P<value>{_VALUE}))?(?=\s|$|,)\s*"
)
_ITEM = re.compile(rf"\s*-?\s*(?:{_QUOTED}|[-+]?\d[\w.+-]*|true|false|null)\s*,?", re.IGNORECASE)
_FRAME = re.compile(r"\s*(?:\[[\w.\"' -]+\]|[\[\]{}(),]+|- [A-Za-z_][\w.-]*:?)\s*,?\s*")
_GAP = re.compile(r"(?:,|;|\band\b)\s*")
_EXPORT = re.compile(r"\s*(?:export|declare -x|set -x(?= \w+ ))\s+(?=[A-Za-z_]\w*=)")
_UNSET = re.compile(r"\s*unset(?:\s+[A-Za-z_]\w*)+\s*")
_SETENV = re.compile(rf"\s*setenv\s+[A-Za-z_]\w*\s+{_VALUE}\s*")
_ASSIGNED = re.compile(
    rf"(?P<key>[A-Za-z_]\w*)=(?:{_QUOTED}|{_BARE}|\$\(\([\w\s+*/%-]*\)\)|\.\.\.|)(?:\s+|$)"
)
_RUNNING_VARIABLE = re.compile(
    r"(?:LD_PRELOAD|LD_AUDIT|BASH_ENV|ENV|PROMPT_COMMAND|PYTHONSTARTUP|PERL5OPT|NODE_OPTIONS"
    r"|GIT_SSH\w*|EDITOR|PAGER|IFS|SHELLOPTS|BASHOPTS|PS[0-4])"
)


def is_setting(line: str) -> bool:
    """True if the line holds settings and nothing else; nothing in it is run by whoever reads."""
    text = line.strip()
    if not text or "$(" in text.replace("$((", "") or "`" in text:
        return False
    if _ITEM.fullmatch(text):
        return not starts_program(text.strip("-, \"'").partition(" ")[0])
    if _FRAME.fullmatch(text) or _UNSET.fullmatch(text):
        return True
    if _SETENV.fullmatch(text):
        return not _RUNNING_VARIABLE.fullmatch(text.split()[1])
    if found := _EXPORT.match(text):
        return _is_environment(text[found.end() :])
    return _is_environment(text) or _are_pairs(text)


def _is_environment(text: str) -> bool:
    at = 0
    while at < len(text):
        found = _ASSIGNED.match(text, at)
        if found is None or _RUNNING_VARIABLE.fullmatch(found["key"]):
            return False
        at = found.end()
    return at > 0


def _are_pairs(text: str) -> bool:
    at = 0
    while at < len(text):
        found = next(
            (one for form in (_PAIR, _CHANGE, _OPTION) if (one := form.match(text, at))), None
        )
        if found is None or found.end() == at or _is_run(found["key"], found["value"]):
            return False
        is_option = found.re is _OPTION
        at = found.end()
        if gap := _GAP.match(text, at):
            at = gap.end()
        elif at < len(text) and not is_option and not text[at : at + 2].startswith("--"):
            return False
    return at > 0


def is_run_by_others(name: str) -> bool:
    """True for the names of hooks and the like, whose value is a command."""
    return name.lower() in words("shell", "running_keys")


def _is_run(key: str, value: str | None) -> bool:
    """Hooks and the like take a command for a value; a number or a switch is none."""
    if not value or not is_run_by_others(re.split(r"[./-]", key)[-1]):
        return False
    return not re.fullmatch(r"[-+]?[\d.]+|true|false|null|none", value.strip("\"'").lower())
