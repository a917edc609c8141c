"""Which keys of the model view do something here and now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .copying import copied_text
from .study import Mode

if TYPE_CHECKING:
    from .items import Item
    from .study import Study

ACTIONS = ("adopt", "copy_name", "values", "compare", "memory", "other", "stop", "open")
"""Those that come and go."""


def is_offered(action: str, study: Study | None, item: Item | None, *, is_in_detail: bool) -> bool:
    """True if a key would do something."""
    if study is None:
        return action in ("move", "page", "end")
    shown = study.shown
    match action:
        case "stop":
            is_away = study.mode is not Mode.MODULES or bool(study.against)
            return study.is_busy or is_in_detail or is_away
        case "values":
            is_here = study.row is not None and not study.row.copy_command
            return is_here and study.look is None and not (shown and shown.page.has_values)
        case "compare":
            return study.look is None and len(study.rows) > 1
        case "memory":
            return shown is not None
        case "other":
            return len(study.rows) > 1
        case "adopt":
            return item is not None and item.finding is not None
        case "copy_name":
            return is_in_detail or bool(copied_text(study, item))
        case "open" | "into" | "out":
            return item is not None or is_in_detail
        case _:
            return True
