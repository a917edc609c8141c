"""What is selected in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings.blocks import Block
from .check_detail import check_detail, fact_detail
from .experiment_detail import experiment_detail
from .hypothesis_detail import hypothesis_detail
from .phase_detail import phase_detail
from .record_detail import record_detail

if TYPE_CHECKING:
    from .pick import Pick
    from .shown import Shown


def detail(shown: Shown, pick: Pick, width: int) -> list[Block]:
    """All there is to say about a row, in the order in which it is asked."""
    match pick.kind:
        case "phase":
            return list(phase_detail(shown, pick, width))
        case "check":
            return list(check_detail(shown, pick, width))
        case "fact":
            return list(fact_detail(shown, pick, width))
        case "hypothesis":
            return list(hypothesis_detail(shown, pick, width))
        case "experiment":
            return list(experiment_detail(shown, pick, width))
        case _:
            return list(record_detail(shown, pick, width))
