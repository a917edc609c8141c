"""What each tensor of a model is for, by its name and shape, in the wordings that projects use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache

from mltd.runs.checkpoints import TensorFacts, TensorInfo

from ..outputs.embedding import is_embedding


class Kind(StrEnum):
    """What parameters are for."""

    EMBEDDING = "embedding"
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    FEED_FORWARD = "feed-forward"
    CONVOLUTION = "convolution"
    NORM = "norm"
    HEAD = "head"
    OTHER = "other"


_NORM = re.compile(
    r"(?:.*[._])?(?:\w*norm\w*|(?:layer|batch|group|rms)_?norm|bn\d*\w?|ln\w*|gn\d*|norm\d*)$",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?:^|[._])(?:\w*pos(?:ition(?:al)?)?_?emb\w*|(?:cls|class|mask|dist|reg)_token\w*|"
    r"registers?|query_(?:embed\w*|tokens)|class_embedding)$",
    re.IGNORECASE,
)
_SHARED = re.compile(r"(?:^|\.)(?:shared|word_emb\w*|item_emb\w*|user_emb\w*)$", re.IGNORECASE)
_RECURRENT = re.compile(
    r"(?:^|[._])(?:(?:\w*_)?(?:lstm|gru|rnn)\w*|ssm|mamba\d*|mixer|x_proj|dt_proj)(?:[._]|$)",
    re.IGNORECASE,
)
_RECURRENT_LEAF = re.compile(r"(?:weight|bias)_[ih]h(?:_l\d+)?(?:_reverse)?|A_log|dt_bias")
_ATTENTION = re.compile(
    r"(?:^|[._])(?:\w*attn\w*|\w*attention\w*|mha|qkv\w*|[qkvo]_?proj|[qkv]_lin|out_lin|"
    r"query(?:_key_value)?|key|value|to_(?:q|k|v|qkv|out|kv)|w[qkvo]|q|k|v)(?:[._]|$)",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"(?:^|\.)(?:(?:lm|cls|mlm|nsp|classification|value|policy|pre)?_?heads?|classifier|"
    r"\w*classifier\w*|cls|score|predictions?|output_projection|to_logits|logits|embed_out|"
    r"qa_outputs|\w*predictor|output_layer|linear_head|generator)(?:\.|$)",
    re.IGNORECASE,
)
_TOP_HEAD = re.compile(r"(?:(?:module|model|net|network|_orig_mod)\.)*(?:fc|decoder|out|output|"
    r"proj_out|last_linear|projection)")  # fmt: skip
_FEED_FORWARD = re.compile(
    r"(?:^|[._])(?:\w*mlp\w*|ffn?\w*|feed_?forward\w*|intermediate|experts?|w[123]|"
    r"(?:gate|up|down)(?:_up)?_proj|c_fc|moe)(?:[._]|$)",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"(?:^|\.)(?:\w*layers?|\w*blocks?|h|stages?|encoder|decoder)[._]\w*?\d+\.")
_ADAPTER = re.compile(r"[._](?:lora_\w+|base_layer|default|modules_to_save|original_module)\b")
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
_FEWEST_WORDS = 16
_VECTOR = re.compile(r"weight|gamma|scale|g")


def kinds_of(tensors: Sequence[TensorFacts]) -> dict[str, Kind]:
    """The kind of each tensor, by name; biases go with their weights, tied heads with the table."""
    owners: dict[str, list[TensorFacts]] = {}
    for tensor in tensors:
        owners.setdefault(owner_of(tensor.name), []).append(tensor)
    kinds: dict[str, Kind] = {}
    for owner, own in owners.items():
        kinds[owner] = _of_owner(owner, own)
    _find_head(owners, kinds)
    _find_table(owners, kinds)
    found = {tensor.name: kinds[owner_of(tensor.name)] for tensor in tensors}
    for tensor in tensors:
        # A position table or token may stand beside whole layers.
        if len(tensor.shape) > 1 or "token" in tensor.name:
            is_token = _TOKEN.search(tensor.name.removesuffix(".weight"))
        else:
            is_token = None
        if is_token and is_table_like(tensor.shape):
            found[tensor.name] = Kind.EMBEDDING
    for tensor in tensors:
        if tensor.tied_to and found[tensor.name] is Kind.EMBEDDING and tensor.tied_to in found:
            found[tensor.tied_to] = Kind.EMBEDDING
    return found


def owner_of(name: str) -> str:
    """The module that a tensor belongs to."""
    return name.rpartition(".")[0]


def leaf_of(name: str) -> str:
    """A tensor's name inside its module."""
    return name.rpartition(".")[2]


