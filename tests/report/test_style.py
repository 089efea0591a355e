import re

import pytest

from discreet.report.page import SHEET
from discreet.report.svg import DARKEST

LIGHT, DARK = (dict(re.findall(r"--(\w+):(#\w{6});", part)) for part in SHEET.split("@media")[:2])


def parsed(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))


def light(colour: tuple[float, ...]) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read(palette: dict[str, str]) -> None:
    pairs = [(ink, on) for ink in ("ink", "soft", "accent") for on in ("page", "card")]
    for ink, on in [*pairs, ("warn", "warnpage"), ("card", "accent")]:
        assert contrast(parsed(palette[ink]), parsed(palette[on])) >= 4.5, (ink, on)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_can_be_seen(palette: dict[str, str]) -> None:
    for mark in ("accent", "privacy", "bar", "warn", "soft"):
        assert contrast(parsed(palette[mark]), parsed(palette["card"])) >= 3, mark


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("colour", ["accent", "privacy"])
def test_words_can_be_read_in_the_darkest_cell(palette: dict[str, str], colour: str) -> None:
    share = DARKEST / 100
    cell = tuple(
        share * a + (1 - share) * b for a, b in zip(parsed(palette[colour]), parsed(palette["card"]), strict=True)
    )
    assert contrast(parsed(palette["ink"]), cell) >= 4.5


def test_light_dark_narrow_and_paper_are_all_thought_of() -> None:
    assert LIGHT.keys() == DARK.keys()
    for word in ("prefers-color-scheme:dark", "max-width:40rem", "@media print", "break-inside:avoid"):
        assert word in SHEET
    assert SHEET.count("{") == SHEET.count("}")
    assert "</" not in SHEET
