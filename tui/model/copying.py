"""What is copied of the line under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .items import Item
    from .study import Study


def copied_text(study: Study | None, item: Item | None) -> str:
    """A name as programs write it, or the command that brings a remote file here; may be empty."""
    row = item.checkpoint if item is not None else study.row if study is not None else None
    if row is not None and row.copy_command:
        return row.copy_command
    if item is None:
        return ""
    named = item.module or item.move or item.misfit
    return named.name if named is not None else row.path if row is not None else ""
