"""Colours by meaning: readable on every background, and told apart without seeing every hue."""

from __future__ import annotations

from itertools import combinations

import pytest
from textual.color import Color, Lab, rgb_to_lab

from mltd.tui.palette import DEFAULTS, style
from mltd.tui.terminal import Terminal
from mltd.tui.theme_file import ScreenTheme
from mltd.tui.themed import ThemedApp
from mltd.tui.theming import load_themes, variables_of

THEMES = load_themes()
COLOURED = [theme for theme in THEMES.themes if not theme.theme.ansi]
CHARTS = [f"chart-{number}" for number in range(1, 7)]
SEVERITIES = [f"severity-{word}" for word in ("critical", "warning", "info", "fine")]
TEXTS = [
    meaning
    for meaning in DEFAULTS
    if not meaning.startswith(("chart-", "heat-", "confidence-ceiling"))
]
MACHADO = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""What is left of red, green and blue (Machado et al. 2009, complete deficiency)."""


def linear(colour: Color) -> list[float]:
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.normalized]


def contrast(one: str, other: str) -> float:
    lights = []
    for colour in (one, other):
        red, green, blue = linear(Color.parse(colour))
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    return max(lights) / min(lights)


def as_seen(colour: Color, deficiency: str) -> Lab:
    light = linear(colour)
    mixed = [sum(a * b for a, b in zip(row, light, strict=True)) for row in MACHADO[deficiency]]
    curved = [
        12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055
        for c in (min(max(value, 0.0), 1.0) for value in mixed)
    ]
    red, green, blue = (round(255 * c) for c in curved)
    return rgb_to_lab(Color(red, green, blue))


def distance(one: Lab, other: Lab) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5)


@pytest.mark.parametrize("theme", COLOURED, ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", ["background", "surface"])
def test_text_is_readable_on_what_it_stands_on(theme: ScreenTheme, ground: str) -> None:
    variables = variables_of(theme)
    least = 7.0 if theme.name == "high-contrast" else 4.5
    texts = [*TEXTS, "foreground", "text-muted", "footer-foreground", "footer-key-foreground"]
    faint = {
        name: round(ratio, 2)
        for name in texts
        if (ratio := contrast(variables[name], variables[ground])) < least
    }
    assert faint == {}


@pytest.mark.parametrize("theme", COLOURED, ids=lambda theme: theme.name)
def test_curves_stand_out_from_the_background(theme: ScreenTheme) -> None:
    variables = variables_of(theme)
    lines = [
        *CHARTS,
        "chart-faint",
        "chart-axis",
        "chart-cursor",
        "confidence-ceiling",
        "heat-high",
    ]
    faint = [name for name in lines if contrast(variables[name], variables["background"]) < 3.0]
    assert faint == []


@pytest.mark.parametrize("theme", COLOURED, ids=lambda theme: theme.name)
@pytest.mark.parametrize("cursor", ["block-cursor", "block-cursor-blurred"])
def test_severity_is_readable_on_the_highlighted_row(theme: ScreenTheme, cursor: str) -> None:
    variables = variables_of(theme)
    texts = [*SEVERITIES, "severity-unknown", "quiet", "heading", f"{cursor}-foreground"]
    faint = {
        name: round(ratio, 2)
        for name in texts
        if (ratio := contrast(variables[name], variables[f"{cursor}-background"])) < 4.5
    }
    assert faint == {}


@pytest.mark.parametrize("deficiency", MACHADO)
@pytest.mark.parametrize("names", [SEVERITIES, CHARTS], ids=["severities", "charts"])
def test_the_colour_blind_theme_is_told_apart(deficiency: str, names: list[str]) -> None:
    theme = THEMES.named("colour-blind")
    assert theme is not None
    variables = variables_of(theme)
    seen = {name: as_seen(Color.parse(variables[name]), deficiency) for name in names}
    close = [
        (one, other, round(gap, 1))
        for one, other in combinations(names, 2)
        if (gap := distance(seen[one], seen[other])) < 14
    ]
    assert close == []


def test_a_style_holds_the_colour_and_the_words_of_the_theme() -> None:
    app = ThemedApp(THEMES, Terminal(colours=256))
    app.get_css_variables()
    critical = style(app, "severity-critical")
    assert critical.bold
    assert critical.color is not None


def test_without_colours_only_the_words_are_left() -> None:
    app = ThemedApp(THEMES, Terminal(colours=0))
    app.get_css_variables()
    assert app.theme == "mono"
    for meaning in DEFAULTS:
        assert style(app, meaning).color is None
    assert str(style(app, "severity-critical")) == "bold reverse"


def test_a_variable_that_the_theme_lacks_has_a_default() -> None:
    app = ThemedApp(THEMES, Terminal())
    app.theme = "textual-dark"
    app.get_css_variables()
    assert style(app, "log-nan").color is not None
