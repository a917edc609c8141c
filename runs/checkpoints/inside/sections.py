"""Which part of what was saved is the model, the optimizer, or something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..checkpoint_summary import Position
from ..tensor_facts import Role
from .dtypes import WHOLE
from .leaf import SHORT, Leaf, Node, Opaque, text
from .safetensors_file import METADATA

_STATE = re.compile(
    r"(?:^|[._])(?:optimi[sz]ers?|optim|opt_state|exp_avg(?:_sq)?|momentum_buffer|fp32_groups|"
    r"single_partition_of_fp32_groups|base_optimizer_state)(?:[._]|$)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?:.*_)?(?:rng(?:_states?)?|scheduler|lr_schedulers?|scaler|amp|callbacks|loops|criterion|"
    r"cuda_rng_state|random_rng_state|np_rng_state|sampler|dataloader|native_amp_scaling_state|"
    r"args|config|cfg|hyper_parameters|hparams|metrics|history|param_shapes)(?:_state(?:_dict)?)?",
    re.IGNORECASE,
)
_AVERAGE = re.compile(
    r"(?:.*_)?(?:ema|teacher|target|averaged|swa|shadow)(?:_.*|s)?", re.IGNORECASE
)
_BUFFERS = re.compile(
    r"(?:running_mean|running_var|num_batches_tracked|(?:^|\.)(?:attn_)?mask|inv_freq|position_ids|"
    r"masked_bias|_float_tensor|relative_position_index)$"
)
_STEP = (
    "global_step", "global_steps", "step", "steps", "iteration", "iter", "iter_num", "num_updates",
    "current_step", "it", "n_iter",
)  # fmt: skip
_EPOCH = ("epoch", "current_epoch", "epochs_run", "start_epoch")
_INNER = ("meta", "trainer", "train_state", "training_state", "progress", "extra_state", "state")
_DEEPEST = 30
_PACKED = ("qweight", "weight_packed")
"""Names under which GPTQ, AWQ and others save eight weights in one number."""
MOST_EXTRAS = 60


@dataclass(slots=True)
class Found:
    """A tensor under its name, with its part in the whole."""

    name: str
    leaf: Leaf
    role: Role
    section: str


@dataclass(slots=True)
class Sections:
    """What was saved, taken apart."""

    tensors: list[Found] = field(default_factory=list)
    optimizers: list[tuple[str, dict[str, Node]]] = field(default_factory=list)
    position: Position = field(default_factory=Position)
    extras: list[tuple[str, str]] = field(default_factory=list)


def take_apart(node: Node, section: str = "") -> Sections:
    """Sort what one file holds; `section` says what the file is for."""
    found = Sections()
    root = node if isinstance(node, dict) else {"": node}
    optimizers = list(_optimizers(section, root, 0))
    found.optimizers = optimizers
    inside = {id(state) for _, state in optimizers}
    models: dict[str, list[tuple[str, Leaf]]] = {}
    for key, value in () if id(root) in inside else root.items():
        where = f"{section}.{key}" if section and key else section or key
        leaves = list(_leaves("", value, inside))
        role = _role_of(where)
        if not leaves:
            found.extras += _extras(key, value)
        elif role is not None:
            found.tensors += [_found(where, name, leaf, role) for name, leaf in leaves]
        elif isinstance(value, Leaf):
            models.setdefault("", []).append((where, value))
        else:
            models[key] = leaves
    _move_numbers(found, models)
    _add_models(found, models)
    for where, state in optimizers:
        found.tensors += [
            Found(f"{where}.{name}" if where else name, leaf, "optimizer", where)
            for name, leaf in _leaves("", state, set())
        ]
    found.position = position_of(root)
    return found


def _found(where: str, name: str, leaf: Leaf, role: Role) -> Found:
    return Found(f"{where}.{name}" if name else where, leaf, role, where)


def _move_numbers(found: Sections, models: dict[str, list[tuple[str, Leaf]]]) -> None:
    """Beside a model that has a key of its own, a single number is no model: a step, a loss."""
    direct = models.get("", [])
    if len(models) < 2 or any(leaf.elements > 1 for _, leaf in direct):
        return
    found.tensors += [_found(name, "", leaf, "other") for name, leaf in direct]
    models.pop("", None)


def _add_models(found: Sections, models: dict[str, list[tuple[str, Leaf]]]) -> None:
    """Names as the model has them; the key above stays only where there are several models."""
    own = [key for key in models if not _AVERAGE.fullmatch(key)]
    is_one = len(own) == 1
    for key, leaves in models.items():
        is_average = bool(own) and key not in own
        for name, leaf in leaves:
            full = (
                name
                if key == "" or (is_one and not is_average)
                else f"{key}.{name}"
                if name
                else key
            )
            found.tensors.append(
                Found(full, leaf, "average" if is_average else _kind(name or key, leaf), key)
            )


def _kind(name: str, leaf: Leaf) -> Role:
    is_buffer = _BUFFERS.search(name) is not None or leaf.dtype in WHOLE
    # Quantised weights are whole numbers and still the weights.
    is_packed = leaf.dtype == "int32" and name.endswith(_PACKED)
    if len(leaf.shape) > 1 and (leaf.dtype in ("uint8", "int8") or is_packed):
        is_buffer = False
    return "buffer" if is_buffer else "parameter"


def _role_of(where: str) -> Role | None:
    """What a key says about tensors under it; None if they belong to a model."""
    if _STATE.search(where):
        return "optimizer"
    return "other" if _OTHER.fullmatch(where) else None


def _optimizers(where: str, node: Node, depth: int) -> Iterator[tuple[str, dict[str, Node]]]:
    """States of optimizers, by the two keys that all of them have."""
    if isinstance(node, dict):
        if isinstance(node.get("param_groups"), list) and isinstance(
            node.get("state"), dict | list
        ):
            yield where, node
            return
        items = list(node.items())
    else:
        items = [(str(i), value) for i, value in enumerate(node)] if isinstance(node, list) else []
    if depth < 4 and len(items) <= 200:
        for key, value in items:
            if isinstance(value, dict | list):
                yield from _optimizers(f"{where}.{key}" if where else key, value, depth + 1)


def _leaves(name: str, node: Node, skipped: set[int]) -> Iterator[tuple[str, Leaf]]:
    """All tensors below a node with the keys that lead to them, containers once."""
    seen = set(skipped)
    waiting: list[tuple[str, Node, int]] = [(name, node, 0)]
    while waiting:
        where, value, depth = waiting.pop()
        if isinstance(value, Leaf):
            yield where, value
        elif isinstance(value, dict | list) and id(value) not in seen and depth < _DEEPEST:
            seen.add(id(value))
            items = value.items() if isinstance(value, dict) else enumerate(value)
            inner = [
                (f"{where}.{key}" if where else str(key), item, depth + 1) for key, item in items
            ]
            waiting.extend(reversed(inner))


def position_of(root: dict[str, Node]) -> Position:
    """Step and epoch, from the top or from a place where trainers keep them."""
    for prefix, table in [("", root), *((f"{k}.", root.get(k)) for k in _INNER)]:
        if not isinstance(table, dict):
            continue
        step_key = next((k for k in _STEP if number(table.get(k)) is not None), "")
        epoch_key = next((k for k in _EPOCH if number(table.get(k)) is not None), "")
        step, epoch = number(table.get(step_key)), number(table.get(epoch_key))
        if step is not None or epoch is not None:
            source = ", ".join(f"{prefix}{key}" for key in (step_key, epoch_key) if key)
            return Position(None if step is None else int(step), epoch, source)
    return Position()


def number(value: Node) -> float | None:
    """A plain number that is one, or a tensor with one element."""
    if isinstance(value, Leaf):
        value = value.number()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1 << 53 else None


def _extras(key: str, value: Node) -> Iterator[tuple[str, str]]:
    """Short values as text, those of a small table one by one."""
    if isinstance(value, dict) and key != METADATA and len(value) > 40:
        yield key, f"{len(value)} entries"
    elif isinstance(value, dict):
        for inner, item in list(value.items())[:40]:
            if not isinstance(item, dict | list | Leaf | Opaque):
                yield f"{key}.{text(inner, SHORT)}", text(item, SHORT)
    elif isinstance(value, list):
        yield key, f"{len(value)} items"
    else:
        yield key, text(value.kind if isinstance(value, Opaque) else value, SHORT)
