"""How many different values: a private count of the distinct entries of a column.

Releases
    One whole number: the count of different entries plus discrete Laplace noise of scale 1/epsilon, cut to the range
    that it can have.
Promise
    [distinct.1] Pure epsilon, for both neighbour relations: one person's change moves the count by at most 1.
Why
    [distinct.1] One entry has one key, whatever it holds ([entries.1]), and missing entries have none that counts.
    Added, it brings at most one new key; removed, it takes at most one away; replaced, it does both, so that the
    number moves by -1, 0 or 1. Then [additive.1]. Cutting to [0, n] under REPLACE, where n is public, or to [0, inf)
    under ADD_OR_REMOVE, is post-processing.
Needs
    Nothing but an epsilon. Under ADD_OR_REMOVE the data may be empty.
Accuracy
    Standard deviation sqrt(2 a) / (1 - a), a = e^-epsilon: about 1.4 / epsilon. The interval is exact.
Source
    Dwork, McSherry, Nissim and Smith 2006, for a count whose sensitivity is 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.declaration import Columns, Public, category, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.statistics.count import CountSpread
from discreet.statistics.tallies import tally
from discreet.tables.entries import MISSING, long_column, public_size
from discreet.worlds.assumptions import About, Expected, World


@dataclass(frozen=True, slots=True)
class Distinct:
    """The number of different entries of a column.

    >>> from discreet.noise.randomness import Seeded
    >>> Distinct(epsilon=1.0).release(["a", "b", "a"], Seeded(2)).guarantee.epsilon
    1.0
    """

    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)

    guarantee = promised

    @property
    def loss(self) -> Approximate:
        """Pure epsilon ([additive.1])."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[int]:
        """The noisy number of different entries."""
        values = long_column(rows)
        size = public_size(values, self.neighbours)
        many = sum(1 for one in tally(values) if one != MISSING)
        noisy = rng.blur(many, sensitivity=1, cost=Laplace(self.epsilon))  # [distinct.1]
        about = "the number of different values in this table"
        spread = CountSpread(noisy, LaplaceDistribution(laplace_scale(1, self.epsilon)), size, about=about)
        provenance = Provenance("Distinct", {"neighbours": self.neighbours, "rows": size}, rng.secure)
        return Release(self.guarantee, provenance, spread.clip(noisy), spread=spread, name="number of different values")


def _world(about: About) -> World:
    about.say("the error does not depend on the data")

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        del rows
        return Expected.noise(release.spread.distribution, confidence)

    return World(
        make=lambda _, n: {"x": np.arange(n) % 100},
        measure="median absolute error, against the number in the table",
        closed=expected,
    )


@statistic({"x": category(streams=True)}, groups=True, world=_world)
def distinct(people: Public, x: Columns, *, epsilon: Number) -> Distinct:
    """How many different values a column holds. Missing entries are not counted. Pure.

    It tells names and ids, which differ from person to person, from categories, which people share.

    >>> import discreet
    >>> towns = ["Ulm", "Bonn", "Jena"] * 300
    >>> r = discreet.distinct(towns, epsilon=1.0, rng=discreet.Seeded(1))
    >>> r.interval(0.999).low <= 3 <= r.interval(0.999).high or "once in a thousand"
    True
    """
    return Distinct(epsilon, people.neighbours, people.unit)
