"""The input line of all dialogs."""

from __future__ import annotations

from textual.reactive import reactive
from textual.widgets import Input


class SteadyInput(Input):
    """One-line input whose cursor does not blink.

    A blinking cursor repaints twice a second for as long as the field has the focus, also over ssh.
    """

    cursor_blink = reactive(False, init=False)
