"""The document that `inspect --json` prints: plain values, what nobody knows is null."""

from __future__ import annotations

import math
from dataclasses import asdict

from mltd.analyzers.describing import describe_cause, describe_finding, describe_fix
from mltd.analyzers.memory import MemoryAccount, remedy_rows, rows
from mltd.analyzers.memory import lines as memory_sentences
from mltd.analyzers.weights import Inspection, TreeRow, kinds_of, tree_rows
from mltd.runs.checkpoints import (
    CheckpointSummary,
    Comparison,
    TensorFacts,
    UnsafeCheckpoint,
)
from mltd.runs.errors import MltdError

from .target import Target

SCHEMA = 1


def document(
    found: Inspection,
    account: MemoryAccount | None,
    target: Target,
    *,
    depth: int,
    has_tensors: bool,
) -> dict[str, object]:
    """All that is known; NaN and infinities are the strings `nan`, `inf` and `-inf`."""
    content: dict[str, object] = {
        "schema": SCHEMA,
        "status": "findings" if found.has_alarm else "healthy",
        "checkpoint": _checkpoint(found.summary, target),
        "findings": [describe_finding(finding) for finding in found.findings],
        "root_causes": [describe_cause(cause) for cause in found.causes],
        "recommended_fixes": [describe_fix(n, fix) for n, fix in enumerate(found.fixes, start=1)],
        "looked_at": list(found.looked_at),
        "not_looked_at": list(found.not_looked_at),
        "remarks": list(found.remarks),
        "modules": [_module(row) for row in tree_rows(found.tree, depth)],
        "balance": _balance(found),
        "comparison": _comparison(found) if found.comparison is not None else None,
        "memory": _memory(account) if account is not None else None,
    }
    if has_tensors:
        kinds = kinds_of(found.summary.model)
        content["tensors"] = [
            {**_tensor(tensor), "kind": kinds[tensor.name].value if tensor.name in kinds else None}
            for tensor in found.summary.tensors
        ]
    return {key: plain(value) for key, value in content.items()}


def unusable(path: str, problem: MltdError) -> dict[str, object]:
    """The document about a checkpoint that could not be looked into: why, and what helps."""
    return {
        "schema": SCHEMA,
        "status": "unusable",
        "checkpoint": {"path": path},
        "problem": problem.message,
        "hint": problem.hint or None,
        "globals": list(problem.names) if isinstance(problem, UnsafeCheckpoint) else [],
        "findings": [],
        "root_causes": [],
        "recommended_fixes": [],
    }


def plain(value: object) -> object:
    """The same without floats that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def _checkpoint(summary: CheckpointSummary, target: Target) -> dict[str, object]:
    return {
        "path": summary.path,
        "chosen": target.said or None,
        "layout": summary.layout,
        "framework": summary.framework,
        "bytes": summary.size_on_disk,
        "files": [asdict(file) for file in summary.files],
        "step": summary.position.step,
        "epoch": summary.position.epoch,
        "parameters": summary.total,
        "tensors": len(summary.model),
        "dtypes": [share._asdict() for share in summary.dtypes],
        "has_values": summary.has_values,
        "optimizers": [
            {
                "section": facts.section,
                "kind": facts.kind,
                "parameters": facts.parameters,
                "bytes": facts.bytes,
                "steps": list(facts.steps) if facts.steps is not None else None,
                "is_mapped": facts.is_mapped,
                "groups": [asdict(group) for group in facts.groups],
                "without_state": list(facts.without_state),
                "bad_states": list(facts.bad_states),
                "zero_second_moments": list(facts.zero_second_moments),
            }
            for facts in summary.optimizers
        ],
        "extras": dict(summary.extras),
        "notes": list(summary.notes),
    }


def _module(row: TreeRow) -> dict[str, object]:
    return {
        "label": row.label,
        "path": row.node.path,
        "depth": row.depth,
        "count": row.count,
        "parameters": row.parameters,
        "share": row.share,
        "cumulative": row.cumulative,
        "bytes": row.bytes,
        "kind": row.node.kind.value if row.node.kind is not None and not row.is_rest else None,
        "dtypes": dict(row.node.dtypes),
        "bad_tensors": row.node.bad,
    }


def _balance(found: Inspection) -> dict[str, object]:
    return {
        "parameters": found.balance.total,
        "kinds": [
            {
                "kind": share.kind.value,
                "parameters": share.parameters,
                "share": share.share,
                "tensors": share.tensors,
                "largest": share.largest,
            }
            for share in found.balance.shares
        ],
        "tied": [list(names) for names in found.balance.ties],
        "duplicates": [list(names) for names in found.summary.duplicates],
    }


def _tensor(tensor: TensorFacts) -> dict[str, object]:
    return {**asdict(tensor), "rms": tensor.rms}


def _comparison(found: Inspection) -> dict[str, object]:
    comparison: Comparison | None = found.comparison
    assert comparison is not None
    return {
        "first": comparison.path,
        "second": comparison.other_path,
        "first_step": comparison.position.step,
        "second_step": comparison.other_position.step,
        "is_loadable": comparison.is_loadable,
        "first_prefix": comparison.prefix,
        "second_prefix": comparison.other_prefix,
        "layers": [
            {
                "name": move.name,
                "parameters": move.parameters,
                "norm": move.norm,
                "update": move.update,
                "relative": move.relative,
                "is_still": move.is_still,
            }
            for move in found.moves
        ],
        "only_first": list(comparison.only_first),
        "only_second": list(comparison.only_second),
        "shapes": [asdict(mismatch) for mismatch in comparison.mismatches],
        "closest": [asdict(near) for near in comparison.closest],
        "notes": list(comparison.notes),
    }


def _memory(account: MemoryAccount) -> dict[str, object]:
    return {
        "parts": [row._asdict() for row in rows(account)],
        "remedies": [row._asdict() for row in remedy_rows(account)],
        "sentences": list(memory_sentences(account)),
    }
