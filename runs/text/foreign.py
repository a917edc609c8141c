"""Lines with numbers that no training loop printed as metrics: code, settings, shell traces."""

from __future__ import annotations

import re

from .prefix import Prefix

_CODE = re.compile(
    r"""
    \s*(?:
        def\ | class\ | import\ | from\ \w+\ import | return\b | assert\ | raise\ | @\w
      | if\ .*:\s*$ | for\ .{0,200}?\ in\ .*: | while\ | elif\ | else: | try: | except
      | with\ .*:\s*$
      | print\( | self\. | parser\.add_
      | \#(?!\d) | //                                    # comments
      | \} | \)                                          # the end of a call or a block
      | \w+\s*=\s*[\w.]+\( | \w[\w.]*+\s*+=[^=]*\($     # model = Net(...
    )
    """,
    re.VERBOSE,
)
_SETTING = re.compile(
    r"""
      ^\s\s(?>\s*['"]?)(?:[\w.\- ]++|(?<=\s\s\ ))['"]?\s*+[:=]\s*+\S++\s*+$  # indented `lr: 0.1,`
    | [,(\[{]\s*$                                        # a dump goes on in the next line
    | ^\s*+[\w.]++\s*+=\s*+\S++\s*+$                     # `lr = 0.1`
    """,
    re.VERBOSE,
)
_FINAL_METRIC = re.compile(r"^\s*\w+\s{2,}=\s{2,}\S+\s*$")
"""`  eval_loss   =   0.32`: how the HF Trainer prints its final metrics."""
_NO_LOG = re.compile(
    r"""
      \++\s | [$%]\s | (?:export|declare)\s              # shell traces and prompts
    | >>>\s(?:import|from|\w+\s*=|[\w.]+\()
    | \s*\([\w.-]+\):\s                                  # the printed structure of a model
    | \s*[A-Z][A-Z0-9_]{5,}=\S                           # environment variables
    | \s+(?:CPU|Run|Turnaround)\ time\s+:               # LSF's report on a job
    | \s+(?:Max|Average|Total\ Requested|Delta)\ Memory\s+:
    """,
    re.VERBOSE,
)
_OPTION = re.compile(r"(?:^|\s)--[a-zA-Z][\w-]*")
_DRAWN_ROW = re.compile(r"^\s*[|│┃].*[|│┃]\s*$")
_CELL_EDGE = re.compile(r"[|│┃]")
_PAIR_CELL = re.compile(
    r"\s*+[^\W\d][\w/.()% -]{0,60}?\s*+[:=]?\s*+[-+]?(?:(?>[\d.]\S*)|nan|inf)\s*+$"
)
"""`loss 0.5`, `lr: 1e-4`."""


def is_foreign(line: str, body: str) -> bool:
    """True for shell traces, model structures, commands with options and rows of tables."""
    return bool(_NO_LOG.match(line)) or _is_drawn_row(line) or len(_OPTION.findall(body)) > 1


def is_setting_like(line: str, body: str, prefix: Prefix) -> bool:
    """True for lines of source code or of a configuration dump."""
    if _CODE.match(body):
        return True
    if prefix.stamp or prefix.level or _FINAL_METRIC.match(line):
        return False
    return _SETTING.search(line) is not None


def _is_drawn_row(line: str) -> bool:
    """A row of a drawn table, unless its cells are `name value` pairs themselves."""
    if not _DRAWN_ROW.match(line):
        return False
    cells = [cell for cell in _CELL_EDGE.split(line) if cell.strip()]
    return sum(_PAIR_CELL.match(cell) is not None for cell in cells) <= len(cells) / 2
