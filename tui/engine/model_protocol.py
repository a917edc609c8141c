"""What screen and engine say to each other about saved weights; plain values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mltd.analyzers.core.cause import Fix
    from mltd.analyzers.core.verdict import Diagnosis

# -- wishes of the screen ------------------------------------------------------------------


class CheckpointsRequest(NamedTuple):
    """List the checkpoints of a run; none of them is opened."""

    run: int


class InspectRequest(NamedTuple):
    """Look into a checkpoint: its shapes, and where somebody asks for it, its values."""

    ticket: int
    run: int
    path: str
    needs_values: bool = False
    against: str = ""
    """Path of an earlier checkpoint with which it is compared, value by value."""


class StopInspect(NamedTuple):
    """End a look that is under way, at once."""

    ticket: int


class BranchRequest(NamedTuple):
    """More rows of the tree: those below one of its rows, from a place on."""

    ticket: int
    key: str
    start: int = 0


class MemoryRequest(NamedTuple):
    """Account for the memory of training what was looked into."""

    ticket: int
    run: int


# -- weights as they are shown ---------------------------------------------------------------


class CheckpointRow(NamedTuple):
    """One checkpoint of a run, as far as its name and its directory tell."""

    path: str
    name: str
    """For people: below the run's folder."""
    bytes: int | None = None
    modified: float | None = None
    step: int | None = None
    epoch: float | None = None
    copy_command: str = ""
    """What brings it here; empty if it is on this machine."""


class TensorValues(NamedTuple):
    """What is known about the values of one tensor."""

    least: float | None
    most: float | None
    mean: float | None
    std: float | None
    norm: float | None
    rms: float | None
    zeros: int
    nans: int
    infs: int
    is_constant: bool
    dead_rows: int | None
    first_dead: tuple[int, ...] = ()


class ModuleRow(NamedTuple):
    """A module, some alike ones, or a tensor."""

    key: str
    """Unique in its tree."""
    label: str
    name: str
    """In full, as a program calls it."""
    sort: str
    """module, group or tensor."""
    parameters: int
    share: float
    cumulative: float
    """Share of the model up to the end of this row, in the model's order."""
    bytes: int
    tensors: int
    children: int
    """Rows below it; 0 for a tensor."""
    kind: str = ""
    """What it is for: attention, norm, head and so on; of tensors that do not count, why."""
    bad: int = 0
    """Tensors in it with NaN or infinity."""
    frozen: int = 0
    """Parameters in it that no optimizer changes."""
    dtypes: tuple[tuple[str, int], ...] = ()
    kinds: tuple[tuple[str, int], ...] = ()
    shape: tuple[int, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    """Further facts about a tensor, with their names."""
    values: TensorValues | None = None


class BalanceRow(NamedTuple):
    """What parameters of one kind come to."""

    kind: str
    parameters: int
    share: float
    tensors: int
    largest: str


class MoveRow(NamedTuple):
    """How far one layer moved."""

    name: str
    parameters: int
    norm: float
    update: float
    relative: float | None
    is_still: bool


class MisfitRow(NamedTuple):
    """A name or a shape that only one of two checkpoints has."""

    sort: str
    """shape, first or second."""
    name: str
    text: str
    closest: str = ""


class MovePage(NamedTuple):
    """Two checkpoints side by side."""

    first: str
    second: str
    first_step: int | None
    second_step: int | None
    moves: tuple[MoveRow, ...]
    misfits: tuple[MisfitRow, ...]
    is_loadable: bool
    prefixes: tuple[str, str] = ("", "")
    left_out: int = 0
    """Layers and names that are not sent: there are too many."""
    notes: tuple[str, ...] = ()


class ModelPage(NamedTuple):
    """A checkpoint looked into, ready to be drawn."""

    path: str
    parameters: int
    tensors: int
    bytes: int
    has_values: bool
    step: int | None
    epoch: float | None
    facts: tuple[tuple[str, str], ...]
    balance: tuple[BalanceRow, ...]
    """The largest first."""
    diagnosis: Diagnosis
    advice: tuple[Fix, ...]
    """What is worth trying where no cause explains a finding."""
    top: int
    """Rows of the tree's first level."""
    branches: dict[str, tuple[ModuleRow, ...]]
    """Rows by the key of the row that they are below; the first ones are below an empty key."""
    remarks: tuple[str, ...] = ()
    looked_at: tuple[str, ...] = ()
    moves: MovePage | None = None


class MemoryRow(NamedTuple):
    """A part of the memory, or what a remedy saves."""

    name: str
    size: str
    origin: str
    """measured, derived or estimated; empty if it is not known."""
    how: str
    source: str


# -- news of the engine ----------------------------------------------------------------------


class Checkpoints(NamedTuple):
    """The checkpoints of a run, the newest first."""

    run: int
    rows: tuple[CheckpointRow, ...]
    places: tuple[str, ...] = ()
    """Where they were looked for."""


class Inspecting(NamedTuple):
    """How far a look has come."""

    ticket: int
    done: int
    total: int


class Inspected(NamedTuple):
    """A look has come to its end: the last that is said about it."""

    ticket: int
    page: ModelPage | None = None
    problem: str = ""
    hint: str = ""
    names: tuple[str, ...] = ()
    """Globals that a refused file asked for."""
    is_cancelled: bool = False


class Branch(NamedTuple):
    """Rows below one row of the tree, from a place on; none if the engine knows it no more."""

    ticket: int
    key: str
    start: int
    rows: tuple[ModuleRow, ...]


class MemoryTold(NamedTuple):
    """What a training with these weights takes of a device, and what would save how much."""

    ticket: int
    parts: tuple[MemoryRow, ...] = ()
    remedies: tuple[MemoryRow, ...] = ()
    sentences: tuple[str, ...] = ()
    problem: str = ""


ModelWish = CheckpointsRequest | InspectRequest | StopInspect | BranchRequest | MemoryRequest
ModelNews = Checkpoints | Inspecting | Inspected | Branch | MemoryTold
