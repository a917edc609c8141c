"""The part of the app that knows themes and what the terminal can show."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import App
from textual.binding import Binding
from textual.driver import Driver
from textual.filter import LineFilter

from .ascii_filter import AsciiFilter, key_sign
from .mono_filter import MonoFilter
from .palette import DEFAULTS
from .pane import GuardedApp
from .terminal import Terminal
from .theming import LoadedThemes


class ThemedApp(GuardedApp):
    """An app in one of the loaded themes, in ASCII and without colours where it must be."""

    def __init__(self, themes: LoadedThemes, terminal: Terminal, *wishes: str | None) -> None:
        """Start in the first wished theme that there is and that the terminal can show."""
        super().__init__(css_path=list(themes.stylesheets))
        self.themes = themes
        self.terminal = terminal
        self._ascii_filter = AsciiFilter(enabled=not terminal.is_unicode)
        self._mono_filter = MonoFilter()
        for theme in themes.themes:
            self.register_theme(theme.theme)
        # Not by assignment: that would read all stylesheets a second time.
        self.set_reactive(App.theme, themes.chosen(terminal, *wishes))
        self.stylesheet.set_variables(self.get_css_variables())
        self.update_classes({f"-theme-{self.theme}": True}, update=False)
        self._refresh_truecolor_filter(self.ansi_theme)
        self.set_class(not terminal.is_unicode, "ascii")

    def get_driver_class(self) -> type[Driver]:
        """Textual's own, but for Unix terminals one that survives a hang-up."""
        usual = super().get_driver_class()
        if usual.__name__ != "LinuxDriver":
            return usual
        from .terminal_driver import TerminalDriver

        return TerminalDriver

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Every variable of our stylesheets, for themes that do not set it."""
        return dict(DEFAULTS)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every line of every widget passes before it is sent."""
        theme = self.themes.named(self.theme)
        is_mono = self.terminal.colours == 0 or (theme is not None and theme.is_mono)
        # Textual's own answer to NO_COLOR is shades of grey, which are colours to a terminal.
        filters = [self._mono_filter] if is_mono else super().get_line_filters()
        return [*filters, self._ascii_filter] if self._ascii_filter.enabled else filters

    def get_key_display(self, binding: Binding) -> str:
        """A key as the footer and the help write it."""
        return key_sign(self, super().get_key_display(binding))

    def action_next_theme(self) -> None:
        """Change to the next theme that the terminal can show."""
        self.theme = self.themes.after(self.theme, self.terminal)
