"""Quantiles without bounds, with an interval for the population's quantile that assumes no shape. Pure.

Releases
    confidence=None: for each q one float, drawn around the sample's q-quantile.
    Otherwise, for each q, the two ends of an interval, drawn around two order statistics of the sample; the value is
    the middle of the two. Before them, what the data are rounded to (unless it is declared), without bounds a rough
    scale of the data, and under ADD_OR_REMOVE a noisy n.
Promise
    [quantile.1] Points: pure epsilon, one choice of epsilon / m for each of the m quantiles.
    [quantile.2] Intervals under REPLACE: pure epsilon. A choice of epsilon / 16 for the scale (not with bounds, nor if
         guaranteed), one of epsilon / 8 for the granularity (not if it is declared, nor if guaranteed), and two for
         each q that share the rest.
    [quantile.3] Intervals under ADD_OR_REMOVE: the same after a noisy count of epsilon / 10; the choice of the
         granularity takes epsilon / 16.
    [quantile.4] Coverage, for independent records: each of the m intervals holds its quantile with about its own
         confidence if the density is smooth on the scale of the interval and data are taken as not rounded; with that
         or more if data are rounded to multiples of the granularity, declared or found, whatever ties there are
         ([ranks.5]; exactly for equally many at neighbouring points). Too coarse a granularity only widens.
    [quantile.5] guaranteed=True: at least its confidence for independent records of any distribution, with ties, atoms
         and gaps, under both neighbour relations.
    [quantile.6] Whether a release or its interval is refused depends on parameters and the public (or noisy) size
          alone; a refusal for the size comes before any value is looked at.
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
    on average. On a grid the lower end is drawn among records rounded down and the upper one among records rounded up:
    a monotone map takes the quantile to the quantile, and rounding is outwards ([quantile_cells.3]). A private n is
    taken as the noisy count less one scale of its noise, which leaves second-order errors on the safe side. Swapping
    ends that were drawn in the wrong order can only gain.
    [quantile.5] Records are put into public cells by a monotone map; the cells are the candidates, of equal weight, and
    one has score 0. If the lower edge of the drawn cell lies above the quantile t, the cell lies above t's, at least
    #{x <= t} records lie in lower cells, and its score is at least #{x <= t} - rank. That count is in distribution at
    least Bin(n, q): [ranks.2], averaged over it, bounds the miss, and [ranks.3] picks the rank. Mirrored, with
    #{x >= t}, for the upper end. Where n is private, a tenth of 1 - confidence goes to a band for it, and [ranks.4]
    covers the band.
    [quantile.6] Nothing else is read.
Needs
    Independent records, for the interval. Its confidence is declared before the release: its ends are what is drawn.
    Without bounds enough records: epsilon_i min(rank, n - rank) >= 34 D for each draw, 34 = 2 (10 + ln 1000), so that
    a quantile some hundred times as large as the data's spread is missed by far once in a thousand times. At
    epsilon = 1 that is n = 68 for the value of a median, 214 with its interval. Refused otherwise, except for points
    under ADD_OR_REMOVE, which carry a note. With bounds only ranks that are inside the data.
    A missing entry counts as the number `missing` (0, clamped to the bounds): where n is public none can be dropped.
    Granularities that are looked for: 1000, 100, 10, 1, 1/2, 0.1, 0.01, 0.001, and none. Data rounded to something
    else (feet given in metres) should declare it. With bounds, all is about the values clamped to them.
Accuracy
    A point's rank is off by a two-sided exponential of scale 2 D / epsilon_i, its value by that over n f, f the
    density. Without bounds its prior has a pole at 0: a point within about 11 D / epsilon_i ranks of 0 is drawn to it.
    (Ends of intervals are not: that is what the scale is for. Close to the line of refusal it fails now and then; for
    data centred at 0 on a scale of millions coverage was 0.89 at n epsilon = 200, 0.95 at 300.)
    docs/measured-quantiles.md has coverage and width, for rounded data too. The guaranteed interval is 3.1 times as
    wide as that of order statistics at n = 2,000.
Source
    Smith 2011 (the exponential mechanism for quantiles); Berger and Boos 1994 (the band). The exact miss [ranks.1], the
    flat prior, the search for the granularity, the form for a private n and the guaranteed form are ours.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.choose_float import Prior, Staircase, scale_free, uniform
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.noise.order_statistics import Ordered, ranked
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import QuantileSpread, check_confidence
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss
from discreet.privacy.mechanism import MISCOUNTED, Mechanism, Randomness, promised, refusal_of, what_to_do
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Vector
from discreet.stages.declared import check_bounds, check_granularity, checked_shares
from discreet.statistics.quantile_cells import (
    GRAINS,
    MAX,
    RankCells,
    ceil_to,
    find_unit,
    flat_below,
    floor_to,
    grid_stairs,
    magnitudes,
    middle,
    nearest_to,
    scale_scores,
    window_end,
)
from discreet.statistics.ranks import Aim, RankAims
from discreet.tables.entries import long_numbers, public_size
from discreet.worlds.assumptions import MANY, ONE, About, World
from discreet.worlds.floors import BOUND
from discreet.worlds.shapes import AssumedColumn

COUNTING: Final = Fraction(1, 10)  # of epsilon, for a private n [quantile.3]
SCALING: Final = Fraction(1, 16)  # of epsilon, for the scale of the data [quantile.2]
FINDING: Final = Fraction(1, 16)  # of epsilon, for the granularity; twice that where records are replaced [quantile.2]
FAR: Final = 4.0  # without bounds, ends that differ by more than this factor have their middle on the log scale
SHOWN: Final = ("q", "bounds", "confidence", "granularity", "guaranteed", "missing", "neighbours")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quantile:
    """One or several quantiles of a column; `q` is a number in (0, 1), or a tuple of them.

    `granularity` is what the data are rounded to, 0 if to nothing; None if that is to be found.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [index / 1000 for index in range(1000)]
    >>> release = Quantile(0.5, epsilon=1.0).release(rows, Seeded(1))
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
        """A choice for each point, or two for each interval; before them what the ends need to know of the data."""
        return self._stages.loss

    @property
    def _stages(self) -> Allocation:
        drawn, swap = self.confidence is not None, self.neighbours.size_is_public
        searched = drawn and not self.guaranteed
        return Allocation.of(self.epsilon).split(
            count=Share(COUNTING, lambda cost: Approximate(cost, 0)) if self._counts else None,  # [quantile.3]
            scale=Share(SCALING, Choice) if searched and self.bounds is None else None,  # [quantile.2]
            granularity=Share((1 + swap) * FINDING, Choice) if searched and self.granularity is None else None,
            ends=Share(cost=Choice, times=len(self._shares) * (1 + drawn)),  # [quantile.1]
        )

    @property
    def _aims(self) -> RankAims:
        return RankAims(
            cost=exact(self._each.epsilon),
            confidence=self.confidence,
            counts=self._counts,
            bounded=self.bounds is not None,
            cells=self._cells.size if self.guaranteed else 0,
            rounded=self.granularity != 0,
        )

    @property
    def _each(self) -> Choice:
        return self._stages.part("ends", Choice)

    @property
    def _cells(self) -> RankCells:
        return RankCells.of(self.bounds, self.granularity or None)

    @property
    def _counts(self) -> bool:
        """Whether a noisy count is needed."""
        return self.confidence is not None and not self.neighbours.size_is_public

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
        size = public_size(values, self.neighbours)
        if refusal := refusal_of(self, size):
            return self._refuse(refusal, size, rng)  # [quantile.6]
        if self.confidence is None:
            return self._points(values, size, rng)
        stages = self._stages
        if size is not None:
            band = size, size
        else:
            counting = stages.part("count", Approximate).epsilon
            counted = rng.blur(len(values), sensitivity=1, cost=Laplace(counting))  # [quantile.3]
            band = self._band(counted, laplace_scale(1, counting))
        plan = self._aims
        aims = [plan.ends(q, band) for q in self._shares]
        if refusal := self._few(aims, band[0]):
            return self._refuse(refusal, size, rng)  # [quantile.6]
        end, missing = 0, float(self.missing)
        if "scale" in stages:
            scaling, move = stages.part("scale", Choice), 9 if self._counts else 10
            scores = scale_scores(magnitudes(values, missing), scaling, move)
            end = window_end(rng.choose(scores, sensitivity=move * GRAINS, cost=scaling))  # [quantile.2]
        unit = exact(self.granularity or 0)
        if "granularity" in stages:
            cost_of_it = stages.part("granularity", Choice)
            swap = self.neighbours.size_is_public
            unit = find_unit(values, missing, band[0], swap=swap, cost=cost_of_it, rng=rng)  # [quantile.2]
        if not unit and not self.guaranteed:
            aims = [replace(plan, rounded=False).ends(q, band) for q in self._shares]
        ends = [self._ends(values, aim, unit, end, rng) for aim in aims]
        return self._with_intervals(ends, aims, band, unit=unit, size=size, rng=rng)

    def check(self, size: int | None) -> None:
        """Refuse too few records; where their number is private, a guess of it, for those who plan. [quantile.6]"""
        if size is None or (self.confidence is None and not self.neighbours.size_is_public):
            return
        points = self.confidence is None
        aims = self._points_of(size) if points else [self._aims.ends(q, (size, size)) for q in self._shares]
        if refusal := self._few(aims, size):
            raise Refused(refusal)

    def _points(self, values: Floats | Ordered, size: int | None, rng: Randomness) -> Release[Any]:
        """The whole epsilon on the values; no interval."""
        aims = self._points_of(len(values))
        prior = scale_free() if self.bounds is None else uniform()
        unit = exact(self.granularity or 0)
        drawn = [_rounded(self._draw(self._stairs(values, aim.low, prior), aim.low_move, rng), unit) for aim in aims]
        order = sorted(range(len(aims)), key=lambda index: aims[index].q)
        ranked = dict(zip(order, sorted(drawn), strict=True))  # values in the order of their q: post-processing
        shown = self._named([ranked[index] for index in range(len(aims))])
        notes = [] if size is not None or self.bounds else [self._unchecked()]
        return Release(self.guarantee, self._provenance(size, rng, notes), shown, name=self._name)

    def _points_of(self, count: int) -> list[Aim]:
        return [self._aims.point(q, count, self.neighbours.size_is_public) for q in self._shares]

    def _unchecked(self) -> str:
        """What a reader must know where the size is private and nothing is spent on it."""
        needed = max(self._aims.needed(side, max(side, 1 - side)) for q in self._shares for side in (q, 1 - q))
        return f"the number of rows is private and was not asked for; with fewer than {needed} a value can be far off"

    def _band(self, count: int, scale: Fraction) -> tuple[int, int]:
        """What the noisy count says of n: one value on the safe side, or a band that holds it. [quantile.3]"""
        assert self.confidence is not None
        if not self.guaranteed:
            low = max(1, math.floor(count - scale))  # [quantile.4]
            return low, low
        radius = LaplaceDistribution(scale).radius(1 - (1 - self.confidence) / 10)
        return max(1, count - radius), max(1, count + radius)  # [quantile.5]

    def _few(self, aims: list[Aim], size: int) -> str | None:
        """Why so many records do not do, in public numbers; None if they do."""
        plan = self._aims
        aim = next((one for one in aims if not plan.enough(one, size)), None)
        if aim is None:
            return None
        needed = max(plan.needed(aim.q, aim.low_move), plan.needed(1 - aim.q, aim.high_move), size + 1)
        what = f"the {show(aim.q)}-quantile" + (" without bounds" if self.bounds is None else "")
        what = what if self.confidence is None else f"a {100 * self.confidence:g}% interval of {what}"
        surely = 0.9 * size - (MISCOUNTED / float(self.epsilon) if self._counts else 0.0)
        inside = replace(plan, bounded=True)
        bounded = max(inside.needed(aim.q, aim.low_move), inside.needed(1 - aim.q, aim.high_move))
        helped = self.bounds is None and surely >= bounded
        remedies = ["give public bounds=(low, high)"] if helped else []
        remedies += ["ask for the value alone with confidence=None"] if self.confidence is not None else []
        known = f"about {size} rows, by a noisy count," if self._counts else f"{size} rows"
        to_do = what_to_do(size, self.epsilon, needed, *remedies, noisy=self._counts)
        return (
            f"{known} at epsilon {show(self.epsilon)} are too few for {what}: n * epsilon is "
            f"{size * float(self.epsilon):.3g}, about {needed * float(self.epsilon):.3g} is needed; "
            f"{to_do}"
        )

    def _refuse(self, words: str, size: int | None, rng: Randomness) -> Release[Any]:
        return Release(self.guarantee, self._provenance(size, rng), refusal=words, name=self._name)

    def _ends(
        self, values: Floats | Ordered, aim: Aim, unit: Fraction, end: int, rng: Randomness
    ) -> tuple[float, float]:
        """The two draws, in order: over cells if guaranteed, over the multiples of a unit, or over floats."""
        times = len(values) if self._counts else 1  # [quantile.3]: a share of the true n
        requests = ((aim.low * times, aim.low_move), (aim.high * times, aim.high_move))
        if self.guaranteed:
            cells = self._cells
            places = cells.places(values, float(self.missing))
            drawn = [cells.draw(places, rank, move, self._each, rng) for rank, move in requests]  # [quantile.5]
            low, high = cells.edges(min(drawn))[0], cells.edges(max(drawn))[1]
            return (floor_to(low, unit), ceil_to(high, unit)) if unit else (low, high)
        prior = flat_below(end) if self.bounds is None else uniform()
        if unit:
            ranks = [rank for rank, _ in requests]
            stairs = grid_stairs(values, float(self.missing), unit, bounds=self.bounds, ranks=ranks, prior=prior)
        else:
            stairs = [self._stairs(values, rank, prior) for rank, _ in requests]
        low, high = (self._draw(one, move, rng) for one, (_, move) in zip(stairs, requests, strict=True))
        if unit:  # [quantile.4]
            first, last = self.bounds or (-MAX, MAX)
            low, high = max(first, floor_to(low, unit)), min(last, -floor_to(high, unit))
        return min(low, high), max(low, high)

    def _stairs(self, values: Floats | Ordered, rank: Fraction, prior: Prior) -> Staircase:
        low, high = self.bounds or (-MAX, MAX)
        return Staircase(values, rank, low=low, high=high, prior=prior, default=float(self.missing))

    def _draw(self, stairs: Staircase, move: Fraction, rng: Randomness) -> float:
        return rng.choose_float(stairs, sensitivity=move, cost=self._each)  # [quantile.1] [quantile.2] [quantile.3]

    def _with_intervals(
        self,
        ends: list[tuple[float, float]],
        aims: list[Aim],
        band: tuple[int, int],
        *,
        unit: Fraction,
        size: int | None,
        rng: Randomness,
    ) -> Release[Any]:
        """The release, from the ends that were drawn."""
        assert self.confidence is not None
        far = FAR if self.bounds is None else math.inf
        errors = [self._aims.errors(pair, aim, sum(band) / 2) for pair, aim in zip(ends, aims, strict=True)]
        columns = ([low for low, _ in ends], [high for _, high in ends], *map(list, zip(*errors, strict=True)))
        many = isinstance(self.q, tuple)
        low, high, sampling, privacy = (np.array(column) if many else column[0] for column in columns)
        about = f"the population's {self._name}" + (", one by one" if many else "")
        spread = QuantileSpread(low, high, confidence=self.confidence, about=about, sampling=sampling, privacy=privacy)
        notes = ["the value is the middle of the two ends that were drawn"]
        if not self.guaranteed:
            taken = f"multiples of {show(unit)}" if unit else "not rounded"
            found = (
                ""
                if self.granularity is not None
                else ", as was found privately; if you know better, declare granularity="
            )
            notes.append(f"the interval takes the data as {taken}{found}")
        history = self._provenance(size, rng, notes, aims=[[aim.low, aim.high] for aim in aims])
        value = self._named([_rounded(middle(*pair, far), unit) for pair in ends])
        return Release(self.guarantee, history, value, spread=spread, name=self._name)

    def _provenance(self, size: int | None, rng: Randomness, notes: Sequence[str] = (), **more: Any) -> Provenance:
        parameters = {name: getattr(self, name) for name in SHOWN} | {"rows": size, **more}
        return Provenance("Quantile", parameters, rng.secure, notes=tuple(notes))


