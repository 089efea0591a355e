"""Regressions of people who were drawn in clusters: how far off their coefficients are, from sums of scores by cluster.

Releases
    The noisy sum of the clipped scores of each of some 16 groups of clusters, at the last fit. Which clusters make a
    group is public, as chance had it once.
Promise
    [design_effects.1] The sums of G groups of d coefficients cost what one sum of rows of G d entries does, under both
          relations. A row whose cluster is not listed is no row, by a fixed function of it.
    [design_effects.2] To first order the sampling variance of a coefficient is, on average, no less than that of people
          who were drawn in these clusters, independently of each other and within their strata, and no less than that
          of people drawn one by one.
    [design_effects.3] The length to which scores are pulled here reads earlier answers only.
Why
    [design_effects.1] A row is in one cluster at most ([survey_design.1]), hence in one group: side by side the sums
    are one sum of vectors, each with its clipped score in one place and 0 in the others, so no longer than the score.
    Two such vectors are at most two lengths apart. That is all that [gram.2] uses. Sums are of whole numbers: the same
    however rows are cut, and wherever they are ([streams.1]).
    [design_effects.2] With a a row of the inverse information, a coefficient is off by the sum over clusters of a's, s
    the sum of a cluster's scores (Binder 1983). Groups of independent clusters of a stratum are independent too, and
    add up to the same: [survey_design.2]. The noise adds to that variance a number that is known, G sigma^2 |a|^2; it
    is taken off, and a standard deviation of what it may be instead is added. What clipping takes from the squares of
    single scores is added as in [least_squares.3], times the design effect.
    [design_effects.3] Post-processing of the lengths of scores that were released for the last step ([octaves.2]).
Needs
    Two clusters or more in each stratum, all listed.
Accuracy
    An eighth of the budget. Noise raises the variance of a coefficient by about sigma^2 |a|^2 sqrt(2 G): so few groups
    are better than all clusters, and Student's t with 15 degrees is only 1.09 times the normal quantile. For the same
    reason scores are shorter here than in the steps, as far as what is lost is less than the noise. Were the noisy sums
    added up instead, as in statistics/survey.py, the answer's noise would be sqrt(G) times as large.
Source
    Binder 1983; Liang and Zeger 1986; random groups: Wolter 2007, chapter 2.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Share
from discreet.models.coefficients import NewtonStep
from discreet.noise.additive import ROOM
from discreet.noise.distributions import stream
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.stages.gram import Seen, first_moments, fitting_bits, sum_cost, sum_sensitivity
from discreet.statistics.survey_design import Design
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.streams import Stream, added, column_of, each, fold

CLUSTERS: Final = Fraction(125, 1000)  # of mu squared
SHORTER: Final = 0.1  # of the scores that may be cut, where that takes less than the noise
GROUPS: Final = 16  # of clusters, two or more in each stratum
SHUFFLED: Final = 20_071_985  # the seed of the groups, public
DRAWN: Final = "people drawn in these clusters"
ROWS, PLACES = "rows", "places"  # what is beside what
UNLISTED: Final = "whoever is in no cluster that is listed does not count"


@lru_cache(maxsize=256)  # one for each, so that plans with it are kept, too
def cluster_share(coefficients: int, clusters: int, neighbours: Neighbours) -> Share:
    """What the sums of all clusters get, and cost. [design_effects.1]"""
    return Share(CLUSTERS, lambda mu: sum_cost(mu, coefficients * clusters, neighbours))  # [design_effects.1]


def in_groups(design: Design) -> Design:
    """The clusters of each stratum in a few groups, by public chance. [design_effects.2]

    >>> in_groups(Design.of(range(100), False)).freedom, in_groups(Design.of(["a", "b"], False)).freedom
    (15, 1)
    """
    coins = stream(SHUFFLED)  # public coins, not noise
    strata, groups, joined = np.array(design.strata), np.zeros(len(design.strata), dtype=np.int64), list[int]()
    for stratum in range(max(design.strata) + 1):
        mine = np.flatnonzero(strata == stratum)
        many = min(len(mine), max(2, round(GROUPS * len(mine) / len(strata))))
        groups[coins.permutation(mine)] = len(joined) + np.arange(len(mine)) % many
        joined += [stratum] * many
    return Design({pair: int(groups[place]) for pair, place in design.places.items()}, tuple(joined))


def in_clusters(table: Floats, *, ready: Callable[[Floats], Floats]) -> dict[str, Floats]:
    """Rows as `ready` makes them of all entries but the last, the number of their cluster, beside these numbers;
    missing where there is none. [design_effects.1]"""
    places, rows = np.array(table[:, -1]), np.array(table[:, :-1])
    rows[~(places >= 0)] = np.nan  # [design_effects.1]
    return {ROWS: ready(rows), PLACES: places}


def with_clusters(table: Any, ready: Callable[[Floats], Floats], design: Design | None, wide: int) -> tuple[Any, Any]:
    """What `ready` makes of rows, of `wide` bytes each; and the same beside the numbers of clusters, which come last in
    the table, if there are any. Kept where they are, if they are a stream. [kept_rows.1]"""
    if design is None:
        return kept(each(ready, table), wide), None
    people = kept(each(partial(in_clusters, ready=ready), table, dict), wide + FLOAT)
    return column_of(people, ROWS), people


def numbered(columns: Any, rows: Callable[[Mapping[str, Any]], Any], design: Design) -> Any:
    """Rows as `rows` makes them of the other columns, each with the number of its cluster last."""
    if isinstance(columns, Stream):
        return each(partial(numbered, rows=rows, design=design), columns, np.float64)
    others = {name: column for name, column in columns.items() if name not in ("clusters", "strata")}
    return np.column_stack([rows(others), design.numbers(columns["clusters"], columns.get("strata"))])


@dataclass(frozen=True, slots=True, eq=False)
class Between:
    """The noisy sums of scores, a row for each group, the noise on each entry, and what clipping took from squares."""

    sums: Floats
    noise: float
    excess: float
    design: Design

    def variance(self, ways: Floats) -> Floats:
        """Of `ways` @ the sum of scores, row by row. [design_effects.2]"""
        many = np.bincount(self.design.strata).astype(float)
        found = np.array([self.design.variance(self.sums @ way) for way in ways])
        noise = self.noise**2 * (ways**2).sum(axis=1)
        own = np.maximum(found - many.sum() * noise, 0.0)  # [design_effects.2]
        apart = 2 * float((many**2 / (many - 1)).sum()) * noise**2 + 4 * noise * own * float((many / (many - 1)).max())
        return np.asarray(own + np.sqrt(apart))  # [design_effects.2]


def between(
    found: NewtonStep, people: Any, design: Design, *, cost: Gaussian, neighbours: Neighbours, rng: Randomness
) -> Between:
    """The noisy sums of the last scores by cluster, of rows beside the numbers of their clusters, as the fit was given
    them. [design_effects.1]"""
    (ready, seen, lengths, cut, per), many = found.scored, len(design.strata)
    size = seen.size * many
    bits = fitting_bits(exact(cost.mu), size)
    moved, room = sum_sensitivity(size, bits, neighbours), ROOM >> bits
    noise = float(moved / exact(cost.mu)) / 4.0**bits
    tried = cut * np.geomspace(1.0, max(1.0, SHORTER * lengths.size / cut), 16)
    lost = [math.sqrt(2 * many) * (noise * lengths.at(k)) ** 2 + lengths.excess(k, 2) for k in tried]
    shorter = float(tried[int(np.argmin(lost))])  # [design_effects.3]
    reach = float(lengths.at(shorter))
    kernel = partial(_score_sums, ready=ready, seen=seen, reach=reach, bits=bits, many=many)
    exactly = np.clip(fold(kernel, added, people).ravel(), -room, room) * 2**bits
    blurred = rng.blur(exactly, sensitivity=moved, cost=cost)  # [design_effects.1]
    sums = np.reshape(blurred / 4.0**bits, (many, seen.size)).astype(float) * reach / per
    return Between(sums, noise * reach / per, lengths.excess(shorter, 2) / per**2, design)


def _score_sums(
    given: Iterator[Mapping[str, Floats]],
    *,
    ready: Callable[[Floats], Floats],
    seen: Seen,
    reach: float,
    bits: int,
    many: int,
) -> npt.NDArray[Any]:
    """A kernel: the exact sums of clipped scores, a row for each cluster, as Python's integers. [design_effects.1]"""
    total = np.zeros((many, seen.size), dtype=object)
    for piece in given:
        rows, places = ready(piece[ROWS]), piece[PLACES]
        order = np.argsort(places, kind="stable")
        ends = np.searchsorted(places[order], np.arange(many + 1))
        for cluster, (one, end) in enumerate(pairwise(ends)):
            total[cluster] += first_moments(rows[order[one:end]], seen, reach, "clip", bits).astype(object)
    return total
