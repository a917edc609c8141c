"""What of a long message tells what went wrong, and what says the same below every error."""

from __future__ import annotations

import re

_HINT = re.compile(
    r"^\s*(?:(?:CUDA|HIP|XPU) kernel errors might be asynchronously|For debugging consider passing "
    r"|Compile with `?TORCH_USE_\w+_DSA|Device-side assertions? (?:were|tracking)"
    r"|Search for `?(?:cuda|hip)Error)"
)
"""What libraries print below every error of a device, whatever it was."""
_ANNOUNCES = re.compile(
    r"^(?:Graph execution error:|\d+ root error\(s\) found|"
    r"Exception encountered when calling |in user code:"
    r"|backend='[\w.<>-]{1,80}' raised:)"
)
"""First lines of messages that say nothing yet: TensorFlow and Keras go on after blank lines,
with frames of their own."""
_FRAMES = re.compile(
    r"^\s*(?:Detected at node |File \"|Node: '|Stack trace for op definition|Additional GRPC)"
)
_ARGUMENTS = re.compile(r"^\s*(?:Call a|A)rguments received by ")
_RAISED_BELOW = re.compile(r"^\s+(?:[\w.]{1,80}\.)?[A-Z]\w{0,60}(?:Error|Exception): (?=\S)")
_LAST_ERROR = re.compile(
    r"^[^\S\n]*+Last error:[^\S\n]*+\n?[^\S\n]*+(?P<said>\S[^\n]*)", re.MULTILINE
)

_RULER = re.compile(r"[=*-]{10}")
_SECTION = re.compile(r"^Root Cause\b", re.MULTILINE)
_ROW = re.compile(
    r"^[^\S\n]*(?P<row>exitcode\s*: -?\d[^\n]*|traceback\s*: (?!To enable traceback)\S[^\n]*)",
    re.MULTILINE,
)
_MOST_TABLE = 50_000
"""Characters of a table of ranks."""


def announces(line: str) -> bool:
    """True if a message says what it has to say further below, after blank lines and frames."""
    return _ANNOUNCES.match(line.strip()) is not None


def is_table(message: str) -> bool:
    """True for the table that torchrun prints: its first line is a ruler."""
    return _RULER.match(message.lstrip()) is not None


def table_rows(text: str) -> list[tuple[str, int]]:
    """The rows of torchrun's table on how the first rank ended, and how far below they stand."""
    section = _SECTION.search(text, 0, _MOST_TABLE)
    if section is None:
        return []
    found = _ROW.finditer(text, section.end(), _MOST_TABLE)
    return [(row["row"].strip(), text.count("\n", 0, row.start("row"))) for row in found][:2]


def telling(message: str) -> str:
    """A message without the hints and frames that say nothing about what went wrong."""
    lines = [line for line in message.splitlines() if not _HINT.match(line)]
    if lines and announces(lines[0]):
        lines = _announced(lines[1:]) or lines
    return "\n".join(lines).strip()


def _announced(lines: list[str]) -> list[str]:
    """The lines that say what the first one only announced."""
    kept: list[str] = []
    is_code = False
    for line in lines:
        if _ARGUMENTS.match(line):
            break
        if _FRAMES.match(line):
            is_code = line.lstrip().startswith("File")
        elif is_code and line.startswith("   ") and not _RAISED_BELOW.match(line):
            is_code = False
        elif line.strip():
            is_code = False
            kept.append(_RAISED_BELOW.sub("", line).strip())
    return kept


def first_line(message: str) -> str:
    """The first line of a message that tells something."""
    return next((line.strip() for line in telling(message).splitlines() if line.strip()), "")


def last_error(text: str) -> str:
    """What NCCL names as the reason, below the line that only says that it failed."""
    found = _LAST_ERROR.search(text)
    return found["said"].strip() if found else ""
