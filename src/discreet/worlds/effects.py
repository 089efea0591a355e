"""Made-up worlds of tests: samples that are shifted, and probabilities that differ."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.worlds.assumptions import About, Effect, Floats, Generator
from discreet.worlds.shapes import DRAWS, shape_of


def shift(about: About, default: float = 0.3) -> float:
    """An effect in standard deviations."""
    effect = about.number("effect", default, -1e6, 1e6)
    about.say(f"the effect is {effect:g} standard deviations")
    return effect


def scaled(about: About) -> tuple[str, float]:
    """The shape and the standard deviation of values."""
    shape, scale = shape_of(about), about.number("scale", 1.0, 0.0, 1e300)
    about.say(f"values are {shape} with standard deviation {scale:g}")
    return shape, scale


def group_sizes(about: About, groups: int) -> Callable[[int], tuple[int, ...]]:
    """How a number of rows falls into groups: as said, or into equal ones."""
    given = about.take("sizes", None)
    if given is None:
        about.say(f"{groups} groups of about equal size")
        return lambda n: tuple(n // groups + (place < n % groups) for place in range(groups))
    if not isinstance(given, list | tuple) or len(given) != groups or sum(given) != about.rows:
        raise BadInput(f"sizes are {given!r}; give the sizes of the {groups} groups, which sum to rows, {about.rows}")
    return lambda n: tuple(max(1, size * n // about.rows) for size in given)


def shifted_sample(about: About, *, by: str, tests: Mapping[Any, str]) -> Effect:
    """One column `x`, shifted from the null hypothesis. `tests`: what `discreet.power` calls it, by an option."""
    effect, (shape, scale) = shift(about), scaled(about)
    null = about.option("null", 0.0) if "null" in about.statistic.options else 0.0
    test = tests.get(about.given.get(by, about.statistic.signature.parameters[by].default))
    known = test is not None and shape == "normal" and about.bounds is None
    return Effect(
        make=lambda g, n: {"x": null + scale * (effect * about.stretch(n) + DRAWS[shape](g, n))},
        known=(lambda n: (str(test), n, effect * about.stretch(n))) if known else None,
    )


def two_groups(about: About, *, test: str, model: str | None = None) -> Effect:
    """Two groups `x` and `y`, the first shifted. `test`: what `discreet.power` calls it, with this model."""
    effect, (shape, scale), sizes = shift(about), scaled(about), group_sizes(about, 2)

    def make(g: Generator, n: int) -> dict[str, Any]:
        first, second = sizes(n)
        moved = effect * about.stretch(n)
        return {"x": scale * (moved + DRAWS[shape](g, first)), "y": scale * DRAWS[shape](g, second)}

    known = shape == "normal" and about.given.get("model") == model and about.bounds is None
    return Effect(make=make, known=(lambda n: (test, sizes(n), effect * about.stretch(n))) if known else None)


def tilt(about: About) -> float:
    """How far the truth is from the null hypothesis, in total variation."""
    effect = about.number("effect", 0.1, 0.0, 1.0)
    about.say(f"the truth is {effect:g} away in total variation")
    return effect


def tilted(chances: Floats, effect: float) -> Floats:
    """Other probabilities, `effect` away in total variation: half of the bins gain what the others lose, in turn."""
    moved, up = chances.copy(), np.arange(len(chances)) % 2 == 0
    effect = min(effect, 0.999, float(chances[~up].sum()))
    moved[up] *= 1 + effect / chances[up].sum()
    moved[~up] *= 1 - effect / chances[~up].sum()
    return moved