def long_axes(shape: Iterable[int]) -> int:
    """Axes along which there is more than one number."""
    return sum(size > 1 for size in shape)


def is_table_like(shape: tuple[int, ...]) -> bool:
    """True for vectors and tables, with or without leading axes of one."""
    return long_axes(shape) <= 2


def _of_owner(owner: str, own: list[TensorFacts]) -> Kind:
    leaves = {leaf_of(tensor.name) for tensor in own}
    if "running_mean" in leaves:
        return Kind.NORM
    main = max(own, key=lambda tensor: (long_axes(tensor.shape), tensor.elements))
    # Blocks differ by their number alone, and there may be thousands.
    plain = _NUMBER.sub("0", _ADAPTER.sub("", owner) if "_" in owner else owner)
    return _kind(plain, leaf_of(main.name), main.shape)


@lru_cache(maxsize=4096)
def _kind(owner: str, leaf: str, shape: tuple[int, ...]) -> Kind:
    named = _by_name(owner, leaf)
    axes = long_axes(shape)
    if _RECURRENT_LEAF.fullmatch(leaf):
        return Kind.RECURRENT
    if axes <= 1 and len(shape) <= 1:
        if _NORM.fullmatch(owner) or (named is None and _VECTOR.fullmatch(leaf)):
            return Kind.NORM
        return named or Kind.OTHER
    name = f"{owner}.{leaf}" if leaf not in ("weight", "kernel", "embedding") else owner
    is_table = is_embedding(TensorInfo(f"{name}.weight", shape, ""), None)
    if len(shape) == 2 and (is_table or _SHARED.search(owner)):
        return Kind.EMBEDDING
    if named is not None:
        return named
    return Kind.CONVOLUTION if len(shape) >= 3 else Kind.FEED_FORWARD


def _by_name(owner: str, leaf: str) -> Kind | None:
    path = f"{owner}.{leaf}"
    if _RECURRENT.search(path):
        return Kind.RECURRENT
    if _ATTENTION.search(path):
        return Kind.ATTENTION
    if _FEED_FORWARD.search(owner):
        return Kind.FEED_FORWARD
    is_head = _HEAD.search(owner) or _TOP_HEAD.fullmatch(owner)
    return Kind.HEAD if is_head and not _BLOCK.search(owner) else None


def _find_head(owners: dict[str, list[TensorFacts]], kinds: dict[str, Kind]) -> None:
    """Without a name that says so, the last matrix outside repeated blocks is the head."""
    if Kind.HEAD in kinds.values():
        return
    matrices = [
        owner
        for owner, own in owners.items()
        if any(len(tensor.shape) >= 2 and tensor.role == "parameter" for tensor in own)
    ]
    if len(matrices) < 2:
        return
    last = matrices[-1]
    is_flat = max(len(tensor.shape) for tensor in owners[last]) == 2
    is_inner = _BLOCK.search(f"{last}.") or _FEED_FORWARD.search(last)
    if kinds[last] is Kind.FEED_FORWARD and is_flat and not is_inner:
        kinds[last] = Kind.HEAD


def _find_table(owners: dict[str, list[TensorFacts]], kinds: dict[str, Kind]) -> None:
    """Without a name that says so, a first matrix shaped as the head, without bias, is the table.

    Torch's own example of a language model calls its embedding `encoder`.
    """
    if Kind.EMBEDDING in kinds.values():
        return
    heads = [
        tensor.shape
        for owner, own in owners.items()
        if kinds[owner] is Kind.HEAD
        for tensor in own
        if len(tensor.shape) == 2
    ]
    first = next(iter(owners), "")
    if len(own := owners.get(first, [])) != 1 or kinds[first] is not Kind.FEED_FORWARD:
        return
    rows = own[0].shape[0] if len(own[0].shape) == 2 else 0
    if rows > _FEWEST_WORDS and own[0].shape in heads:
        kinds[first] = Kind.EMBEDDING
