"""Every key of a TOML document is found on its line, whatever stands around it."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mltd.runs.toml_lines import Place, key_lines, line_of

DOCUMENT = (
    r'''# a comment with [table] and key = 1
top = 1   # trailing [x]
text = """
[not.a.table]
no = "key" \""""
raw = '''
    + """'''
[neither]
'''
list = [ # comment ] "
  "a]", 'b[', # [c]
  [1, 2],
]
inline = { a = 1, b = { c = 2 } }

[one]
"quoted key" = 1
'single.quoted' = 2
dotted.inner . "deep" = 3

[ two . "three" ]
a = 1
[[many]]
x = 1
[many.sub]
y = 1
[[many]]

x = 2
[[many.items]]
z = 1
[[many.items]]
z = 2
"""
)


def test_every_key_has_its_line() -> None:
    lines = key_lines(DOCUMENT)
    rows = DOCUMENT.split("\n")
    for place, line in lines.items():
        assert _value(tomllib.loads(DOCUMENT), place) is not None
        assert str(place[-1]).strip("'\"") in rows[line - 1] or isinstance(place[-1], int)
    expected: dict[Place, int] = {
        ("top",): 2,
        ("list",): 9,
        ("inline",): 13,
        ("one", "quoted key"): 16,
        ("one", "single.quoted"): 17,
        ("one", "dotted", "inner", "deep"): 18,
        ("two", "three", "a"): 21,
        ("many", 0, "x"): 23,
        ("many", 0, "sub", "y"): 25,
        ("many", 1, "x"): 28,
        ("many", 1, "items", 1, "z"): 32,
    }
    assert {place: lines[place] for place in expected} == expected
    assert line_of(lines, ("inline", "b", "c")) == 13
    assert line_of(lines, ("absent",)) == 0


def _value(document: Any, place: Place) -> Any:
    for part in place:
        document = document[part]
    return document


_NAMES = st.text(st.sampled_from("ab.\"'#[]= \\é"), min_size=1, max_size=5)
_VALUES = st.one_of(st.integers(), st.booleans(), st.text(st.sampled_from("a\n\"'#[]{}=\\")))


@given(st.dictionaries(_NAMES, st.dictionaries(_NAMES, st.lists(_VALUES, max_size=3))))
def test_any_names_and_values_are_passed_over(tables: dict[str, dict[str, list[Any]]]) -> None:
    rows: list[str] = []
    expected: dict[Place, int] = {}
    for table, values in tables.items():
        rows.append(f"[{json.dumps(table, ensure_ascii=False)}]")
        expected[(table,)] = len(rows)
        for name, value in values.items():
            written = json.dumps(value, ensure_ascii=False)
            rows.append(f"{json.dumps(name, ensure_ascii=False)} = {written} # ] '")
            expected[(table, name)] = len(rows)
    text = "\n".join(rows)
    assert tomllib.loads(text) == tables
    assert key_lines(text) == expected