def _rounded(value: float, unit: Fraction) -> float:
    return nearest_to(value, unit) if unit else value


def _world(about: About) -> World:
    return _world_of(about, about.option("q", 0.5))


def _world_of(about: About, q: Any) -> World:
    asked = [float(one) for one in q] if isinstance(q, list | tuple | np.ndarray) else [q]
    if not asked or not all(is_number(one) and 0 < one < 1 for one in asked):
        raise BadInput(f"q is {q!r}; give a number between 0 and 1, or a list of them")
    entries, one = AssumedColumn.of(about), q is asked[0]
    return World(
        make=lambda g, n: {"x": entries.draw(g, n)},
        truth=[entries.quantile(share) for share in asked],
        plain=lambda x: np.quantile(x, asked),
        measure=ONE if one else MANY,
        sampling=(lambda n: math.sqrt(q * (1 - q) / n) / entries.height(q)) if one else None,
        parts=one,
        floor=entries.floor if one else None,
        floor_note=BOUND if one else "no floor is known for several at once",
    )


@statistic({"x": number(streams=True, dates=True)}, groups=True, world=_world)
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
) -> Mechanism[Any]:
    """The q-quantile, or several, with an interval for the population's that assumes no shape. No bounds needed. Pure.

    The ends of the interval are what is drawn, so its `confidence` is declared here; with confidence=None the whole
    epsilon goes to the point. `granularity` is what the data are rounded to: 1 if the column is declared to hold
    integers, else found privately, for a small part of epsilon; granularity=0 says that they are not rounded.
    `guaranteed=True` holds for any distribution, and is wider.

    >>> import discreet
    >>> r = discreet.quantile(range(1000), 0.25, epsilon=2.0, confidence=None, rng=discreet.Seeded(1))
    >>> 200 < r.value < 300
    True
    """
    return Quantile(
        q,
        epsilon,
        bounds=bounds,
        confidence=confidence,
        granularity=1 if granularity is None and x.integers else granularity,
        guaranteed=guaranteed,
        neighbours=people.neighbours,
        unit=people.unit,
    )


@statistic({"x": number(streams=True, dates=True)}, groups=True, world=partial(_world_of, q=0.5))
def median(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    bounds: tuple[Any, Any] | None = None,
    confidence: float | None = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
) -> Mechanism[Any]:
    """The middle value: the quantile with q = 0.5, with its options and its interval. Pure.

    >>> import discreet
    >>> 400 < discreet.median(range(1000), epsilon=2.0, confidence=None, rng=discreet.Seeded(1)).value < 600
    True
    """
    return quantile(
        people,
        x,
        0.5,
        epsilon=epsilon,
        bounds=bounds,
        confidence=confidence,
        granularity=granularity,
        guaranteed=guaranteed,
    )
