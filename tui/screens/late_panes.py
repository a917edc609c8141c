"""Panes that are made when somebody first looks at them: most people never do."""

from __future__ import annotations

from ..pane import Pane

LATE = ("diagnosis", "model")
"""Their views, which are called like them."""


def make_late(view: str) -> Pane:
    """The pane of a view, imported only now."""
    if view == "model":
        from ..widgets.model_pane import ModelPane

        return ModelPane(id=view)
    from ..widgets.diagnosis_pane import DiagnosisPane

    return DiagnosisPane(id=view)
