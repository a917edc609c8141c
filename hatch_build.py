"""Build hook: an editable install gets the same import names as the wheel."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LinkRooms(BuildHookInterface[Any]):
    """Link every room under `.editable/mltd/` when pip asks for an editable build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Create the links; a wheel or sdist build leaves the tree alone."""
        if version != "editable":
            return
        # The table that renames folders for the wheel is the one list of rooms.
        for folder, import_path in self.build_config.sources.items():
            link_to_room(Path(self.root, folder), Path(self.root, ".editable", import_path))


def link_to_room(room: Path, link: Path) -> None:
    """Make `link` point at `room`, replacing a link whose target has gone."""
    if link.exists():
        return
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        import _winapi

        _winapi.CreateJunction(str(room), str(link))
    else:
        link.symlink_to(os.path.relpath(room, link.parent), target_is_directory=True)
