"""Sentences: plain words and numbers, with code and names between them, and no command."""

from __future__ import annotations

import re

from .code import is_harmless_code
from .settings import is_setting
from .shell import is_command, reads_as_sentence, starts_program
from .words import words

CODE = "Code"
"""Stands for code that was looked at on its own."""
_TICKED = re.compile(r"`+([^`\n]*)`+")
_STRANGE = re.compile(r"!!|\{\{|\{%|\\|\$\{|://\S*[|;]")
"""Signs of templates, tags and escapes, which no sentence has."""
_CALL = re.compile(r"(?<![\w.\]\['\"])[A-Za-z_.][\w.\]\['\"]*\(")
_PLURAL = re.compile(r"\w+\((?:e?s|n't)\)")
_MARK = re.compile(r"(?:[-*•]\s+|\(?\d{1,2}[.)]\s+|(?:step|fix|option)\s+\d+:\s+)", re.IGNORECASE)
_LABEL = re.compile(r"(?:in|at)?\s*[\w/-]+\.[\w./-]+(?::\d+)?:\s+(?=\S)", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.:!?])\s+")
_TOKEN = re.compile(r"[\w./:@%+~*=<>{}\[\]#&-]+")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_NAMED = re.compile(r"[A-Za-z]\w*(?:[._]\w+)+|[A-Z][\w-]*")
_OPTION = re.compile(r"\s-{1,2}[A-Za-z]")
_TRIMMED = "\"'“”‘’()[]{},.;:!?…"  # noqa: RUF001 - as people write it
_SETTING = re.compile(r"[\w.]+=[\w.+-]+,?")
_LONGEST_CALL = 400


def doubt_about_prose(text: str) -> str | None:
    """The words that are no plain sentence; None if there are none."""
    said = _MARK.sub("", text.strip(), count=1)
    if found := _STRANGE.search(said):
        return said[found.start() :]
    said = _TICKED.sub(f" {CODE} ", said)
    said, doubtful = _without_calls(said)
    if doubtful is not None:
        return doubtful
    if "`" in said or is_command(said):
        return text.strip()
    first, *others = _SENTENCE.split(said)
    if first.endswith(":"):
        # What a colon leads to belongs to it.
        first = said
    if not _begins_as_prose(first):
        # `config.yaml: lower lr` begins after its label.
        label = _LABEL.match(said)
        if label is None or not others or not _begins_as_prose(" ".join(others)):
            return first
    for sentence in others:
        if not _goes_on_as_prose(sentence):
            return sentence
    return None


def doubt_about_ticks(text: str) -> str | None:
    """What stands between backticks, which a shell would run, and is not known to be harmless."""
    for found in _TICKED.finditer(text):
        piece = found[1].strip()
        if not _is_harmless_piece(piece):
            return piece
    return None


def _is_harmless_piece(piece: str) -> bool:
    if _TOKEN.fullmatch(piece):
        return not starts_program(piece)
    return is_setting(piece) or is_harmless_code(piece.lstrip(".")) or not piece


def _without_calls(text: str) -> tuple[str, str | None]:
    """The text with a word for every call in it, or the call that is not known to be harmless."""
    parts: list[str] = []
    at = 0
    while found := _CALL.search(text, at):
        end = _closed(text, found.end())
        call = text[found.start() : end].lstrip(".")
        rest = text[end:]
        # `a(b).c(d)` is one call.
        while (more := re.match(r"(?:\.\w+|\[[^\]\n]*\])+\(", rest)) is not None:
            after = _closed(text, end + more.end())
            if after - found.start() > _LONGEST_CALL:
                break
            end, call, rest = after, text[found.start() : after].lstrip("."), text[after:]
        if not (_PLURAL.fullmatch(call) or is_harmless_code(call)):
            return text, call
        parts += (text[at : found.start()], CODE)
        at = end
    return "".join((*parts, text[at:])), None


def _closed(text: str, start: int) -> int:
    depth = 1
    for at in range(start, min(len(text), start + _LONGEST_CALL)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at + 1
    return min(len(text), start + _LONGEST_CALL)


def _begins_as_prose(sentence: str) -> bool:
    first, _, rest = sentence.strip().partition(" ")
    word = first.strip(_TRIMMED)
    if starts_program(word):
        return reads_as_sentence(word, rest)
    if _SETTING.fullmatch(first) or word == CODE or word.lower() in words("prose", "openers"):
        return True
    if not _WORD.match(word) or _OPTION.search(f" {rest}"):
        return bool(re.match(r"[\d.,]+%?$", word)) and _glue(rest) > 0
    if re.search(r"->|→", rest):
        return True
    return _glue(rest) >= (1 if _NAMED.fullmatch(word) or "-" in word else 2)


def _goes_on_as_prose(sentence: str) -> bool:
    first, _, rest = sentence.strip().partition(" ")
    word = first.strip(_TRIMMED)
    if starts_program(word) and word.islower():
        return reads_as_sentence(word, rest) or (not rest and word in words("prose", "openers"))
    if word.lower() in words("prose", "openers") or word == CODE or not rest:
        return True
    return not is_command(sentence)


def _glue(rest: str) -> int:
    glue = words("prose", "glue")
    return sum(one.strip(_TRIMMED).lower() in glue for one in _unquoted(rest).split())


def _unquoted(text: str) -> str:
    return re.sub(r"\"[^\"]*\"|(?<!\w)'[^']*'", " ", text)
