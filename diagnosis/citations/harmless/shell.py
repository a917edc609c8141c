"""What a shell would start: told from a sentence by its first word, its options and its signs."""

from __future__ import annotations

import re

from .words import words

_PROMPT = re.compile(r"(?:\$|%|#|>)\s+(?=\S)")
_ASSIGNMENTS = re.compile(r"(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s;|&]*)\s+)+(?=\S)")
_SIGNS = re.compile(
    r"\$\(|<\(|>\(|&&|\|\||<<|>>|\s&\s*$|\s\|&?\s*[\w./~$\"'\\]|\b[12]>\s*[&/]|\$\{?IFS\b"
    r"|^\s*[:.]\s+\S|^\s*\[\s|^\s*!\s*\S|^\s*\{\s|>\|"
)
_PIPED = re.compile(r"\|&?\s*([\w./~-]+)")
_PATH = re.compile(
    r"(?:~|\.{1,2}|\$\w+|\$\{\w+\})?/[\w./~$*-]+|[\w./~$-]+\.(?:sh|bash|exe|bat|ps1)"
)
_ARGUMENT = re.compile(r"--?[A-Za-z][\w-]*(?:=\S*)?|/[a-z]")
_PROGRAM = re.compile(r"[A-Za-z][\w.+-]*")
_CMDLET = re.compile(r"[A-Z][a-z]+-[A-Z][A-Za-z]+")
_SETTING = re.compile(r"[\w.]+=[\w.+-]+,?")
_JOINING = frozenset({"in", "for", "and", "or", "instead", "when", "with", "to", "on", "if", "so"})
_TRIMMED = "\"'`()[]{},.;:!?*"


def is_command(line: str) -> bool:
    """True if a shell would start something with this line."""
    text = line.strip()
    if _SIGNS.search(text) or any(map(starts_program, _PIPED.findall(text))):
        return True
    if found := _PROMPT.match(text):
        text = text[found.end() :]
    if found := _ASSIGNMENTS.match(text):
        rest = text[found.end() :]
        # `shuffle=True in the loader` goes on as a sentence.
        return not _SETTING.fullmatch(rest) and rest.split()[0].lower() not in _JOINING
    first, _, rest = text.replace("\\", "").partition(" ")
    first = first.strip("\"'")
    if starts_program(first):
        return not reads_as_sentence(first, rest)
    if _PATH.fullmatch(first) or _CMDLET.fullmatch(first):
        return True
    arguments = rest.split()
    is_known = first.lower() in words("prose", "openers")
    return bool(
        not is_known
        and _PROGRAM.fullmatch(first)
        and arguments
        and any(map(_ARGUMENT.fullmatch, arguments))
    )


def starts_program(word: str) -> bool:
    """True for the name of a program, with or without its path or version."""
    bare = word.lower().rsplit("/", 1)[-1].removesuffix(".exe")
    programs = words("shell", "programs")
    return bare in programs or re.sub(r"[\d.]+$", "", bare) in programs


def reads_as_sentence(first: str, rest: str) -> bool:
    """True if a word that also names a program is a verb here: `find the first NaN`."""
    if first.lower() not in words("prose", "openers") | words("shell", "verbs"):
        return False
    after = rest.split()
    glue = words("prose", "glue")
    said = [one.strip(_TRIMMED).lower() for one in after]
    if not after or _ARGUMENT.fullmatch(after[0]):
        return False
    if first.lower() == "set" and _SETTING.fullmatch(after[0]):
        return len(after) == 1 or said[1] in glue
    return any(one in glue for one in said) or bool(re.search(r"->|→", rest))
