"""Laws that a column may be assumed to have, with mean 0 and standard deviation 1 before they are moved and scaled."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.forecast.assumptions import About, Generator

Floats = npt.NDArray[np.float64]
WIDE: Final = 6.0  # standard deviations in public bounds, where neither is said
MIDDLE: Final = math.exp(0.5)  # of the standard lognormal law
APART: Final = math.sqrt(math.expm1(1.0) * math.e)

DRAWS: Final[dict[str, Callable[[Generator, int], Floats]]] = {
    "normal": lambda g, n: g.standard_normal(n),
    "uniform": lambda g, n: math.sqrt(12) * (g.random(n) - 0.5),
    "exponential": lambda g, n: g.standard_exponential(n) - 1,
    "lognormal": lambda g, n: (np.exp(g.standard_normal(n)) - MIDDLE) / APART,
    "t3": lambda g, n: g.standard_t(3, n) / math.sqrt(3),
}


def standard(shape: str) -> Any:
    """The law of scipy.stats."""
    from scipy import stats

    made = {
        "normal": stats.norm,
        "uniform": lambda: stats.uniform(-math.sqrt(3), math.sqrt(12)),
        "exponential": lambda: stats.expon(-1),
        "lognormal": lambda: stats.lognorm(1, -MIDDLE / APART, 1 / APART),
        "t3": lambda: stats.t(3, 0, 1 / math.sqrt(3)),
    }
    return made[shape]()


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
        shape = about.take("shape", "normal") if shaped else "normal"
        if shape not in DRAWS:
            raise BadInput(f"shape is {shape!r}; give one of {', '.join(map(repr, DRAWS))}")
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
    def law(self) -> Any:
        """The standard law."""
        return standard(self.shape)

    def quantile(self, q: float) -> float:
        """Of the population."""
        return self.location + self.scale * float(self.law.ppf(q))

    def height(self, q: float) -> float:
        """The density at that quantile."""
        law = self.law
        return float(law.pdf(law.ppf(q))) / self.scale

    @property
    def skewed(self) -> bool:
        """Whether one tail is longer."""
        return self.shape in ("exponential", "lognormal")

    @property
    def tails(self) -> float:
        """The fourth central moment over the squared variance; infinite for t3."""
        return {"normal": 3.0, "uniform": 1.8, "exponential": 9.0, "lognormal": 113.936, "t3": math.inf}[self.shape]
