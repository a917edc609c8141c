"""How a run was configured: from files beside its log and from dumps inside it."""

from __future__ import annotations

from .dumps import config_from_lines, may_start_config
from .files import read_config_file

__all__ = ["config_from_lines", "may_start_config", "read_config_file"]
