"""Quantiles without bounds, with an interval for the population's quantile that assumes no shape. Pure.

Releases
    confidence=None: for each q one float, drawn around the sample's q-quantile.
    Otherwise, for each q, the two ends of an interval, drawn around two order statistics of the sample; the value is
    the middle of the two. Before them, what the data are rounded to (unless it is declared) and without bounds a rough
    scale; under ADD_OR_REMOVE a noisy n before all, but not for points with bounds.
Promise
    [quantile.1] Points: pure epsilon, one choice of epsilon / m for each of the m quantiles; under ADD_OR_REMOVE and
         without bounds they share what a noisy count of epsilon / 10 leaves.
    [quantile.2] Intervals under REPLACE: pure epsilon. A choice of epsilon / 16 for the scale (not with bounds, nor if
         guaranteed), one of epsilon / 8 for the granularity (not if it is declared, nor if guaranteed), and two for
         each q that share the rest.
    [quantile.3] Intervals under ADD_OR_REMOVE: the same after a noisy count of epsilon / 10; the choice of the
         granularity takes epsilon / 16.
    [quantile.4] Coverage, for independent records: each of the m intervals holds its quantile with about its own
         confidence if the density is smooth on the scale of the interval and data are taken as not rounded; with that
         or more if data are multiples of the granularity, declared or found, whatever ties there are ([ranks.5];
         exactly for equally many at neighbouring points), or are found to be values that many share, on no grid (as in
         [quantile.5]). Too coarse a granularity only widens.
    [quantile.5] guaranteed=True: at least its confidence for independent records of any distribution, with ties, atoms
         and gaps, under both neighbour relations.
    [quantile.6] Whether a release or its interval is refused depends on parameters and the public (or noisy) size
          alone; a refusal for the size comes before any value is looked at. Where the size is private that is decided
          for three scales of its noise below the noisy count: of those who are too few, one in 40 is answered.
Why
    [quantile.1] Missing entries become `missing` and all are clamped to the bounds, one by one ([entries.1]).
    Under REPLACE the rank is a function of n; under ADD_OR_REMOVE it is q n. [choose_float.2] gives the
    sensitivities 1 and max(q, 1 - q); then [choose_float.1] and composition.
    [quantile.2] The ranks are functions of n, q, epsilon, the confidence and the granularity: [choose_float.2],
    [choose_float.1]. Scale and granularity are chosen by scores of bounded sensitivity: [quantile_cells.2], [choose.3].
    Given them, which could be released, the candidates of the other draws are public, and records are placed among
    them one by one ([quantile_cells.1]).
    [quantile.3] The count costs epsilon / 10 [additive.1]. Given it, the shares q_L and q_U are public; the target rank
    q_L n moves with n as q n does in [choose_float.2], so D = max(q_L, 1 - q_L). A rank that the noisy count fixes
    would have D = 1, and twice the noise near the median.
    [quantile.4] With B ~ Bin(n, q) records up to the quantile, or more if there are ties, an end misses with the
    probability of [ranks.1], on a grid of [ranks.5]; by the choice of its rank [ranks.3] that is (1 - confidence) / 2
    on average. Wide bounds have so many places without records that these may draw an end: where the ranks between do
    not outweigh them, data are taken as values that many share ([ranks.2]). On a grid the lower end is drawn among
    records rounded down, the upper one among records rounded up:
    a monotone map takes the quantile to the quantile, and rounding is outwards ([quantile_cells.3]). A private n is
    taken as the noisy count less one scale of its noise, which leaves second-order errors on the safe side. Swapping
    ends that were drawn in the wrong order can only gain.
    [quantile.5] Records are put into public cells by a monotone map; the cells are the candidates, of equal weight, and
    one has score 0. If the lower edge of the drawn cell lies above the quantile t, the cell lies above t's, at least
    #{x <= t} records lie in lower cells, and its score is at least #{x <= t} - rank. That count is in distribution at
    least Bin(n, q): [ranks.2], averaged over it, bounds the miss, and [ranks.3] picks the rank. Mirrored, with
    #{x >= t}, for the upper end. Where n is private, a tenth of 1 - confidence goes to a band for it, and [ranks.4]
    covers the band. [quantile.6] Nothing else is read; what was drawn could be released.
Needs
    Independent records, for the interval. Its confidence is declared before the release: its ends are what is drawn.
    Without bounds enough records: epsilon_i min(rank, n - rank) >= 34 D for each draw, 34 = 2 (10 + ln 1000), so that
    a quantile some hundred times as large as the data's spread is missed by far once in a thousand times. At
    epsilon = 1 that is n = 68 for the value of a median, 214 with its interval, and 30 more where n is private;
    refused otherwise. With bounds only ranks that are inside the data.
    A missing entry counts as `missing` (0): where n is public none is dropped. With bounds, all values are clamped.
Accuracy
    A point's rank is off by a two-sided exponential of scale 2 D / epsilon_i, its value by that over n f, f the
    density. Without bounds its prior has a pole at 0: a point within about 11 D / epsilon_i ranks of 0 is drawn to it.
    (Ends of intervals are not: that is what the scale is for; up to one in 100 is drawn 64 times as far out as nine
    tenths of the data: then the value is the other end.) Guaranteed: 3.1 times the usual width at n = 2,000.
Source
    Smith 2011 (the exponential mechanism for quantiles); Berger and Boos 1994 (the band). The exact miss [ranks.1], the
    flat prior, the search for the granularity, the form for a private n and the guaranteed form are ours.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.distributions import laplace_scale
from discreet.noise.order_statistics import Ordered, ranked
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import QuantileSpread, check_confidence
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Vector
from discreet.stages.declared import check_bounds, check_granularity, checked_shares
from discreet.statistics.quantile_cells import (
    FAR_OFF,
    MAX,
    TIED,
    Candidates,
    farthest,
    find_scale,
    find_unit,
    floor_to,
    lost_at,
    nearest_to,
    point_stairs,
    values_of,
)
from discreet.statistics.rank_cells import FEW_BITS, RankCells
from discreet.statistics.ranks import Aim, RankAims
from discreet.statistics.survey_design import survey_rows
from discreet.statistics.thinned import weighed
from discreet.tables.entries import long_numbers, public_size
from discreet.worlds.shapes import quantile_world

COUNTING: Final = Fraction(1, 10)  # of epsilon, for a private n [quantile.3]
SCALING: Final = Fraction(1, 16)  # of epsilon, for the scale of the data [quantile.2]
FINDING: Final = Fraction(1, 16)  # of epsilon, for the granularity; twice that where records are replaced [quantile.2]
MARGIN: Final = 3  # scales of a noisy count that are taken off before anything is decided [quantile.6]
FAR: Final = 4.0  # without bounds, ends that differ by more than this factor have their middle on the log scale
FOUND: Final = ", as was found privately; if you know better, declare granularity="
SHOWN: Final = ("q", "bounds", "confidence", "granularity", "guaranteed", "missing", "neighbours")
WEIGHED: Final = {"x": number(streams=True, dates=True), "weights": number(optional=True)}
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quantile:
    """One or several quantiles of a column; `q` is a number in (0, 1), or a tuple of them.

    `granularity` is what data are rounded to, 0 if to nothing, None if that is to be found; `counted` says that a noisy
    count was released before, by which there are enough records for points.

    >>> from discreet.noise.randomness import Seeded
    >>> release = Quantile(0.5, epsilon=1.0).release([index / 1000 for index in range(1000)], Seeded(1))
    >>> release.interval().low < 0.5 < release.interval().high
    True
    """

    q: Any
    epsilon: Number
    _: KW_ONLY
    bounds: tuple[float, float] | None = None
    confidence: float | None = 0.95
    granularity: float | None = None
    guaranteed: bool = False
    missing: float = 0.0
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    counted: bool = False

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        object.__setattr__(self, "q", checked_shares(self.q))
        check_bounds(self.bounds, MAX)
        if self.bounds is not None:
            object.__setattr__(self, "bounds", (float(self.bounds[0]), float(self.bounds[1])))
        if self.confidence is not None:
            object.__setattr__(self, "confidence", check_confidence(self.confidence))
        elif self.guaranteed:
            raise BadInput("guaranteed=True is about the interval and confidence is None; give confidence=0.95")
        if not is_number(self.missing):
            raise BadInput(f"missing is {self.missing!r}; give the finite number that stands for missing entries")
        if self.granularity != 0 or isinstance(self.granularity, bool):
            check_granularity(self.granularity, self.bounds)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """A choice for each point, or two for each interval; before them what they need to know of the data."""
        return self._stages.loss

    @property
    def _stages(self) -> Allocation:
        drawn, swap = self.confidence is not None, self.neighbours.size_is_public
        searched = drawn and not self.guaranteed
        return _split(
            exact(self.epsilon),
            counts=self._counts,
            scales=searched and self.bounds is None,
            finding=(1 + swap) * FINDING if searched and self.granularity is None else None,
            draws=len(self._shares) * (1 + drawn),
        )

    @property
    def _aims(self) -> RankAims:
        return RankAims(
            cost=exact(self._stages.part("ends", Choice).epsilon),
            confidence=self.confidence,
            counts=not self.neighbours.size_is_public,
            bounded=self.bounds is not None,
            cells=self._cells.size if self.guaranteed else 0,
            rounded=self.granularity != 0,
        )

    @property
    def _cells(self) -> RankCells:
        return RankCells.of(self.bounds, self.granularity or None)

    @property
    def _counts(self) -> bool:
        """Whether a noisy count is needed."""
        return self._decides and not self.counted and not self.neighbours.size_is_public

    @property
    def _decides(self) -> bool:
        """Whether there may be too few records: points with bounds are always drawn."""
        return self.confidence is not None or self.bounds is None

    @property
    def _shares(self) -> tuple[Fraction, ...]:
        return tuple(exact(q) for q in (self.q if isinstance(self.q, tuple) else (self.q,)))

    @property
    def _name(self) -> str:
        if isinstance(self.q, tuple):
            return "quantiles"
        return "median" if exact(self.q) == Fraction(1, 2) else f"{show(self.q)}-quantile"

    def _named(self, values: Sequence[float]) -> Any:
        """Several values by their shares."""
        if not isinstance(self.q, tuple):
            return values[0]
        return Vector(np.array(values), tuple(f"{float(100 * q):g}%" for q in self._shares), True)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The values, with their intervals if a confidence was declared; or a refusal for too few records."""
        values = ranked(long_numbers(rows), float(self.missing))
        size, swap = public_size(values, self.neighbours), self.neighbours.size_is_public
        stages, plan, counted = self._stages, self._aims, size
        refusal = refusal_of(self, size)  # [quantile.6]
        if "count" in stages:
            cost = Laplace(stages.part("count", Approximate).epsilon)
            counted = rng.blur(len(values), sensitivity=1, cost=cost)  # [quantile.1] [quantile.3]
            refusal = self._too_few(counted)
        if refusal is not None:
            return Release(self.guarantee, self._provenance(size, rng, counted), refusal=refusal, name=self._name)
        band = self._band(counted, 1)  # [quantile.4]
        times = 1 if swap else len(values)  # [quantile.3]: a share of the true n
        if self.confidence is None:
            shown = self._points(values, plan.aims(self._shares, band), times, rng)
            return Release(self.guarantee, self._provenance(size, rng, counted), shown, name=self._name)
        end, unit, missing = 0, exact(self.granularity or 0), float(self.missing)
        if "scale" in stages:  # [quantile.2]
            end = find_scale(values, missing, swap=swap, cost=stages.part("scale", Choice), rng=rng)
        if "granularity" in stages:  # [quantile.2]
            unit = find_unit(values, missing, band[0], swap=swap, cost=stages.part("granularity", Choice), rng=rng)
        cells = self._cells if self.guaranteed else None
        if unit != TIED and plan.strays(self._shares, band, self.bounds, unit):  # [quantile.4]
            unit, cells = TIED, RankCells.of(self.bounds, bits=FEW_BITS)
        elif unit == TIED:
            cells = RankCells.shared(self.bounds, band[0] * plan.cost)
        if unit == TIED:
            plan = replace(plan, cells=cells.size if cells else 0)
        elif not unit:
            plan = replace(plan, rounded=False)
        aims = plan.aims(self._shares, band)
        drawn = Candidates(self.bounds, missing, unit, end, cells)
        ends = []
        for aim in aims:
            requests = ((aim.low * times, aim.low_move), (aim.high * times, aim.high_move))
            ends.append(drawn.ends(values, requests, stages.part("ends", Choice), rng))  # [quantile.2] [quantile.5]
        most = [farthest(end, q) if "scale" in stages else math.inf for q in self._shares]
        return self._with_intervals(ends, aims, counted, most=most, unit=unit, size=size, rng=rng)

    def check(self, size: int | None) -> None:
        """Refuse too few records; where their number is private, a guess of it, for those who plan. [quantile.6]"""
        if size is not None and self._decides and (refusal := self._too_few(size)):
            raise Refused(refusal)

    def _too_few(self, counted: int) -> str | None:
        """Why so many records, by a public or noisy count, do not do; None if they do."""
        band = self._band(counted, MARGIN)  # [quantile.6]
        return self._aims.too_few(self._aims.aims(self._shares, band), band[0], self.epsilon, counted)

    def _band(self, counted: int | None, margin: int) -> tuple[int, int]:
        """Where the number of records lies, from a public or noisy one."""
        if counted is None or "count" not in self._stages:
            return (max(1, counted or 1),) * 2
        return self._aims.band(counted, laplace_scale(1, self._stages.part("count", Approximate).epsilon), margin)

    def _points(self, values: Floats | Ordered, aims: list[Aim], times: int, rng: Randomness) -> Any:
        """Values without intervals."""
        unit, (low, high) = exact(self.granularity or 0), self.bounds or (-MAX, MAX)
        drawn = []
        for aim in aims:
            stairs = point_stairs(values, float(self.missing), unit, self.bounds, aim.low * times)
            found = rng.choose_float(
                stairs, sensitivity=aim.low_move, cost=self._stages.part("ends", Choice)
            )  # [quantile.1]
            drawn.append(min(max(low, floor_to(found, unit)), high) if unit else found)
        places = np.argsort(np.argsort([float(q) for q in self._shares], kind="stable"))
        return self._named(np.sort(drawn)[places].tolist())  # in the order of their q: post-processing

    def _with_intervals(
        self,
        ends: list[tuple[float, float]],
        aims: list[Aim],
        counted: int | None,
        *,
        most: Sequence[float],
        unit: Fraction,
        size: int | None,
        rng: Randomness,
    ) -> Release[Any]:
        """The release, from the ends that were drawn."""
        assert self.confidence is not None and counted is not None  # noqa: PT018
        errors = [self._aims.errors(pair, aim, max(1, counted)) for pair, aim in zip(ends, aims, strict=True)]
        columns = ([low for low, _ in ends], [high for _, high in ends], *map(list, zip(*errors, strict=True)))
        low, high, sampling, privacy = (np.array(one) if isinstance(self.q, tuple) else one[0] for one in columns)
        about = f"the population's {self._name}" + (", one by one" if isinstance(self.q, tuple) else "")
        spread = QuantileSpread(low, high, confidence=self.confidence, about=about, sampling=sampling, privacy=privacy)
        notes = ["the value is the middle of the two ends that were drawn"]
        if not self.guaranteed:
            taken = {0: "not rounded", TIED: "values that many share"}.get(unit, f"multiples of {show(unit)}")
            notes.append(f"the interval takes the data as {taken}{FOUND if self.granularity is None else ''}")
        found, far = values_of(ends, self._shares, most, FAR if self.bounds is None else math.inf)
        notes += [FAR_OFF.format(" and ".join(map(show, far)))] if far else []
        if lost := lost_at(ends, self._shares, most):  # [quantile.6]
            return Release(self.guarantee, self._provenance(size, rng, counted), refusal=lost, name=self._name)
        history = self._provenance(size, rng, counted, notes, aims=[[aim.low, aim.high] for aim in aims])
        value = self._named([nearest_to(one, unit) if unit > 0 else one for one in found])
        return Release(self.guarantee, history, value, spread=spread, name=self._name)

    def _provenance(
        self, size: int | None, rng: Randomness, counted: int | None, notes: Sequence[str] = (), **more: Any
    ) -> Provenance:
        parameters = {name: getattr(self, name) for name in SHOWN} | {"rows": size, **more}
        parameters |= {} if size is not None or counted is None else {"counted": counted}
        return Provenance("Quantile", parameters, rng.secure, notes=tuple(notes))


