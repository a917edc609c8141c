"""The careful pass over one line: prefix, progress bar, record, pairs."""

from __future__ import annotations

import re

from ..roles import Roles
from .bars import find_bar
from .pairs import PairReader
from .prefix import read_prefix
from .reading import Coordinate, Reading, Slot
from .records import Leaf, find_record, scan_record

MAX_LINE = 65536
"""Longer lines are data or noise; their head is read, the rest is not."""

MAX_PROSE = 4096
"""Characters of free text searched for pairs; patterns with two-sided looks stay cheap."""

_CODE = re.compile(
    r"^\s*(?:def |class |import |from \w+ import|return\b|if .*:\s*$|for .* in .*:|while |elif |else:|try:|except|with .*:\s*$"
    r"|@\w|assert |raise |print\(|self\.|parser\.add_|#(?!\d)|//|\}|\)|\w+\s*=\s*[\w.]+\(|\w[\w.]*\s*=\s*[^=]*\($)"
)
_SETTING_SHAPE = re.compile(
    r"^\s{2,}['\"]?[\w.\- ]+['\"]?\s*[:=]\s*\S+,?\s*$|[,(\[{]\s*$|^\s*[\w.]+\s*=\s*\S+,?\s*$"
)
_SUMMARY_SHAPE = re.compile(r"^\s*\w+\s{2,}=\s{2,}\S+\s*$")
"""How the HF Trainer prints its final metrics."""
_TABLE_CELLS = re.compile(r"^\s*[|│┃].*[|│┃]\s*$")
_PAIR_CELL = re.compile(r"\s*[^\W\d][\w/.()% -]{0,60}?\s*[:=]?\s*[-+]?(?:[\d.]+\S*|nan|inf)\s*$")
_OPTION = re.compile(r"(?:^|\s)--[a-zA-Z][\w-]*")
_NO_LOG = re.compile(
    r"""
      \++\s | [$%]\s | >>>\s(?:import|from|\w+\s*=|[\w.]+\() | (?:export|declare)\s       # shell traces and prompts
    | \s*\([\w.-]+\):\s                                  # the printed structure of a model
    | \s*[A-Z][A-Z0-9_]{5,}=\S                            # environment variables
    """,
    re.VERBOSE,
)


def read_line(line: str, roles: Roles) -> Reading:
    """Everything that one line says."""
    line = line[:MAX_LINE]
    prefix = read_prefix(line)
    reading = Reading(
        rank=prefix.rank,
        rank_span=prefix.rank_span,
        stamp=prefix.stamp,
        stamp_span=prefix.stamp_span,
        split=roles.split_of(prefix.tag) if prefix.tag else "",
    )
    body_start = prefix.end
    body = line[body_start:]
    if not any(c.isdigit() for c in body) and not re.search(r"\b-?(?:nan|inf)\b", body, re.I):
        return reading
    has_prefix = bool(prefix.stamp or prefix.level)
    reading.is_setting_like = bool(
        _CODE.match(body)
        or (not has_prefix and _SETTING_SHAPE.search(line) and not _SUMMARY_SHAPE.match(line))
    )
    if _NO_LOG.match(line) or _is_grid(line) or len(_OPTION.findall(body)) > 1:
        return reading
    if (span := find_record(body)) is not None:
        _read_record(body, span, body_start, roles, reading)
        if reading.is_record or reading.config is not None:
            if prefix.tag and not reading.level and re.fullmatch(r"\s*\w+", prefix.tag):
                reading.level = prefix.tag.strip()
            return reading
    _read_pairs(body, body_start, roles, reading)
    _number_namesakes(reading)
    return reading


def _is_grid(line: str) -> bool:
    """A row of a drawn table, unless its cells are `name value` pairs themselves."""
    if not _TABLE_CELLS.match(line):
        return False
    cells = [cell for cell in re.split(r"[|│┃]", line) if cell.strip()]
    return sum(_PAIR_CELL.match(cell) is not None for cell in cells) <= len(cells) / 2


def _number_namesakes(reading: Reading) -> None:
    """Two numbers of one name in one line are two series."""
    seen: dict[str, int] = {}
    for slot in reading.slots:
        count = seen[slot.name] = seen.get(slot.name, 0) + 1
        if count > 1:
            slot.name = f"{slot.name} #{count}"


