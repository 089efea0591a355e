"""Distributions that columns may be assumed to have: of mean 0 and standard deviation 1, then moved and scaled."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.worlds.assumptions import About, Floats, Generator
from discreet.worlds.floors import Told, least_error, normal_means, places_of, shifted

WIDE: Final = 6.0  # standard deviations in public bounds, where neither is said
MIDDLE: Final = math.exp(0.5)  # mean of the standard lognormal distribution
APART: Final = math.sqrt(math.expm1(1.0) * math.e)

DRAWS: Final[dict[str, Callable[[Generator, int], Floats]]] = {
    "normal": lambda g, n: g.standard_normal(n),
    "uniform": lambda g, n: math.sqrt(12) * (g.random(n) - 0.5),
    "exponential": lambda g, n: g.standard_exponential(n) - 1,
    "lognormal": lambda g, n: (np.exp(g.standard_normal(n)) - MIDDLE) / APART,
    "t3": lambda g, n: g.standard_t(3, n) / math.sqrt(3),
}


def distribution(shape: str) -> Any:
    """The distribution of scipy.stats."""
    from scipy import stats

    made = {
        "normal": stats.norm,
        "uniform": lambda: stats.uniform(-math.sqrt(3), math.sqrt(12)),
        "exponential": lambda: stats.expon(-1),
        "lognormal": lambda: stats.lognorm(1, -MIDDLE / APART, 1 / APART),
        "t3": lambda: stats.t(3, 0, 1 / math.sqrt(3)),
    }
    return made[shape]()


def shape_of(about: About) -> str:
    """The name of a shape that is known here."""
    shape = about.take("shape", "normal")
    if not isinstance(shape, str) or shape not in DRAWS:
        raise BadInput(f"shape is {shape!r}; give one of {', '.join(map(repr, DRAWS))}")
    return shape


@dataclass(frozen=True, slots=True)
class AssumedColumn:
    """Independent entries: location + scale times a standard shape."""

    shape: str
    location: float
    scale: float

    @classmethod
    def of(cls, about: About, *, shaped: bool = True) -> "AssumedColumn":
        """As assumed. Public bounds, where given, are taken to hold six standard deviations around their middle."""
        bounds = about.bounds
        shape = shape_of(about) if shaped else "normal"
        middle = 0.0 if bounds is None else bounds[0] / 2 + bounds[1] / 2
        usual = 1.0 if bounds is None else (bounds[1] - bounds[0]) / (math.sqrt(12) if shape == "uniform" else WIDE)
        location = about.number("location", middle, -1e300, 1e300)
        scale = about.number("scale", usual, 0.0, 1e300)
        about.say(f"values are {shape} with mean {location:g} and standard deviation {scale:g}")
        return cls(shape, location, scale)

    def draw(self, generator: Generator, rows: int) -> Floats:
        """Made-up entries."""
        found: Floats = self.location + self.scale * DRAWS[self.shape](generator, rows)
        return found

    @property
    def standard(self) -> Any:
        """The distribution before it is moved and scaled."""
        return distribution(self.shape)

    def quantile(self, q: float) -> float:
        """Of the population."""
        return self.location + self.scale * float(self.standard.ppf(q))

    def height(self, q: float) -> float:
        """The density at that quantile."""
        standard = self.standard
        return float(standard.pdf(standard.ppf(q))) / self.scale

    @property
    def skewed(self) -> bool:
        """Whether one tail is longer."""
        return self.shape in ("exponential", "lognormal")

    @property
    def tails(self) -> float:
        """The fourth central moment over the squared variance; infinite for t3."""
        return {"normal": 3.0, "uniform": 1.8, "exponential": 9.0, "lognormal": 113.936, "t3": math.inf}[self.shape]

    def floor(self, rows: int, limit: Told) -> float:
        """Under the error of whatever moves with the location."""
        standard = self.standard
        pair = normal_means(rows) if self.shape == "normal" else shifted(rows, standard.pdf, places_of(standard))
        return self.scale * least_error(rows, 0.5, pair, limit, 20.0)


@dataclass(frozen=True, slots=True)
class AssumedTable:
    """Independent columns, each as assumed."""

    entries: AssumedColumn
    columns: int

    @classmethod
    def of(cls, about: About, *, columns: int = 2, shaped: bool = True) -> "AssumedTable":
        """As many columns as assumed."""
        width = about.whole("columns", columns, 1, 1000)
        entries = AssumedColumn.of(about, shaped=shaped)
        about.say(f"{width} independent columns")
        return cls(entries, width)

    def draw(self, generator: Generator, rows: int) -> Floats:
        """Made-up rows."""
        return self.entries.draw(generator, rows * self.columns).reshape(rows, self.columns)
