"""Python that only computes or configures: every call in it is of a known family."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator

from .naming import Names
from .settings import is_run_by_others

_MOST = 8_000
"""Characters; an example for one key is shorter, and a parser takes long for what is longer."""
_DEEPEST = 12
"""Open brackets; Python's parser goes back and forth over deeper ones that do not close."""
_BRACKETS = re.compile(r"[()\[\]{}]")
_HEADERS = re.compile(r"(?:async |if|elif|else|for|while|with|try|except|finally|def|class)\b")

_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If, ast.For, ast.While, ast.With,
    ast.FunctionDef, ast.ClassDef, ast.Return, ast.Pass, ast.Continue, ast.Break, ast.Assert,
    ast.Raise, ast.Try, ast.Delete,
)  # fmt: skip
_TELLING = (
    ast.Call, ast.Import, ast.ImportFrom, ast.Assign, ast.AugAssign, ast.With, ast.FunctionDef,
    ast.ClassDef, ast.Delete,
)  # fmt: skip
_TAKING = frozenset({"map", "filter", "apply", "partial", "register_hook", "reduce", "for_each"})
"""Calls that call what they are given."""
_WRITING_MODE = re.compile(r"[rbt]*[wax+][rwaxbt+]*")


def is_code(text: str) -> bool:
    """True if the text is Python beyond doubt: it calls, imports, assigns or defines something."""
    tree = _parsed(textwrap.dedent(text).strip("\n"))
    return tree is not None and any(isinstance(node, _TELLING) for node in ast.walk(tree))


def is_harmless_code(text: str) -> bool:
    """True if the text is Python, and nothing in it could write, remove, fetch or start."""
    tree = _parsed(textwrap.dedent(text).strip("\n"))
    if tree is None or not tree.body:
        return False
    # `hook: word` is a setting, whose name decides what becomes of the word.
    if any(isinstance(node, ast.AnnAssign) and node.value is None for node in tree.body):
        return False
    nodes = list(ast.walk(tree))
    names = Names()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.define(node.name)
    # What a name stands for is known before its use is judged, wherever the import is.
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [node for node in nodes if not isinstance(node, ast.Import | ast.ImportFrom)]
    roots = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return (
        all(_may_import(node, names) for node in imports)
        and all(_is_harmless(node, names) for node in others)
        and not any(
            isinstance(node, ast.Name) and names.is_os(node.id) and id(node) not in roots
            for node in nodes
        )
    )


def _parsed(text: str) -> ast.Module | None:
    if len(text) > _MOST or _depth(text) > _DEEPEST:
        return None
    for form in _forms(text):
        try:
            # Escapes that Python doubts are nobody's business here.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(form)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    return None


def _forms(text: str) -> Iterator[str]:
    """The text, and a header whose block comes later, or a keyword argument on its own."""
    yield text
    if "\n" in text:
        return
    if _HEADERS.match(text):
        code = text.partition("#")[0].rstrip()
        yield f"{code} pass"
        # `elif` and the like need what they belong to.
        yield f"if x: pass\n{code} pass"
        yield f"if x: pass\n{code}"
        yield f"try: pass\n{code} pass"
    elif text.startswith('"'):
        # A member of a JSON object.
        yield f"{{{text}}}"
    elif text.endswith(","):
        yield f"dict({text})"


def _depth(text: str) -> int:
    deepest = depth = 0
    for found in _BRACKETS.finditer(text):
        depth = depth + 1 if found[0] in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _is_harmless(node: ast.AST, names: Names) -> bool:
    if isinstance(node, ast.Call):
        return _is_harmless_call(node, names)
    if isinstance(node, ast.Expr):
        return _does_something(node.value)
    if isinstance(node, ast.Name):
        return names.may_be_named(node.id)
    if isinstance(node, ast.Attribute):
        return names.may_be_read(_path(node))
    if isinstance(node, ast.Assign) and is_said(node.value):
        last = [_path(one)[-1] for one in node.targets if isinstance(one, ast.Name | ast.Attribute)]
        return not any(map(is_run_by_others, last))
    if isinstance(node, ast.Dict):
        return not any(
            isinstance(key, ast.Constant) and is_run_by_others(str(key.value)) and is_said(value)
            for key, value in zip(node.keys, node.values, strict=True)
        )
    if isinstance(node, ast.Delete):
        return all(isinstance(one, ast.Name | ast.Subscript) for one in node.targets)
    return not isinstance(node, ast.stmt) or isinstance(node, _STATEMENTS)


def _may_import(node: ast.Import | ast.ImportFrom, names: Names) -> bool:
    if isinstance(node, ast.Import):
        return all(names.may_import(one.name, one.asname) for one in node.names)
    return all(
        names.may_import(f"{node.module or '.'}.{one.name}", one.asname or one.name)
        for one in node.names
    )


def _does_something(value: ast.expr) -> bool:
    """Code on its own line is a call; `ls -la` and `cat | sh` would be arithmetic."""
    if isinstance(value, ast.Tuple):
        return all(map(_does_something, value.elts))
    if isinstance(value, ast.Constant):
        # A lone quoted word is a command to a shell; more words are a docstring.
        return value.value is ... or (isinstance(value.value, str) and " " in value.value)
    if isinstance(value, ast.BinOp):
        return any(isinstance(part, ast.Call) for part in ast.walk(value))
    return isinstance(value, ast.Call | ast.Dict)


def _is_harmless_call(node: ast.Call, names: Names) -> bool:
    if any(_writes(word) for word in node.keywords):
        return False
    function = node.func
    if isinstance(function, ast.Call):
        return not (isinstance(function.func, ast.Name) and function.func.id == "getattr")
    path = _path(function)
    if path == ("getattr",):
        asked = node.args[1] if len(node.args) > 1 else None
        said = asked.value if isinstance(asked, ast.Constant) else None
        return isinstance(said, str) and names.is_mild(said)
    if path[-1] in _TAKING and node.args and isinstance(node.args[0], ast.Name | ast.Attribute):
        taken = _path(node.args[0])[-1]
        if not names.is_mild(taken):
            return False
    if path[-1:] == ("replace",):
        # Of a string there are two arguments; a path's has one, and overwrites.
        return len(node.args) > 1
    if path[-1:] == ("copy",) and path[0] != "copy":
        return not node.args
    return names.may_be_called(path)


def _writes(keyword: ast.keyword) -> bool:
    name, value = keyword.arg or "", keyword.value
    if name in ("filename", "filemode", "shell"):
        return True
    if not is_said(value):
        return False
    is_mode = name in ("mode", "mmap_mode")
    is_writing = is_mode and _WRITING_MODE.fullmatch(str(ast.literal_eval(value))) is not None
    return is_writing or is_run_by_others(name)


def is_said(value: ast.expr) -> bool:
    """True for a string that stands there as it is."""
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _path(node: ast.expr) -> tuple[str, ...]:
    """The names of `a.b.c`; an empty one stands for what has no name, such as a call's result."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return tuple(reversed(parts))
