"""What the saved state of an optimizer says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..optimizer_facts import OptimizerFacts, ParameterState, ParamGroup
from ..tensor_facts import TensorStats
from .leaf import SHORT, Leaf, Node, Opaque, text
from .name_mapping import Named, Shape, names_of
from .sections import number

_KINDS: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(slots.split()), kind)
    for slots, kind in (
        ("exp_avg exp_avg_sq", "adam"),
        ("state1 state2", "adam8bit"),
        ("exp_avg_sq_row exp_avg_sq_col", "adafactor"),
        ("exp_avg exp_inf", "adamax"),
        ("square_avg acc_delta", "adadelta"),
        ("exp_avg_sq", "adafactor"),
        ("exp_avg", "lion"),
        ("momentum_buffer square_avg", "rmsprop"),
        ("square_avg", "rmsprop"),
        ("sum", "adagrad"),
        ("momentum_buffer", "sgd_momentum"),
        ("prev step_size", "rprop"),
        ("ax eta", "asgd"),
    )
)
_SECOND = ("exp_avg_sq", "square_avg", "sum", "state2")
_SHAPED = ("exp_avg", "momentum_buffer", "exp_avg_sq", "square_avg", "sum", "max_exp_avg_sq")
_TOLD = ("params", "param_names", "lr", "betas", "weight_decay", "momentum")


@dataclass(frozen=True, slots=True)
class Described:
    """An optimizer, and the names of the parameters that it changes if they are all known."""

    facts: OptimizerFacts
    names: tuple[str, ...] | None


def describe(
    section: str,
    saved: Mapping[str, Node],
    parameters: Sequence[Named],
    stats: Mapping[int, TensorStats | None],
) -> Described:
    """Facts about one optimizer; `stats` are those of leaves by their identity."""
    groups = [g for g in _items(saved.get("param_groups")) if isinstance(g, dict)]
    state = _states(saved.get("state"))
    keys = [[text(key) for key in _items(group.get("params"))] for group in groups]
    names = _names(groups, keys, state, parameters)
    states = tuple(_state(key, names.get(key, ""), value, stats) for key, value in state.items())
    listed = [key for group in keys for key in group]
    missing = [key for key in listed if key not in state]
    slots = {slot for value in states for slot in value.slots}
    is_mapped = bool(listed) and all(names.get(key) for key in listed)
    facts = OptimizerFacts(
        section=section,
        kind=_kind(slots, groups),
        groups=tuple(_group(group, len(own)) for group, own in zip(groups, keys, strict=True)),
        states=states,
        without_state=tuple(names.get(key) or f"#{key}" for key in missing),
        bytes=sum(leaf.bytes for value in state.values() for leaf in _leaves(value).values()),
        is_mapped=is_mapped,
    )
    return Described(facts, tuple(names[key] for key in listed) if is_mapped else None)


def _items(node: Node) -> list[Node]:
    return node if isinstance(node, list) else []


def _states(node: Node) -> dict[str, dict[str, Node]]:
    pairs = node.items() if isinstance(node, dict) else enumerate(_items(node))
    return {text(key): value for key, value in pairs if isinstance(value, dict)}


def _leaves(state: Mapping[str, Node]) -> dict[str, Leaf]:
    return {slot: leaf for slot, leaf in state.items() if isinstance(leaf, Leaf)}


def _names(
    groups: list[dict[str, Node]],
    keys: list[list[str]],
    state: Mapping[str, dict[str, Node]],
    parameters: Sequence[Named],
) -> dict[str, str]:
    """The name of each parameter by its key, where it can be told."""
    known = {name for name, _ in parameters}
    found: dict[str, str] = {}
    for group, own in zip(groups, keys, strict=True):
        told = [text(name) for name in _items(group.get("param_names"))]
        if len(told) == len(own):
            found.update(zip(own, told, strict=True))
    found.update({key: key for group in keys for key in group if key in known})
    if found:
        return found
    shapes = [[_shape(state.get(key)) for key in group] for group in keys]
    names = names_of(shapes, parameters)
    listed = [key for group in keys for key in group]
    return {} if names is None else dict(zip(listed, names, strict=True))


def _shape(state: dict[str, Node] | None) -> Shape:
    for slot in _SHAPED:
        leaf = state.get(slot) if state is not None else None
        if isinstance(leaf, Leaf):
            return leaf.shape
    return None


def _state(
    key: str, name: str, state: Mapping[str, Node], stats: Mapping[int, TensorStats | None]
) -> ParameterState:
    leaves = _leaves(state)
    known = {slot: s for slot, leaf in leaves.items() if (s := stats.get(id(leaf))) is not None}
    second = [known[slot] for slot in _SECOND if slot in known]
    return ParameterState(
        key=key,
        name=name,
        step=number(state.get("step")),
        slots=tuple(slot for slot in leaves if slot != "step"),
        has_bad_values=any(one.is_bad for one in known.values()) if known else None,
        is_second_moment_zero=(
            any(one.is_constant and one.most == 0 for one in second) if second else None
        ),
    )


def _kind(slots: set[str], groups: list[dict[str, Node]]) -> str:
    for needed, kind in _KINDS:
        if needed <= slots:
            return kind
    group = groups[0] if groups else {}
    if "betas" in group:
        return "adam"
    if "momentum" in group and "nesterov" in group:
        return "sgd_momentum" if number(group["momentum"]) else "sgd"
    return "unknown"


def _group(group: dict[str, Node], count: int) -> ParamGroup:
    betas = [number(beta) for beta in _items(group.get("betas"))]
    return ParamGroup(
        parameters=count,
        lr=number(group.get("lr")),
        betas=tuple(beta for beta in betas if beta is not None),
        weight_decay=number(group.get("weight_decay")),
        momentum=number(group.get("momentum")),
        settings=tuple(
            (key, text(value, SHORT))
            for key, value in list(group.items())[:40]
            if key not in _TOLD and not isinstance(value, dict | list | Leaf | Opaque)
        ),
    )
