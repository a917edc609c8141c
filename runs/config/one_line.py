"""Settings on a single line: `config: batch_size=64 lr=6e-4`, `hparams {lr: 0.1, seed: 3}`."""

from __future__ import annotations

import re

from ..events.prefix import split_label, strip_header
from .literals import UnreadableError, ValueReader
from .plain import read_scalar

_MOST_LEAD = 200
_MOST_TEXT = 20_000
_LEAD = re.compile(
    r"""
    ^[\W_]*(?:
        (?:[\w'-]{1,40}\s+){0,4}(?:\w{1,40}_)?
        (?:config(?:uration)?s?|cfg|args|arguments|params|parameters|hparams|hyper-?parameters
          |options|settings)
      | (?P<trainer>(?:engine[/\\])?train(?:er)?)(?=:)
    )(?:\s*[:=]+\s*|\s*(?=\{)|\s+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LOGGER = re.compile(r"(?:INFO|DEBUG|WARNING):[\w.-]{1,80}:")
"""What Python's logging puts in front unless it is told otherwise."""
_NOT_A_LEAD = re.compile(
    r"(?i)\b(?:number of|total|trainable|end of|num|unused|no|saving|best)\b|#"
)
_PAIR = re.compile(
    r"""
    (?P<key>[A-Za-z_][\w.-]{0,80})(?:\s?(?P<sign>=)\s?|\s?:\s)
    (?P<value>"[^"]*"|'[^']*'|\[[^\[\]]*\]|\([^()]*\)|[^\s,;|="'{}]*)
    (?P<mark>\s*[,;|]\s*|\s+|$)
    """,
    re.VERBOSE,
)
_FIXED = re.compile(
    r"(?i)(?:.*[_.-])?(?:batch|batch_?size|bs|seed|optim(?:i[sz]er)?|epochs|max_steps|max_iters"
    r"|num_workers|workers|warmup\w*|dropout|hidden_(?:size|dim)|(?:n|num)_(?:layers?|heads?)"
    r"|d_model|vocab_size|block_size|seq_len\w*|dtype|precision|scheduler)"
)
"""Names of what nobody measures."""
_TUNED = re.compile(r"(?i)(?:.*[_.-])?(?:lr\d?|learning_rate|weight_decay|wd|momentum|betas?)")
"""Names of settings that schedules change, so that logs also report them as they go."""
_MEASURED = re.compile(
    r"(?i)(?:(?:train|training|val|valid|validation|eval|test|avg|mean|best|cur|current|global"
    r"|running|total)[_.-]?)*(?:loss|losses|acc|accuracy|grad_?norm|gnorm|ppl|perplexity|f1|map"
    r"|bleu|wer|cer|reward|return|score|step|iter|iteration|it|epoch|update|time|runtime|elapsed"
    r"|eta|speed|throughput|mem|memory|tps|mfu)"
)


def read_one_line(line: str) -> dict[str, object] | None:
    """The settings that a line consists of; None if it says anything else, or measures something.

    Every word behind the headline has to belong to a pair: prose with an equals sign is none.
    """
    body = split_label(line[:_MOST_TEXT]).body.strip()
    logger = _LOGGER.match(body)
    message = strip_header(body) if logger is None else body[logger.end() :]
    lead = _LEAD.match(message[:_MOST_LEAD])
    if lead is None or _NOT_A_LEAD.search(lead[0]):
        return None
    text = message[lead.end() :].rstrip()
    if text[:1] in ("{", "[", "(") and text[-1:] in ("}", "]", ")"):
        text = text[1:-1].strip()
    found = _pairs(text)
    return found if found and _is_config(found, is_announced=lead["trainer"] is None) else None


def _pairs(text: str) -> dict[str, object] | None:
    found: dict[str, object] = {}
    position = 0
    while position < len(text):
        pair = _PAIR.match(text, position)
        if pair is None:
            return None
        is_last = pair.end() == len(text)
        # Without a comma between them, `name: value` pairs read like any sentence.
        if pair["sign"] is None and (not pair["value"] or not (pair["mark"].strip() or is_last)):
            return None
        found[pair["key"]] = _value(pair["value"])
        position = pair.end()
    return found


def _value(text: str) -> object:
    if text[:1] in ("[", "("):
        try:
            return ValueReader(text + "\n").value()
        except UnreadableError:
            return text
    return text[1:-1] if text[:1] in ("'", '"') else read_scalar(text)


def _is_config(found: dict[str, object], *, is_announced: bool) -> bool:
    for key, value in found.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and _MEASURED.fullmatch(key):
            return False
    fixed = sum(_FIXED.fullmatch(key) is not None for key in found)
    if not is_announced:
        return fixed >= 2 and len(found) >= 6
    tuned = any(_TUNED.fullmatch(key) for key in found)
    return (fixed >= 1 and len(found) >= 2) or (tuned and len(found) >= 3)
