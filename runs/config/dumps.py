"""Configuration dumped into a log: `Namespace(...)`, dicts, argument lists, YAML, pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..events.prefix import split_label
from .blocks import Cut, is_announcement, read_block
from .literals import CutOffError, UnreadableError, ValueReader
from .one_line import read_one_line
from .plain import plain_dict

_MOST_LINES = 2000
_MOST_TEXT = 1_000_000
_REACH = 2000
"""Characters of a line in which a dump has to begin."""
_CALL = re.compile(
    r"(?<![\w.])(?:\w{1,60}\.){0,5}\w{0,60}"
    r"(?:Namespace|Args|Arguments|Config|Params|Parameters|Options|HParams|Settings)\("
)
_WORD = re.compile(
    r"(?i)\b(?:\w+_)?(?:config(?:uration)?|args|arguments|params|parameters|hparams"
    r"|hyper-?parameters|settings|options|cfg|json)\b"
)
_NAME = re.compile(r"\b(?P<name>[a-z]\w{0,80}_(?:config|cfg|args|params|kwargs))\s*+[.:=]*+\s*+$")
"""A part of the configuration (`mp_cfg: {...}`), as opposed to all of it (`args: {...}`)."""
_OPENING = re.compile(r"\{\s*(?:$|[\"'][\w.\-/ ]{1,80}[\"']\s*:)")
_SETTING = re.compile(
    r"(?i)(?:learning_rate|batch_?size|\bseed\b|optimizer|num_workers|weight_decay|hidden_(?:size|dim)"
    r"|max_(?:steps|epochs?|iters)|\blr\b|log_interval|eval_interval|vocab_size|num_epochs|dropout)"
)
_MEASURED = re.compile(
    r"(?i)(?:^|(?<!max)[_/ ])(?:loss|acc|accuracy|grad_norm|runtime|ppl|f1|map)(?:$|[_/ ])"
)


def may_start_config(line: str) -> bool:
    """Whether a dump may begin with a line of this shape; cheap and generous."""
    head = line[:_REACH]
    if "(" in head and _CALL.search(head):
        return True
    if "{" in head and (opening := _OPENING.search(head)):
        return _WORD.search(head, 0, opening.start()) is not None or _has_settings(line)
    return is_announcement(head) or read_one_line(line) is not None


def _has_settings(line: str) -> bool:
    """One inside another, or several of them; a record of a trainer has its learning rate alone."""
    text = line[:20_000]
    found = {name.casefold() for name in _SETTING.findall(text)}
    return len(found) >= 3 or (": {" in text and bool(found))


def config_from_lines(
    lines: Sequence[str], index: int, *, final: bool = True
) -> tuple[dict[str, object], int] | None:
    """The settings dumped from a line on, and the index of the first line after them.

    None if nothing is dumped there. Without `final`, an answer whose index is that of the
    line itself asks to be presented again with more lines.
    """
    body = split_label(lines[index]).body[:_MOST_TEXT]
    if not may_start_config(body):
        return None
    is_cut = False
    for column, is_announced in _starts(body):
        found = _read_value(lines, index, column)
        if isinstance(found, Cut):
            is_cut = True
        elif found is not None and _is_config(found[0], is_announced):
            name = _NAME.search(body, 0, column)
            return plain_dict({name["name"]: found[0]} if name else found[0]), found[1]
    if not is_cut and is_announcement(body[:_REACH]):
        block = read_block(lines, index)
        if isinstance(block, Cut) and (final or len(lines) - index >= _MOST_LINES):
            block = block.so_far
        if isinstance(block, Cut):
            is_cut = True
        elif block is not None:
            return plain_dict(block[0]), block[1]
    if not is_cut and (pairs := read_one_line(body)) is not None:
        return plain_dict(pairs), index + 1
    return ({}, index) if is_cut and not final else None


def _starts(body: str) -> Iterator[tuple[int, bool]]:
    """Columns where a value may begin, and whether words before it say "configuration"."""
    head = body[:_REACH]
    call = _CALL.search(head)
    if call is not None:
        yield call.start(), True
    opening = _OPENING.search(head)
    if opening is not None:
        yield opening.start(), _WORD.search(head, 0, opening.start()) is not None


def _read_value(
    lines: Sequence[str], index: int, column: int
) -> tuple[Mapping[str, object], int] | Cut | None:
    first = split_label(lines[index]).body[column:]
    number = 1
    while True:
        more = (split_label(line).body for line in lines[index + 1 : index + number])
        text = "\n".join((first, *more))[:_MOST_TEXT] + "\n"
        reader = ValueReader(text)
        try:
            value = reader.value()
        except CutOffError:
            if index + number >= len(lines):
                return Cut(None) if number < _MOST_LINES and len(text) < _MOST_TEXT else None
            if number >= _MOST_LINES or len(text) >= _MOST_TEXT:
                return None
            number *= 8
            continue
        except UnreadableError:
            return None
        if not isinstance(value, dict):
            return None
        return value, index + text.count("\n", 0, reader.position) + 1


def _is_config(found: Mapping[str, object], is_announced: bool) -> bool:
    """Settings, not measurements: `{'loss': 1.3, 'epoch': 0.1}` is none."""
    keys = list(_keys(found))
    if len(keys) < 2 or any(_MEASURED.search(key) and not is_announced for key in found):
        return False
    settings = sum(_SETTING.search(key) is not None for key in keys)
    return is_announced or (settings >= 3 and len(keys) >= 5)


def _keys(found: Mapping[str, object], depth: int = 0) -> Iterator[str]:
    for key, value in found.items():
        yield key
        if isinstance(value, dict) and depth < 5:
            yield from _keys(value, depth + 1)
