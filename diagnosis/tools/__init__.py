"""Read-only tools for the model: each small, bounded, and rooted in the session's files."""

from __future__ import annotations

from .box import ToolBox
from .safe_text import DATA_NOTE
from .tool import ToolResult, ToolSpec

__all__ = ["DATA_NOTE", "ToolBox", "ToolResult", "ToolSpec"]
