"""Framework: what was installed, at which version, as the program itself prints it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mltd.runs.roles import normalise

from .lines import Line
from .material import Material, Piece, from_line, from_setting

_NAMES = {
    "torch": "torch", "pytorch": "torch", "tensorflow": "tensorflow", "tf": "tensorflow",
    "jax": "jax", "paddle": "paddle", "paddlepaddle": "paddle", "mxnet": "mxnet",
    "chainer": "chainer", "keras": "keras", "pytorch-lightning": "lightning",
    "pytorch_lightning": "lightning", "lightning": "lightning", "transformers": "transformers",
    "accelerate": "accelerate", "deepspeed": "deepspeed", "megatron-core": "megatron-core",
    "fairseq": "fairseq", "nemo": "nemo", "nemo_toolkit": "nemo", "speechbrain": "speechbrain",
    "ultralytics": "ultralytics", "detectron2": "detectron2", "mmcv": "mmcv",
    "mmengine": "mmengine", "mmdetection": "mmdetection", "mmdet": "mmdetection",
    "mmpose": "mmpose", "trl": "trl", "peft": "peft", "flash-attn": "flash-attn",
    "stable-baselines3": "stable-baselines3", "cuda": "cuda", "cudnn": "cudnn", "nccl": "nccl",
    "python": "python", "cuda runtime": "cuda", "cuda_home": "",
}  # fmt: skip
_ORDER = list(dict.fromkeys(name for name in _NAMES.values() if name))
_LIBRARIES = ("torch", "tensorflow", "jax", "paddle", "mxnet", "chainer", "keras",
              "pytorch_lightning", "lightning", "transformers", "deepspeed", "fairseq",
              "stable_baselines3")  # fmt: skip

NEEDLES = (
    b"torch=", b"torch:", b"torch ", b"torch-", b"torch version", b"tensorflow", b"paddle ",
    b"paddle:", b"paddle=", b"lightning=", b"lightning:", b"lightning v", b"transformers", b"jax ",
    b"jax=", b"jax:", b"deepspeed info", b"deepspeed=", b"python:", b"python  ", b"python-3",
    b"python version", b"nccl version", b"cudnn", b"mmcv", b"mmengine:", b"mmengine=", b"mmdet",
    b"mmpose:", b"detectron2 ", b"ultralytics", b"cuda runtime", b"keras=", b"keras version",
    b"accelerate=", b"megatron-core", b"cuda version", b"chainer:", b"chainer=", b"mxnet:",
    b"mxnet=", b"-packages/", b"-packages\\", b"compiled for cuda", b"fairseq=", b"nemo=",
    b"nemo_toolkit", b"nemo version",
    b"speechbrain=", b"trl=", b"peft=", b"flash-attn=", b"stable-baselines3=",
)  # fmt: skip

_VERSION = r"v?(?P<version>\d{1,4}\.\d+(?:\.\d+)*(?:(?:a|b|rc|\.post|\.dev)\d+)*(?:\+[\w.]+)?)"
_NAME = "|".join(sorted(map(re.escape, _NAMES), key=len, reverse=True))
_FREEZE = re.compile(rf"^\s*(?P<name>{_NAME})=={_VERSION}\s*$", re.IGNORECASE)
_TABLE = re.compile(
    rf"(?:^|[\]>] |- INFO - |: )\s*(?P<name>{_NAME})(?: [Vv]ersion)?(?:\s*[:=]\s*|\s{{2,}})"
    rf"{_VERSION}(?=\s*$|[\s,(@\[])",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    rf"\b(?P<name>{_NAME}) version[:= ]+{_VERSION}|"
    rf"\b[Rr]unning (?P<name2>pytorch|torch) {_VERSION.replace('version', 'version2')}|"
    rf"\b[Tt]rain with (?P<name3>paddle) {_VERSION.replace('version', 'version3')}|"
    rf"\bDeepSpeed info: version={_VERSION.replace('version', 'version4')}|"
    rf"\bPython-(?P<python>3\.\d+\.\d+)\b|\btorch[- ](?P<torch>\d+\.\d+\.\d+\S*) (?:CUDA|CPU)",
    re.IGNORECASE,
)
_COMPILED_FOR = re.compile(r"\bcompiled for CUDA (?P<version>\d+\.\d+)", re.IGNORECASE)
_NOT_OURS = re.compile(
    r"NVIDIA-SMI|deprecat|requires?\b|since |[<>]=|warning:|upgrade|install|in version|"
    r"removed in|Driver", re.IGNORECASE,
)  # fmt: skip
_PYTHON_HOME = re.compile(
    r"[/\\]python(?P<version>[23]\.\d{1,2})[/\\](?:site|dist)-packages[/\\](?P<library>\w+)[/\\]"
)
_KEYS = {
    "transformers version": "transformers", "torch version": "torch", "pytorch version": "torch",
    "tensorflow version": "tensorflow", "jax version": "jax", "python version": "python",
    "pytorch lightning version": "lightning", "lightning version": "lightning",
    "deepspeed version": "deepspeed", "cuda version": "cuda", "mmdet version": "mmdetection",
    "mmengine version": "mmengine", "diffusers version": "diffusers", "peft version": "peft",
    "megatron version": "megatron", "nemo version": "nemo", "python": "python",
    "paddle version": "paddle", "keras version": "keras", "accelerate version": "accelerate",
}  # fmt: skip
_PLAIN_VERSION = re.compile(_VERSION)


def pieces(material: Material) -> Iterator[Piece]:
    """Versions in a fixed order, the framework before its tools; unknown ones by name alone."""
    found: dict[str, Piece] = {}
    for setting in material.named(*_KEYS):
        name = _KEYS[normalise(setting.path.rpartition(".")[2])]
        if isinstance(setting.value, str) and (stated := _PLAIN_VERSION.fullmatch(setting.value)):
            found.setdefault(name, from_setting(setting, f"{name} {stated['version']}"))
    for line in material.lines:
        for name, match, version in _stated(line):
            found.setdefault(name, from_line(line, match, f"{name} {version}"))
    named: dict[str, Piece] = {}
    for line, match in material.search(_PYTHON_HOME):
        version, library = match["version"], match["library"]
        found.setdefault("python", from_line(line, match, f"python {version}"))
        if library in _LIBRARIES:
            name = _NAMES.get(library, library.replace("_", "-"))
            named.setdefault(name, from_line(line, match, f"{name} (version not logged)"))
    order = [*_ORDER, *(name for name in found if name not in _ORDER)]
    yield from (found[name] for name in order if name in found)
    yield from (piece for name, piece in named.items() if name not in found)


def _stated(line: Line) -> Iterator[tuple[str, re.Match[str], str]]:
    """Name and version that a line is about; prose about versions does not count."""
    if (match := _FREEZE.search(line.text)) or (
        not _NOT_OURS.search(line.text) and (match := _TABLE.search(line.text))
    ):
        if name := _NAMES.get(match["name"].casefold(), ""):
            yield name, match, match["version"]
        return
    if _NOT_OURS.search(line.text):
        return
    for match in _SENTENCE.finditer(line.text):
        yield from _said(match)
    if match := _COMPILED_FOR.search(line.text):
        yield "cuda", match, match["version"]


def _said(match: re.Match[str]) -> Iterator[tuple[str, re.Match[str], str]]:
    if match["name"]:
        name = _NAMES.get(match["name"].casefold(), "")
        if name:
            yield name, match, match["version"]
    elif match["version2"]:
        yield "torch", match, match["version2"]
    elif match["version3"]:
        yield "paddle", match, match["version3"]
    elif match["version4"]:
        yield "deepspeed", match, match["version4"]
    elif match["python"]:
        yield "python", match, match["python"]
    elif match["torch"]:
        yield "torch", match, match["torch"]
