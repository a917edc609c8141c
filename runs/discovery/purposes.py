"""What a single file is for, by its name and, where the name does not tell, its first bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from .. import settings
from ..errors import InputError
from ..formats.json_text import parse_json
from ..formats.records import flatten
from ..formats.registry import default_registry
from ..formats.training_names import training_likeness
from ..open_artifact import ANYWHERE
from ..roles import shipped
from ..sources.inputs import open_bytes
from ..text.extractor import TextReader
from ..text.grids import has_grid
from .run_files import Purpose
from .stems import plain_name

HEAD_BYTES = 1 << 16
SMALL_HEAD_BYTES = 1 << 12
MOST_OPENED = 5_000
SURE = 0.5
LEAST_VALUES = 3
"""Values of a known metric that make a text with an unusual name a log,"""
MANY_VALUES = 10
"""or so many of an unknown one at counted steps."""
_SURE_OF_ONE = 0.75
_UNDEMANDING = {"text", "jsonl"}
_SAMPLE_LINES = 50
_DEPTH = 4

_CHECKPOINT = re.compile(
    r".*\.(?:pt|pth|ckpt|safetensors|h5|hdf5|keras|pdparams|pdopt|caffemodel|solverstate|distcp|"
    r"msgpack|onnx|gguf|cbm|ckpt-\d+\.index)|(?:pytorch_model|adapter_model|model|optimizer).*\.bin|"
    r"(?:.*[-_])?\d{4}\.params",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"(?:.*[-_.])?(?:config|hparams|hyperparameters|hyperparams|args|arguments|opt|hyp|cfg|settings"
    r"|params|flags)\.(?:json|ya?ml|toml)|wandb-metadata\.json",
    re.IGNORECASE,
)
_OTHER_CONFIG = re.compile(
    r"(?:tokenizer|generation|preprocessor|special_tokens|image_processor|feature_extractor|"
    r"projector)_?\w*config\w*\.json",
    re.IGNORECASE,
)
_MAYBE_CONFIG = re.compile(
    r"(?!docker-compose|compose|environment|conda|pyproject|mkdocs|poetry|data(?:set)?\.|\.)"
    r".*\.(?:ya?ml|toml)|(?:.*[-_])?(?:config|cfg|hparams|settings)\.py",
    re.IGNORECASE,
)
"""Settings of a run if they are the only ones beside its log, and speak of a training."""
_TELLS_OF_TRAINING = re.compile(
    rb"(?im)^[ \t]*[\"']?(?:\w+_)?(?:lr|learning_rate|batch_size|(?:num_|max_)?(?:train_)?epochs|"
    rb"max_(?:steps|iters|duration)|optimizer|weight_decay)[\"']?[ \t]*[:=]"
)
_LEAST_SETTINGS = 2
_LOG = re.compile(
    r".*\.(?:log|out|err|stdout|stderr|[oe]\d{2,})|.*\.(?:log|out|err)\.\d{1,3}|"
    r"(?:.*[-_.])?(?:log|logs|stdout|stderr|output|nohup|workerlog)(?:[-_.](?:rank)?\d+)?|"
    r".*\.log\.rank\d+|log\.txt\.rank\d+|.*\.(?:INFO|WARNING|ERROR|FATAL)(?:\.[-\d.]+)?",
    re.IGNORECASE,
)
_LOG_TEXT = re.compile(
    r"(?:.*[-_.])?(?:log|logs|stdout|stderr)(?:[-_.\d].*)?\.txt|(?:.*[-_.])?(?:output|console)\.txt"
)
_STRUCTURED = re.compile(r".*\.(?:csv|tsv|json|jsonl|ndjson)", re.IGNORECASE)
_OPENED = re.compile(r".*\.(?:csv|tsv|json|jsonl|ndjson|txt|wandb)|.*tfevents.*", re.IGNORECASE)
_NO_LOG = re.compile(
    r".*\.(?:py|pyc|pyi|ipynb|sh|bash|slurm|sbatch|pbs|c|cc|cpp|cu|h|hpp|java|jl|r|m|rs|go|js|ts|css|html?|"
    r"toml|ini|cfg|conf|lock|patch|diff|png|jpe?g|gif|svg|pdf|gz|xz|zip|tar|npy|npz|pkl|parquet|"
    r"arrow|mp4|wav|ttf|tex|bib|so|o|a|exe|bin|db|sqlite)|(?:readme|licen[cs]e|changelog|makefile|"
    r"dockerfile|authors|notice|citation)(?:\..*)?",
    re.IGNORECASE,
)
"""Names of files that are not looked into in search of a log with an unusual name."""
_MAY_BE_SETTINGS = re.compile(r".*\.ya?ml", re.IGNORECASE)
_NEVER = re.compile(r"debug-(?:internal|core)\.log|requirements.*\.txt|(?:npm|yarn|pip)-.*\.log")
_LOG_LINE = re.compile(
    rb"(?i)(?<![a-z])(?:loss|epoch|step|iter(?:ation)?|acc(?:uracy)?|lr|ppl|reward)(?![a-z])"
    rb"[\s:=|]{0,40}[-+]?\d|(?<![^\s|])(?:train|val|valid|test)[\s:=|]{1,5}[-+]?\d+\.\d|"
    rb"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|^:::MLP|Traceback \(most recent call last\)",
    re.MULTILINE,
)
_TEXT_BYTES = bytes([8, 9, 10, 12, 13, 27, *range(32, 127), *range(128, 256)])


def is_checkpoint_name(name: str) -> bool:
    """True for names that only saved weights have."""
    return _CHECKPOINT.fullmatch(name) is not None


def is_config_name(name: str) -> bool:
    """True for names that settings of a run go by."""
    return _CONFIG.fullmatch(name) is not None and not _OTHER_CONFIG.fullmatch(name)


def is_settings_name(name: str) -> bool:
    """True for names that only settings have, of this run or of many."""
    is_like = name != "meta.yaml" and name.lower().endswith((".yaml", ".yml", ".toml"))
    return is_like or is_config_name(name)


def is_binary(head: bytes) -> bool:
    """True for bytes that are no text in any encoding that logs are written in."""
    # A log that was truncated while its writer kept its offset begins with a hole of zeros.
    sample = head.lstrip(b"\0")[:SMALL_HEAD_BYTES]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or not sample:
        return False
    if max(sample[::2].count(0), sample[1::2].count(0)) * 5 > len(sample) * 2:
        sample = sample.replace(b"\0", b"")  # UTF-16 without its mark
    return len(sample.translate(None, _TEXT_BYTES)) * 10 > len(sample)


class Inspector:
    """Looks at files one by one, and opens only so many of them."""

    def __init__(
        self, root: str = ANYWHERE, most_opened: int = MOST_OPENED, *, looks_closer: bool = False
    ) -> None:
        self.root = root
        """The folder that files must really lie in to be looked into."""
        self._left = most_opened
        self._looks_closer = looks_closer
        """Whether a file whose name says nothing is read in earnest."""
        self.notes: list[str] = []

    def head(self, path: str, size: int = HEAD_BYTES) -> bytes | None:
        """The first bytes of a file; nothing if it cannot or should not be opened any more."""
        if self._left <= 0:
            if not self.notes:
                self.notes.append("too many files to look into; some are judged by name alone")
            return None
        self._left -= 1
        try:
            with open_bytes(path, self.root) as file:
                return file.read(size)
        except (OSError, InputError):
            return b""

    def purpose(self, path: str) -> Purpose | None:
        """What a file found in a directory is for; nothing if a run has no use for it."""
        name = plain_name(os.path.basename(path))
        if _NEVER.fullmatch(name):
            return None
        if is_checkpoint_name(name):
            return Purpose.CHECKPOINT
        is_config = is_config_name(name)
        if is_config and not _STRUCTURED.fullmatch(name):
            return Purpose.CONFIG
        if _LOG.fullmatch(name):
            head = self.head(path, SMALL_HEAD_BYTES)
            if head is not None and is_structured(head, path):
                return Purpose.METRICS
            return None if head is not None and is_binary(head) else Purpose.LOG
        is_stored_metric = "/metrics/" in path and "." not in name
        if not _OPENED.fullmatch(name) and not is_stored_metric:
            is_unknown = self._looks_closer and not _NO_LOG.fullmatch(name)
            # Settings repeat names, too; they count no steps.
            must_count = _MAY_BE_SETTINGS.fullmatch(name) is not None
            is_log = is_unknown and self._is_training(path, must_count=must_count)
            return Purpose.LOG if is_log else None
        head = self.head(path)
        if head is None:
            return Purpose.CONFIG if is_config else None
        if is_structured(head, path):
            return Purpose.METRICS
        is_text = name.lower().endswith(".txt") and not is_binary(head)
        if is_text and (_LOG_TEXT.fullmatch(name) or is_log_text(head)):
            return Purpose.LOG
        if is_config:
            return Purpose.CONFIG
        is_readable = self._looks_closer and not is_binary(head)
        return Purpose.LOG if is_readable and reads_as_training(head) else None

    def lone_settings(self, paths: Iterable[str]) -> str | None:
        """The one of some files, whatever it is called, that holds settings of a training."""
        found = [path for path in paths if _MAYBE_CONFIG.fullmatch(os.path.basename(path))]
        if len(found) != 1:
            return None
        told = set(_TELLS_OF_TRAINING.findall(self.head(found[0], SMALL_HEAD_BYTES) or b""))
        return found[0] if len(told) >= _LEAST_SETTINGS else None

    def _is_training(self, path: str, *, must_count: bool) -> bool:
        head = self.head(path)
        if head is None or is_binary(head):
            return False
        return reads_as_training(head, must_count=must_count)


def is_log_text(head: bytes) -> bool:
    """True if several lines read like the output of a training loop."""
    hits = _LOG_LINE.findall(head)
    if len(hits) >= 2 or any(hit.startswith(b"Traceback") for hit in hits):
        return True
    lines = head[:SMALL_HEAD_BYTES].decode("utf-8", "replace").splitlines()
    return has_grid(lines[:_SAMPLE_LINES], shipped())


def reads_as_training(head: bytes, *, must_count: bool = False) -> bool:
    """True if a metric that trainings have comes several times in what the text says.

    With `must_count` only values at steps or epochs that the text counts speak for it.
    """
    chosen = settings.current()
    harvest = TextReader(chosen.roles, chosen.patterns).feed(head, final=True)
    # Numbers of any name at counted steps are those of a training, too.
    is_counted = not {"step", "epoch"}.isdisjoint(harvest.axes)
    if must_count and not is_counted:
        return False
    return any(
        (is_counted and len(column.rows) >= MANY_VALUES)
        or (
            len(column.rows) >= LEAST_VALUES
            and chosen.roles.role_of(column.key.name, column.key.split) is not None
        )
        for column in harvest.columns
    )


def is_structured(head: bytes, path: str) -> bool:
    """True if a format claims the file that does not take any text or any JSON."""
    claims = default_registry().scores(head, path)
    if any(form.name not in _UNDEMANDING and (s >= SURE or not head) for s, form in claims):
        return True
    return _has_metric_lines(head)


def _numbers_as_texts(record: dict[str, object]) -> list[str]:
    """Names of fields such as `"loss": "0.31"`."""
    return [
        name
        for name, value in record.items()
        if isinstance(value, str) and value.lstrip("+-.")[:1].isdigit()
    ]


def _has_metric_lines(head: bytes) -> bool:
    """True for one object a line with fields of a training loop."""
    if not head.lstrip().startswith(b"{"):
        return False
    likeness = []
    for line in head.splitlines()[:_SAMPLE_LINES]:
        try:
            record = parse_json(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            names = [*flatten(record, depth=_DEPTH), *_numbers_as_texts(record)]
            # What stands around a field, such as `payload`, is no part of its name.
            inner = [name.rpartition("/")[2] for name in names]
            likeness.append(max(training_likeness(names), training_likeness(inner)))
    # A lone object may be the settings, which name metrics but no step.
    return max(likeness, default=0.0) >= (SURE if len(likeness) > 1 else _SURE_OF_ONE)
