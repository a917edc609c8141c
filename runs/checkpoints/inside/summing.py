"""A checkpoint summed up: roles, ties, statistics, optimizers, and how far the training was."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..checkpoint_summary import CheckpointSummary, Position
from ..tensor_facts import TensorFacts, TensorStats
from .content import Content
from .leaf import text
from .optimizer import Described, describe
from .safetensors_file import METADATA
from .sections import MOST_EXTRAS, Found, Sections, take_apart
from .statistics import statistics

Progress = Callable[[int, int], None]


def sections_of(content: Content) -> Sections:
    """All parts of a checkpoint as one."""
    whole = Sections(position=content.position, extras=list(content.extras))
    for part in content.parts:
        one = take_apart(part.node, part.section)
        whole.tensors += one.tensors
        whole.optimizers += one.optimizers
        whole.extras += one.extras
        if whole.position == Position():
            whole.position = one.position
    return whole


def summed_up(
    path: str, content: Content, progress: Progress, *, needs_values: bool
) -> CheckpointSummary:
    """All that is known about the checkpoint."""
    sections = sections_of(content)
    stats = _statistics(sections.tensors, progress) if needs_values else {}
    ties = ties_of(sections.tensors)
    parameters = [
        (found.name, found.leaf.shape)
        for found in sections.tensors
        if found.role == "parameter" and found.name not in ties
    ]
    described = [describe(where, saved, parameters, stats) for where, saved in sections.optimizers]
    trainable = _trainable(described, [name for name, _ in parameters], content.frozen)
    for name in _maybe_tied(sections.tensors, trainable):
        del trainable[name]
    tensors = tuple(
        _facts(found, ties.get(found.name, ""), trainable, stats.get(id(found.leaf)))
        for found in sections.tensors
    )
    content.check_unchanged()
    return CheckpointSummary(
        path=text(path, 4096),
        layout=content.layout,
        framework=content.framework or _framework(sections, content),
        files=tuple(content.files),
        tensors=tensors,
        optimizers=tuple(one.facts for one in described),
        position=sections.position,
        extras=tuple(sections.extras[:MOST_EXTRAS]),
        duplicates=_duplicates(tensors),
        has_values=needs_values and any(tensor.stats is not None for tensor in tensors),
        notes=tuple(content.notes),
        settings=tuple(content.settings),
    )


def ties_of(tensors: Iterable[Found]) -> dict[str, str]:
    """The first name of each storage, by every further name of it."""
    first: dict[tuple[str, tuple[int, ...]], str] = {}
    ties: dict[str, str] = {}
    for found in tensors:
        if not found.leaf.storage or not found.leaf.elements:
            continue
        key = (found.leaf.storage, found.leaf.shape)
        if first.setdefault(key, found.name) != found.name:
            ties[found.name] = first[key]
    return ties


def _statistics(tensors: list[Found], progress: Progress) -> dict[int, TensorStats | None]:
    """Statistics by identity of the leaf; a storage with several names is read once."""
    total = sum(found.leaf.bytes for found in tensors if found.leaf.source is not None)
    done = 0

    def count(size: int) -> None:
        nonlocal done
        done += size
        progress(min(done, total), total)

    stats: dict[int, TensorStats | None] = {}
    known: dict[tuple[str, tuple[int, ...], bool], TensorStats | None] = {}
    for found in tensors:
        leaf = found.leaf
        if id(leaf) in stats:
            continue
        has_rows = found.role == "parameter"
        key = (leaf.storage, leaf.shape, has_rows)
        if leaf.storage and key in known:
            count(leaf.bytes)
            stats[id(leaf)] = known[key]
            continue
        stats[id(leaf)] = known[key] = statistics(leaf, count, has_rows=has_rows)
    return stats


def _trainable(
    described: list[Described], parameters: list[str], frozen: set[str]
) -> dict[str, bool]:
    """Which parameters an optimizer changes; empty if that cannot be told."""
    if frozen:
        return {name: name not in frozen for name in parameters}
    covered = [one.names for one in described]
    if not covered or any(names is None for names in covered):
        return {}
    changed = {name for names in covered for name in names or ()}
    return {name: name in changed for name in parameters} if changed & set(parameters) else {}


def _maybe_tied(tensors: Iterable[Found], trainable: dict[str, bool]) -> list[str]:
    """Of what was saved without its storage, a second name of a trained tensor looks frozen."""
    unplaced = [found for found in tensors if found.name in trainable and not found.leaf.storage]
    trained = {found.leaf.shape for found in unplaced if trainable[found.name]}
    return [
        found.name
        for found in unplaced
        if not trainable[found.name] and found.leaf.shape in trained
    ]


def _facts(
    found: Found, tied_to: str, trainable: dict[str, bool], stats: TensorStats | None
) -> TensorFacts:
    leaf = found.leaf
    is_parameter = found.role == "parameter"
    return TensorFacts(
        name=text(found.name),
        shape=leaf.shape,
        dtype=text(leaf.dtype, 20),
        elements=leaf.elements,
        bytes=leaf.bytes,
        role=found.role,
        section=text(found.section, 80),
        file=text(leaf.file, 200),
        tied_to=text(tied_to),
        is_trainable=trainable.get(tied_to or found.name) if is_parameter else None,
        stats=stats,
    )


def _duplicates(tensors: tuple[TensorFacts, ...]) -> tuple[tuple[str, ...], ...]:
    """Tensors of the model with equal bytes: saved ties, or copies that never diverged."""
    groups: dict[str, list[str]] = {}
    for tensor in tensors:
        stats = tensor.stats
        if stats is None or tensor.tied_to or tensor.role != "parameter" or tensor.elements < 2:
            continue
        if not stats.is_constant and not stats.is_bad:
            groups.setdefault(stats.fingerprint, []).append(tensor.name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def _framework(sections: Sections, content: Content) -> str:
    keys = {key for key, _ in sections.extras}
    roots = [part.node for part in content.parts if isinstance(part.node, dict)]
    top = {key for root in roots for key in root}
    if "pytorch-lightning_version" in top or "lightning_version" in top:
        return "lightning"
    if "ds_version" in top or "ds_config" in top:
        return "deepspeed"
    if any(key.startswith(("meta.mmcv", "meta.mmengine", "meta.mmdet")) for key in keys):
        return "mmengine"
    if "optimizer_history" in top and "extra_state" in top:
        return "fairseq"
    if METADATA in top or "tf_version" in top:
        return "huggingface" if METADATA in top else "tensorflow"
    return "numpy" if content.layout == "numpy" else "torch"
