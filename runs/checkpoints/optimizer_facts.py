"""What is known about an optimizer from its saved state."""

from __future__ import annotations

from dataclasses import dataclass

KIND_LABELS = {
    "adam": "Adam family", "adam8bit": "8-bit Adam family", "adamax": "Adamax", "lion": "Lion",
    "sgd": "SGD without momentum", "sgd_momentum": "SGD with momentum", "rmsprop": "RMSprop",
    "adagrad": "Adagrad", "adadelta": "Adadelta", "adafactor": "Adafactor", "rprop": "Rprop",
    "asgd": "ASGD", "unknown": "unknown optimizer",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ParamGroup:
    """One of the optimizer's groups of parameters."""

    parameters: int
    lr: float | None
    betas: tuple[float, ...]
    weight_decay: float | None
    momentum: float | None
    settings: tuple[tuple[str, str], ...]
    """Everything else that is short, as text."""


@dataclass(frozen=True, slots=True)
class ParameterState:
    """What the optimizer remembers about one parameter."""

    key: str
    """Its number (or name) in the saved state."""
    name: str
    """The parameter's name in the model; empty if it cannot be told."""
    step: float | None
    slots: tuple[str, ...]
    """What there is: `exp_avg`, `exp_avg_sq`, `momentum_buffer`."""
    has_bad_values: bool | None
    """NaN or infinity in any slot; None if values were not read."""
    is_second_moment_zero: bool | None
    """Its second moment is all zero: it never got a gradient; None if that is not known."""

    @property
    def label(self) -> str:
        """The name if it is known, else the number."""
        return self.name or f"#{self.key}"


@dataclass(frozen=True, slots=True)
class OptimizerFacts:
    """One optimizer: its kind as far as its keys tell, its groups and its memory."""

    section: str
    kind: str
    """A key of `KIND_LABELS`."""
    groups: tuple[ParamGroup, ...]
    states: tuple[ParameterState, ...]
    without_state: tuple[str, ...]
    """Labels of parameters in the groups about which nothing is remembered."""
    bytes: int
    is_mapped: bool
    """True if every parameter of the groups has its name in the model."""

    @property
    def label(self) -> str:
        """The kind in words."""
        return KIND_LABELS.get(self.kind, self.kind)

    @property
    def parameters(self) -> int:
        """How many parameter tensors its groups hold."""
        return sum(group.parameters for group in self.groups)

    @property
    def steps(self) -> tuple[float, float] | None:
        """Least and greatest step count over all parameters."""
        known = [state.step for state in self.states if state.step is not None]
        return (min(known), max(known)) if known else None

    @property
    def bad_states(self) -> tuple[str, ...]:
        """Labels of parameters with NaN or infinity in their state."""
        return tuple(state.label for state in self.states if state.has_bad_values)

    @property
    def zero_second_moments(self) -> tuple[str, ...]:
        """Labels of parameters whose second moment is all zero."""
        return tuple(state.label for state in self.states if state.is_second_moment_zero)
