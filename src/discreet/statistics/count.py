"""How many: a private count of the entries that are true.

Releases
    One whole number: the count plus discrete Laplace noise of scale 1/epsilon, cut to the range a count can have.
Promise
    [count.1] Pure epsilon, for both neighbour relations: one person's change moves the count by at most 1.
Why
    [count.1] One entry is counted 0 or 1 times, whatever it holds ([entries.1]). Then [additive.1].
    Cutting to [0, n] under REPLACE, where n is public, or to [0, inf) under ADD_OR_REMOVE, is post-processing.
Needs
    Nothing but an epsilon. Under ADD_OR_REMOVE the data may be empty.
Accuracy
    Standard deviation sqrt(2 a) / (1 - a), a = e^-epsilon: about 1.4 / epsilon. The interval is exact.
Source
    Ghosh, Roughgarden and Sundararajan 2009.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.declaration import Columns, Public, boolean, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.tables.entries import how_many, long_column, public_size
from discreet.worlds.assumptions import About, Expected, World
from discreet.worlds.floors import BOUND, bins_floor


@dataclass(frozen=True, slots=True)
class Count:
    """The number of true entries of a column.

    >>> from discreet.noise.randomness import Seeded
    >>> Count(epsilon=1.0).release([True, False, True], Seeded(2)).guarantee.epsilon
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
        """Pure epsilon: noise on whole people has no better curve ([additive.1])."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[int]:
        """The noisy count."""
        values = long_column(rows)
        size = public_size(values, self.neighbours)
        yes = how_many(values)
        noisy = rng.blur(yes, sensitivity=1, cost=Laplace(self.epsilon))  # [count.1]
        spread = CountSpread(noisy, LaplaceDistribution(laplace_scale(1, self.epsilon)), size)
        provenance = Provenance("Count", {"neighbours": self.neighbours, "rows": size}, rng.secure)
        return Release(self.guarantee, provenance, spread.clip(noisy), spread=spread, name="count")


@dataclass(frozen=True, slots=True)
class CountSpread:
    """The error of one noisy count: noise alone, the table is the target."""

    noisy: int
    distribution: LaplaceDistribution
    size: int | None
    sampling: None = None
    about: str = "the count in this table"

    @property
    def privacy(self) -> float:
        """Standard deviation of the noise."""
        return self.distribution.sd

    def clip(self, count: int) -> int:
        """Within what a count can be."""
        return max(0, count) if self.size is None else min(max(0, count), self.size)

    def interval(self, confidence: float) -> Interval:
        """Exact: the noise is within `radius` with at least this probability."""
        radius = self.distribution.radius(confidence)
        low, high = self.clip(self.noisy - radius), self.clip(self.noisy + radius)
        return Interval(low, high, confidence=confidence, about=self.about, population=False)


def _world(about: About) -> World:
    share = about.share()
    about.say(f"{share:g} of the rows are true")

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        floor = bins_floor(rows, float(release.guarantee.epsilon))
        return replace(Expected.noise(release.spread.distribution, confidence), floor=floor, floor_note=BOUND)

    return World(
        make=lambda _, n: {"x": np.arange(n) < share * n},
        measure="median absolute error, against the count in the table",
        closed=expected,
    )


@statistic({"x": boolean(streams=True, optional=True)}, groups=True, world=_world)
def count(people: Public, x: Columns | None = None, *, epsilon: Number, equals: Any = None) -> Count:
    """How many entries are true, or 1. Any other number and missing entries are not counted. Pure.

    With `equals`, how many are this text, number or date; a condition counts others, as "visits != 0". In a session,
    without a column, it is the number of people.

    >>> import discreet
    >>> r = discreet.count([True] * 900 + [False] * 100, epsilon=1.0, rng=discreet.Seeded(1))
    >>> r.interval(0.999).low <= 900 <= r.interval(0.999).high or "once in a thousand"
    True
    """
    return Count(epsilon, people.neighbours, people.unit)