def _read_pairs(body: str, offset: int, roles: Roles, reading: Reading) -> None:
    body = body[:MAX_PROSE]
    bar = find_bar(body)
    text = body
    is_captioned = bar is not None and re.search(r"[^\W\d]", body[: bar.span[0]]) is not None
    if bar is not None and bar.total_span is None and not bar.is_scaled and not is_captioned:
        reading.coordinates.append(
            Coordinate("step", _moved(bar.n_span, offset), float(body[slice(*bar.n_span)]), 90)
        )
    if bar is not None:
        start, end = bar.span
        caption = body[:start]
        if caption.rstrip().endswith(":"):
            # What a bar is called is no part of the names behind it.
            caption = caption.rstrip()[:-1].ljust(start)
        text = caption + "," + " " * (end - start - 1) + body[end:]
        if bar.total_span is not None and not bar.is_scaled:
            reading.bar = _moved(bar.n_span, offset), _moved(bar.total_span, offset)
    found = PairReader(roles, text, offset).read()
    reading.slots.extend(found.slots)
    reading.coordinates.extend(found.coordinates)
    if not reading.split:
        reading.split = roles.split_of(found.head_words)
    first = min((slot.span[0] for slot in reading.slots), default=len(body) + offset)
    reading.level = _level([c for c in reading.coordinates if c.span[0] < first])
    if not reading.slots and reading.bar is None and _says_more(body):
        reading.coordinates.clear()


def _says_more(body: str) -> bool:
    """True for a sentence that mentions a coordinate in passing."""
    return len(re.findall(r"[^\W\d_]{2,}", body)) > 5


def _read_record(
    body: str, span: tuple[int, int], offset: int, roles: Roles, reading: Reading
) -> None:
    leaves = scan_record(body, *span)
    if not leaves:
        return
    numeric = [leaf for leaf in leaves if leaf.value is not None]
    heading = body[: span[0]].strip()
    if heading.endswith("["):
        reading.config = {}
        return
    depth = max(len(leaf.path) for leaf in leaves)
    axes = [leaf for leaf in numeric if roles.axis_of(leaf.path[-1]) is not None]
    known = [leaf for leaf in numeric if roles.is_known(leaf.name)]
    before = PairReader(roles, heading, offset).read() if heading else None
    label = _label(heading)
    is_valued = bool(label) and any(leaf.path == ("value",) for leaf in numeric)
    words = len(leaves) - len(numeric)
    if not numeric:
        return
    if is_valued:
        pass
    elif (depth > 2 and not axes) or words > max(2, 0.4 * len(leaves)) or not (known or axes):
        if words and len(leaves) >= 4 and not axes:
            reading.config = {}
        if not (known and words <= len(numeric) and depth <= 2 and len(known) >= 1):
            return
        reading.config = None
    reading.is_record = True
    if before is not None:
        reading.coordinates.extend(before.coordinates)
        reading.split = reading.split or roles.split_of(before.head_words)
    for leaf in numeric:
        _add_leaf(leaf, label if is_valued else "", offset, roles, reading)
    reading.level = _level(reading.coordinates) if before is not None and before.coordinates else ""
    if not reading.split and _is_evaluation([slot.name for slot in reading.slots], roles):
        reading.split = "val"


def _is_evaluation(names: list[str], roles: Roles) -> bool:
    """A record of scores without anything a training step has."""
    found = {role.split("/")[-1] for name in names if (role := roles.role_of(name))}
    return bool(found & {"score", "accuracy", "error_rate"}) and not (
        found & {"loss", "lr", "grad_norm", "reward"}
    )


def _add_leaf(leaf: Leaf, label: str, offset: int, roles: Roles, reading: Reading) -> None:
    assert leaf.value is not None
    name = leaf.name
    if label:
        name = label if leaf.path == ("value",) else name
    span = _moved(leaf.span, offset)
    axis, precedence = roles.axis_rank(name)
    if axis == "batch":
        axis = None
    if (axis == "time" or name.casefold() in ("time", "ts", "t")) and _is_moment(leaf.value):
        reading.coordinates.append(Coordinate("time", span, leaf.value))
        return
    if axis == "time":
        axis = None
    if axis is not None:
        reading.coordinates.append(Coordinate(axis, span, leaf.value, precedence))
    total = roles.total_of(name)
    if total is not None:
        reading.coordinates.append(Coordinate(f"total {total}", span, leaf.value))
        return
    is_known = roles.is_known(name) or (bool(label) and name == label and roles.is_known(label))
    reading.slots.append(Slot(name, span, leaf.value, is_known=is_known))


def _is_moment(value: float) -> bool:
    """Seconds since 1970, between 2001 and 2286: no duration is that long."""
    return 1e9 < value < 1e10


def _label(heading: str) -> str:
    """The name in front of `: {`, as in `eval_accuracy: {"value": 0.4}`."""
    found = re.search(r"([\w@./-]+)\s*[:=]?\s*$", heading)
    return found[1] if found else ""


def _level(coordinates: list[Coordinate]) -> str:
    axes = {c.axis for c in coordinates}
    if axes & {"step", "inner"}:
        return "step"
    return "epoch" if "epoch" in axes else ""


def _moved(span: tuple[int, int], offset: int) -> tuple[int, int]:
    return span[0] + offset, span[1] + offset
