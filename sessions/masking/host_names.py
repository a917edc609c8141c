"""What host names look like, and what only looks like one: `rank0`, `torch.nn`, `cu118`."""

from __future__ import annotations

import re

from .common_words import is_pseudonym
from .word_set import words

_HOSTLIKE = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,60}[A-Za-z0-9]")
_STEM = re.compile(r"(?P<stem>[A-Za-z][A-Za-z0-9-]*?)\d{1,6}")
NO_HOSTS = words(
    "rank ranks epoch step steps layer layers worker cpu core v cu sm fp bf int uint float "
    "checkpoint ckpt iter batch block stage expert head h l conv bn fc gpu gpus cuda device x "
    "p k n r s t w b c d e f g m q top val test train part shard run exp trial fold seed user "
    "task job process proc thread group gen version py python torch resnet vit bert gpt llama "
    "qwen vgg mlp attn linear adam lr loss acc mp mp3 mp4 h264 utf iso sha md base web size "
    "dim dropout pool res yolov yolo t5 wmt en de fr coco imagenet cifar mnist wikitext line "
    "row col item page chapter section hydra"
)
_SAFE_ENDINGS = words("com org edu gov mil int eu")
"""Nothing else in a log ends like this."""
_SHARED_ENDINGS = words(
    "net local internal lan cluster hpc corp intra cloud ai io de uk ch fr it nl se no fi dk at "
    "be es pt pl cz ie ca au nz jp cn kr tw in sg br us ru"
)
"""Also languages of data files, attributes of objects: the name before must be a host's."""
FQDN = re.compile(
    r"(?<![\w.@/\\$-])[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){1,6}(?![\w(\[@/\\-])"
)
NODE = re.compile(
    r"(?<![\w.@/-])(?:[a-z]{1,12}-){0,3}"
    r"(?:(?:gpu|compute|login|dgx|hpc|cn)-?node-?\d{1,5}|nid\d{4,6}|(?:node|dgx|compute|login)"
    r"(?:-\d{1,5}|0\d{1,4}))(?![\w(\[=])"
)
"""Names that say themselves that they are nodes."""
PUBLIC = re.compile(
    r"(?:.{0,60}\.)?(?:pytorch\.org|python\.org|numpy\.org|scipy\.org|tensorflow\.org|keras\.io"
    r"|scikit-learn\.org|readthedocs\.(?:io|org)|docs\.[a-z0-9-]{1,40}\.(?:com|org|ai|io|dev))"
)
"""Where documentation stands that anybody may read."""
HERE = re.compile(r"localhost(?:\.localdomain\d?)?|127(?:\.\d{1,3}){3}|0\.0\.0\.0|::1?|\[::1?\]")


def is_hostlike(name: str) -> bool:
    """True for letters with a number that are not known to be something else."""
    if not _HOSTLIKE.fullmatch(name) or name.isalpha() or name.replace("-", "").isalpha():
        return False
    stem = re.split(r"\d", name, maxsplit=1)[0].rstrip("-").lower()
    number = re.search(r"\d+", name)
    if stem == "gpu" and number is not None:
        # gpu0 is a device, gpu117 a machine.
        return len(number.group()) >= 2
    return stem not in NO_HOSTS


def family_of(name: str) -> str:
    """`gpu-node-` of `gpu-node-01`: what it shares with its siblings; empty if too little."""
    found = _STEM.fullmatch(name)
    stem = found["stem"] if found else ""
    is_known_word = stem.rstrip("-").lower() in NO_HOSTS or stem.rstrip("-").lower() == "host"
    return "" if len(stem) < 3 or is_known_word else stem


def is_domain_name(name: str) -> bool:
    """True for `login1.cluster.edu`, not for `torch.nn.functional`, `train.bpe.de`, `self.net`."""
    labels = name.lower().split(".")
    if any(not label or label.startswith("-") or is_pseudonym(label) for label in labels):
        return False
    if PUBLIC.fullmatch(name):
        return False
    if labels[-1] in _SAFE_ENDINGS:
        return any(c.isalpha() for c in labels[-2])
    if labels[-1] not in _SHARED_ENDINGS or not is_hostlike(labels[0]):
        return False
    return not any(label.isdecimal() for label in labels) and name == name.lower()
