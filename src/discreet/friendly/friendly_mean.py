"""The mean of the rows that agree with each other: in any dimension, without bounds, whatever the others are.

All are compared with all, or with a few: then as many comparisons as rows times references.

Releases
    As find_centre.py, from all rows.
    A point with the standard deviation of its noise; or a refusal: too few rows agree.

Promise
    [friendly_mean.1] REPLACE: the losses `test` and `mean`, and an event of probability `miss`.
    [friendly_mean.2] (epsilon, delta), by [find_centre.1] and [find_centre.2] for the method "match", by [weights.5]
          for "weights" and by [friendly_mean.1] for "reference".

Why
    [friendly_mean.1] MatchCore on the pairs that have one of the first m rows, by a public shuffle, in them: [core.6]
    holds for any list of pairs. Every survivor is a friend of every surviving reference. Let b = min(M, M') and m >= 2B
    + 3, B >= b as in [find_centre.1]: at least 3 references survive in the larger of S and S'. If S = I +
    {p}, S' = I + {q}: a reference in I is a friend of both, so the mean moves by at most 2r / (n - 2b). If S = S' + {p,
    q}: a reference t in S' is within r of p, of q and of all of S', so of its mean; p and q are within 2r of that mean,
    which moves by at most 4r / (n - 2b). The rest is as there, with 4r in place of 2r.
    [friendly_mean.2] Each of them has the losses of its two noises and an event of probability `miss`;
    [allocation.2].

Needs
    REPLACE; more than twice as many references as pairs are dropped, and the margin of the test.
    A public radius: rows that belong together are hardly ever further apart. REPLACE for "weights" and "reference".

Accuracy
    Noise of 4r / (survivors mu) on each coordinate, from n rows instead of 4,096. It counts strangers one by one: with
    a constant share of them among very many rows it refuses.
    Noise on each coordinate, in units of r / (n mu): 2 and a little under REPLACE, 1 and a little under ADD_OR_REMOVE
    (n at most 4,096 unless `most` is larger); 4 by references; 5/2 and a good deal by weights.

Source
    As find_centre.py.
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022, and as cited in the modules above.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.friendly.average import (
    Centre,
    Lattice,
    check_costs,
    check_promise,
    friendly_budget,
    friendly_stages,
)
from discreet.friendly.core import UNITS, Apart, Points, check_radius, match_core
from discreet.friendly.find_centre import MOST, check_least, check_table, fewest, find_centre, survivors_at_least
from discreet.friendly.weights import STABILITY, weighted_centre
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Gaussian, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.tables.matrix import Floats, Rows, matrix, take

REFERENCES: Final = 1024


def reference_centre(
    rows: Floats | Rows,
    radius: float,
    *,
    test: Gaussian,
    mean: Gaussian,
    miss: float,
    rng: Randomness,
    least: int | None = None,
    references: int = REFERENCES,
) -> Centre | None:
    """The noisy mean of all rows that agree with the references; None if too few do. REPLACE only. [friendly_mean.1]"""
    table = check_table(rows, radius)
    check_costs(test, mean, miss)
    if not radius:
        raise BadInput("the radius is 0; references need a positive one; use method='match'")
    size, units = table.size, Fraction(4 * UNITS)  # [friendly_mean.1]
    lattice = Lattice.for_mean(table.width, units / max(1, size), mean.mu)
    points = Points.of(take(table, rng.permutation(size)), radius, lattice.reach)
    core = match_core(Apart(points), min(references, size))
    count = survivors_at_least(core, test, miss, size, rng)
    if count < fewest(least, size) or min(references, size) < (size - count) + 3:  # [friendly_mean.1]: m >= 2B + 3
        return None
    kept = points.steps[core.survivors[points.valid[core.survivors]]]
    found = lattice.blurred(lattice.mean(kept), units / count, radius=radius, cost=mean, rng=rng)
    return Centre(found.point, found.deviation, count)


Method = Literal["match", "weights", "reference"]


@dataclass(frozen=True, slots=True)
class FriendlyMean:
    """The mean of rows within `radius` of each other.

    `columns` declares the number of columns of a list; `least` how many rows must agree; `most` how many are compared;
    `share` the part of the budget for counting those that agree; `certified` see find_centre.py.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = 1e6 + np.random.default_rng(0).normal(size=(3000, 2))
    >>> rows[:300] = [np.nan, -1e12]
    >>> release = FriendlyMean(radius=12.0, epsilon=1.0, delta=1e-6).release(rows, Seeded(1))
    >>> bool((abs(release.value - 1e6) < 0.4).all())
    True
    """

    radius: float
    epsilon: Number
    delta: Number
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    method: Method = "match"
    columns: int | None = None
    unit: str = "row"
    least: int | None = None
    most: int = MOST
    share: Number | None = None
    certified: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_promise(self.epsilon, self.delta, self.neighbours, self.share)
        check_radius(self.radius)
        check_least(self.least, self.neighbours)
        if self.method not in ("match", "weights", "reference"):
            raise BadInput(f"method is {self.method!r}; give 'match', 'weights' or 'reference'")
        if self.method != "match" and (not self.neighbours.size_is_public or not self.radius):
            raise BadInput(f"method is {self.method!r}; it needs neighbours='replace' and a radius above 0")
        if not isinstance(self.most, int) or not 3 <= self.most <= 2**22:
            raise BadInput(f"most is {self.most!r}; give how many rows to compare, from 3 to 2^22")
        if self.columns is not None and (not isinstance(self.columns, int) or not 1 <= self.columns <= 2**20):
            raise BadInput(f"columns is {self.columns!r}; give the number of columns, 1 or more, or None for arrays")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Both noises, however they share it, and the event."""
        return friendly_budget(self.epsilon, self.delta).ceiling  # [friendly_mean.2]

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The noisy mean, or a refusal."""
        table = matrix(rows, self.columns)
        size = table.size if self.neighbours.size_is_public else None
        check_budget(self.epsilon, self.delta, None if size is None else max(1, size))
        return of_agreeing("rows", self, {"method": self.method}, size, self._centre(table, size, rng), rng=rng)

    def _centre(self, table: Rows, size: int | None, rng: Randomness) -> Centre | None:
        looked = size if size is None or self.method == "reference" else min(size, self.most)
        each = STABILITY if self.method == "weights" else 2
        stages = friendly_stages(self.epsilon, self.delta, self.share, looked, each)  # [friendly_mean.2]
        test, mean, miss = stages.part("test", Gaussian), stages.part("mean", Gaussian), float(stages.event)
        if self.method == "weights":
            return weighted_centre(table, self.radius, test=test, mean=mean, miss=miss, rng=rng, most=self.most)
        if self.method == "reference":
            return reference_centre(table, self.radius, test=test, mean=mean, miss=miss, rng=rng, least=self.least)
        return find_centre(
            table,
            self.radius,
            test=test,
            mean=mean,
            miss=miss,
            neighbours=self.neighbours,
            rng=rng,
            least=self.least,
            most=self.most,
            certified=self.certified,
        )


def of_agreeing(
    what: str, asked: Any, options: Mapping[str, Any], size: int | None, found: Centre | None, *, rng: Randomness
) -> Release[Floats]:
    """The mean of the rows, or of the tuples, that agree; or why there is none, in public words."""
    survivors = None if found is None else found.survivors
    shown = {"radius": asked.radius, **options, "neighbours": asked.neighbours, "rows": size, "survivors": survivors}
    history, name = Provenance(type(asked).__name__, shown, rng.secure), f"mean of the {what} that agree"
    if found is None:
        refusal = (
            f"too few {what} agree within the radius {asked.radius:g}, as far as the noise lets us know; "
            "try a larger radius, a larger epsilon or more rows"
        )
        return Release(asked.guarantee, history, refusal=refusal, name=name)
    spread = NoiseBand(found.point, found.deviation)
    return Release(asked.guarantee, history, found.point, spread=spread, name=name)


@dataclass(frozen=True, slots=True)
class NoiseBand:
    """A noisy point and the standard deviation of the noise on each of its coordinates."""

    noisy: Floats
    privacy: float
    sampling: None = None

    def interval(self, confidence: float) -> Interval:
        """A band for all coordinates at once: about the rows that agree, not about a population."""
        from scipy.special import ndtri

        each = -np.expm1(np.log(min(1 - 1e-15, confidence + 1e-12)) / self.noisy.size)
        reach = -self.privacy * float(ndtri(each / 2)) if self.privacy else 0.0
        about = "the mean of those rows in this table that agree, all columns at once"
        return Interval(self.noisy - reach, self.noisy + reach, confidence=confidence, about=about, population=False)