@lru_cache(maxsize=256)
def _split(epsilon: Fraction, *, counts: bool, scales: bool, finding: Fraction | None, draws: int) -> Allocation:
    """What each stage may cost: the same for every release of a question."""
    return Allocation.of(epsilon).split(
        count=Share(COUNTING, lambda cost: Approximate(cost, 0)) if counts else None,  # [quantile.3]
        scale=Share(SCALING, Choice) if scales else None,  # [quantile.2]
        granularity=Share(finding, Choice) if finding is not None else None,
        ends=Share(cost=Choice, times=draws),  # [quantile.1]
    )


@statistic(WEIGHED, rows=survey_rows, groups=True, world=quantile_world)
def quantile(
    people: Public,
    x: Columns,
    q: Any,
    *,
    epsilon: Number,
    bounds: tuple[Any, Any] | None = None,
    confidence: float | None = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
    weights: Columns | None = None,
    largest_weight: float | None = None,
) -> Mechanism[Any]:
    """The q-quantile, or several, with an interval for the population's that assumes no shape. No bounds needed. Pure.

    The ends of the interval are what is drawn, so its `confidence` is declared here; with confidence=None the whole
    epsilon goes to the point. `granularity` is what the data are rounded to: 1 if the column is declared to hold
    integers, else found privately, for a small part of epsilon; granularity=0 says that they are not rounded.
    `guaranteed=True` holds for any distribution, and is wider. With `weights` each person counts with a chance of their
    weight over the public `largest_weight`: it is the quantile of the population that they stand for.

    >>> import discreet
    >>> r = discreet.quantile(range(1000), 0.25, epsilon=2.0, confidence=None, rng=discreet.Seeded(1))
    >>> 200 < r.value < 300
    True
    """
    unit = 1 if granularity is None and x.integers else granularity
    asked: dict[str, Any] = {"bounds": bounds, "confidence": confidence, "granularity": unit, "guaranteed": guaranteed}

    def make(found: Public, share: Number) -> Quantile:
        return Quantile(q, share, neighbours=found.neighbours, unit=found.unit, **asked)

    return weighed(people, make, epsilon, weights, largest_weight)


@statistic(WEIGHED, rows=survey_rows, groups=True, world=partial(quantile_world, q=0.5))
def median(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    bounds: tuple[Any, Any] | None = None,
    confidence: float | None = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
    weights: Columns | None = None,
    largest_weight: float | None = None,
) -> Mechanism[Any]:
    """The middle value: the quantile with q = 0.5, with its options and its interval. Pure.

    >>> import discreet
    >>> 400 < discreet.median(range(1000), epsilon=2.0, confidence=None, rng=discreet.Seeded(1)).value < 600
    True
    """
    asked: dict[str, Any] = {"bounds": bounds, "confidence": confidence, "granularity": granularity}
    asked |= {"guaranteed": guaranteed, "weights": weights, "largest_weight": largest_weight}
    return quantile(people, x, 0.5, epsilon=epsilon, **asked)
