"""Quantiles without bounds, with an interval for the population's quantile that assumes no shape. Pure.

Releases
    confidence=None: for each q one float, drawn around the sample's q-quantile.
    Otherwise, for each q, the two ends of an interval, drawn around two order statistics of the sample; the value is
    the middle of the two. Without bounds, before them, a rough scale of the data; under ADD_OR_REMOVE a noisy n.
Promise
    [quantile.1] Points: pure epsilon, one choice of epsilon / m for each of the m quantiles.
    [quantile.2] Intervals under REPLACE: pure epsilon. A choice of epsilon / 16 for the scale (not with bounds, nor if
         guaranteed), and two for each q that share the rest.
    [quantile.3] Intervals under ADD_OR_REMOVE: the same after a noisy count of epsilon / 10.
    [quantile.4] Coverage: for independent records whose density is smooth on the scale of the interval, each of the m
         intervals holds its quantile with about its own confidence; with granularity=g, for data rounded to multiples
         of g, with that or more, if the data take many values or, with bounds, any. A quantile at a bound, or at a
         value that many records share, needs granularity= or guaranteed=True.
    [quantile.5] guaranteed=True: at least its confidence for independent records of any distribution, with ties, atoms
         and gaps, under both neighbour relations.
    [quantile.6] Whether a release or its interval is refused depends on parameters, the declared type and the public
          (or noisy) size alone; a refusal for the size comes before any value is looked at.
Why
    [quantile.1] Missing entries become `missing` and all are clamped to the bounds, one by one ([entries.1]).
    Under REPLACE the rank is a function of n; under ADD_OR_REMOVE it is q n. [choose_float.2] gives the
    sensitivities 1 and max(q, 1 - q); then [choose_float.1] and composition.
    [quantile.2] The ranks are functions of n, q, epsilon and the confidence: [choose_float.2], [choose_float.1]. The
    scale is chosen among windows whose scores, in tenths of a record, move by at most 10 (9 if n moves with them):
    [choose.3]. Given the scale, which could be released, the prior of the other draws is public.
    [quantile.3] The count costs epsilon / 10 [additive.1]. Given it, the shares q_L and q_U are public; the target rank
    q_L n moves with n as q n does in [choose_float.2], so D = max(q_L, 1 - q_L). A rank that the noisy count fixes
    would have D = 1, and twice the noise near the median.
    [quantile.4] With B ~ Bin(n, q) records up to the quantile an end misses with the probability of [ranks.1] of
    statistics/ranks.py; by the choice of its rank [ranks.3] that is (1 - confidence) / 2 on average. With both bounds
    and a granularity, cells as in [quantile.5] are the candidates, so that a value weighs as much as any other. A
    private n is taken as the noisy count less one scale of its noise, which leaves second-order errors on the safe
    side. Swapping ends that were drawn in the wrong order can only gain.
    [quantile.5] Records are put into public cells by a monotone map; the cells are the candidates, of equal weight, and
    one has score 0. If the lower edge of the drawn cell lies above the quantile t, the cell lies above t's, at least
    #{x <= t} records lie in lower cells, and its score is at least #{x <= t} - rank. That count is in distribution at
    least Bin(n, q): [ranks.2], averaged over it, bounds the miss, and [ranks.3] picks the rank. Mirrored, with #{x >=
    t}, for the upper end. Where n is private, a tenth of 1 - confidence goes to a band for it, and [ranks.4] covers the
    band.
    [quantile.6] Nothing else is read. No entry is asked whether it is a whole number.
Needs
    Independent records, for the interval. Its confidence is declared before the release: its ends are what is drawn.
    Without bounds enough records: epsilon_i min(rank, n - rank) >= 34 D for each draw, 34 = 2 (10 + ln 1000), so that
    a quantile some hundred times as large as the data's spread is missed by far once in a thousand times. At
    epsilon = 1 that is n = 68 for the value of a median, 183 with its interval. Refused otherwise, except for points
    under ADD_OR_REMOVE, which carry a note. With bounds only ranks that are inside the data.
    A missing entry counts as the number `missing` (0, clamped to the bounds): where n is public none can be dropped.
    Columns declared to hold whole numbers need granularity= or guaranteed=True for an interval: ties break
    [quantile.4], and coverage with them. Lists, numpy arrays and pandas' numpy columns declare nothing; a note says
    what is assumed. With bounds, all is about the values clamped to them.
Accuracy
    A point's rank is off by a two-sided exponential of scale 2 D / epsilon_i, its value by that over n f, f the
    density. Without bounds its prior has a pole at 0: a point within about 11 D / epsilon_i ranks of 0 is drawn to it.
    (Ends of intervals are not: that is what the scale is for. Close to the line of refusal it fails now and then; for
    data centred at 0 on a scale of millions coverage was 0.89 at n epsilon = 200, 0.95 at 300.)
    The interval of a median at epsilon = 1 is 1.30 to 1.37 times as wide as the order-statistic interval at n = 200,
    1.02 to 1.04 times at n = 2,000; under ADD_OR_REMOVE 1.15 to 1.18 times at n = 200. The guaranteed one is 3.1 times
    as wide at n = 2,000.
Source
    Smith 2011 (the exponential mechanism for quantiles); Berger and Boos 1994 (the band). The exact miss [ranks.1], the
    flat prior, the form for a private n and the guaranteed form are ours.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, Refused
from discreet.noise.choose_float import Prior, Staircase, scale_free, uniform
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.noise.order_statistics import Ordered, ranked
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import TIES, QuantileSpread, check_confidence
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss, compose
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Vector
from discreet.stages.declared import check_bounds, check_granularity, checked_shares
from discreet.statistics.ranks import (
    MAX,
    Aim,
    Miss,
    RankCells,
    ceil_to,
    flat_scale,
    floor_to,
    lower_rank,
    lower_share,
    magnitudes,
    middle,
    nearest_to,
    rows_needed,
    sample_rank,
    scale_scores,
    smooth,
    worst,
)
from discreet.tables.entries import declared_whole, long_numbers, public_size

COUNTING: Final = Fraction(1, 10)  # of epsilon, for a private n [quantile.3]
SCALING: Final = Fraction(1, 16)  # of epsilon, for the scale of the data [quantile.2]
NATS: Final = 34  # 2 (10 + ln 1000): what a draw without bounds has to overcome
FAR: Final = 4.0  # without bounds, ends that differ by more than this factor have their middle on the log scale
SHOWN: Final = ("q", "bounds", "confidence", "granularity", "guaranteed", "missing", "neighbours")
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quantile:
    """One or several quantiles of a column; `q` is a number in (0, 1), or a tuple of them.

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
        check_granularity(self.granularity, self.bounds)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """A choice for each point, or two for each interval; before them what the ends need to know of n and scale."""
        first: list[Loss] = [Approximate(self._counting, 0)] if self._counts else []  # [quantile.3]
        first += [Choice(self._scaling)] if self._scales else []  # [quantile.2]
        return compose(*first, *[self._each] * self._draws)  # [quantile.1]

    @property
    def _each(self) -> Choice:
        left = exact(self.epsilon) - self._counts * self._counting - self._scales * self._scaling
        return Choice(left / self._draws)

    @property
    def _draws(self) -> int:
        return len(self._shares) * (1 if self.confidence is None else 2)

    @property
    def _counting(self) -> Fraction:
        return exact(self.epsilon) * COUNTING

    @property
    def _scaling(self) -> Fraction:
        return exact(self.epsilon) * SCALING

    @property
    def _counts(self) -> bool:
        """Whether a noisy count is needed."""
        return self.confidence is not None and not self.neighbours.size_is_public

    @property
    def _scales(self) -> bool:
        """Whether the scale of the data is needed."""
        return self.confidence is not None and self.bounds is None and not self.guaranteed

    @property
    def _shares(self) -> tuple[Fraction, ...]:
        return tuple(exact(q) for q in (self.q if isinstance(self.q, tuple) else (self.q,)))

    @property
    def _cells(self) -> RankCells | None:
        declared = self.bounds is not None and self.granularity is not None
        return RankCells.of(self.bounds, self.granularity) if self.guaranteed or declared else None

    @property
    def _name(self) -> str:
        if isinstance(self.q, tuple):
            return "quantiles"
        return "median" if exact(self.q) == Fraction(1, 2) else f"{show(self.q)}-quantile"

    def _named(self, value: Any) -> Any:
        """Several values by their shares."""
        return (
            Vector(value, tuple(f"{float(100 * q):g}%" for q in self._shares), True)
            if isinstance(self.q, tuple)
            else value
        )

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The values, with their intervals if a confidence was declared; or a refusal for too few records."""
        rounded = declared_whole(rows)  # [quantile.6]: the column's type, not its entries
        values = ranked(long_numbers(rows), float(self.missing))
        size = public_size(values, self.neighbours)
        if refusal := refusal_of(self, size):
            return self._refuse(refusal, size, rng)  # [quantile.6]
        if self.confidence is None:
            return self._points(values, size, rng)
        if size is not None:
            band = size, size
        else:
            band = self._band(rng.blur(len(values), sensitivity=1, cost=Laplace(self._counting)))  # [quantile.3]
        aims = [self._aim(q, band) for q in self._shares]
        if refusal := self._few(aims, band[0]):
            return self._refuse(refusal, size, rng)  # [quantile.6]
        prior = self._prior(values, rng)
        ends = [self._ends(values, aim, prior, rng) for aim in aims]
        return self._with_intervals(ends, aims, band, size=size, tied=rounded, rng=rng)

    def check(self, size: int | None) -> None:
        """Refuse too few records; where their number is private, a guess of it, for those who plan. [quantile.6]"""
        if size is None or (self.confidence is None and not self.neighbours.size_is_public):
            return
        points = self.confidence is None
        aims = self._points_of(size) if points else [self._aim(q, (size, size)) for q in self._shares]
        if refusal := self._few(aims, size):
            raise Refused(refusal)

    def _points(self, values: Floats | Ordered, size: int | None, rng: Randomness) -> Release[Any]:
        """The whole epsilon on the values; no interval."""
        aims = self._points_of(len(values))
        prior = scale_free() if self.bounds is None else uniform()
        drawn = [self._rounded(self._draw(values, aim.low, aim.low_move, prior, rng)) for aim in aims]
        order = sorted(range(len(aims)), key=lambda index: aims[index].q)
        ranked = dict(zip(order, sorted(drawn), strict=True))  # values in the order of their q: post-processing
        drawn = [ranked[index] for index in range(len(aims))]
        notes = [] if size is not None or self.bounds else [self._unchecked()]
        shown = self._named(np.array(drawn) if isinstance(self.q, tuple) else drawn[0])
        return Release(self.guarantee, self._provenance(size, rng, notes), shown, name=self._name)

    def _points_of(self, count: int) -> list[Aim]:
        """The rank that each value is drawn around. [quantile.1]"""
        if self.neighbours.size_is_public:
            found = [(q, sample_rank(q, count), Fraction(1)) for q in self._shares]
        else:
            found = [(q, q * count, max(q, 1 - q)) for q in self._shares]
        return [Aim(q=q, low=rank, high=rank, low_move=move, high_move=move) for q, rank, move in found]

    def _unchecked(self) -> str:
        """What a reader must know where the size is private and nothing is spent on it."""
        needed = max(self._needed(side, max(side, 1 - side)) for q in self._shares for side in (q, 1 - q))
        return f"the number of rows is private and was not asked for; with fewer than {needed} a value can be far off"

    def _band(self, count: int) -> tuple[int, int]:
        """What the noisy count says of n: one value on the safe side, or a band that holds it."""
        assert self.confidence is not None
        scale = laplace_scale(1, self._counting)
        if not self.guaranteed:
            low = max(1, math.floor(count - scale))  # [quantile.4]
            return low, low
        radius = LaplaceDistribution(scale).radius(1 - (1 - self.confidence) / 10)
        return max(1, count - radius), max(1, count + radius)  # [quantile.5]

    def _aim(self, q: Fraction, band: tuple[int, int]) -> Aim:
        """The ranks (n public) or shares of n (n private) that the two ends are drawn around."""
        assert self.confidence is not None
        tail = (1 - self.confidence) / 2 * (0.9 if self.guaranteed and self._counts else 1)
        if not self._counts:
            miss, size = self._miss(Fraction(1)), band[0]
            low, high = (lower_rank(size, float(side), miss, tail) for side in (q, 1 - q))
            return Aim(q=q, low=low, high=size - high, low_move=Fraction(1), high_move=Fraction(1))
        ends = []
        for side in (q, 1 - q):
            widest = lower_share(band, float(side), self._miss(Fraction(1)), tail)
            found = lower_share(band, float(side), self._miss(max(side, 1 - widest)), tail)
            ends.append((found, max(found, 1 - found)))  # [quantile.3]: at most what `found` was computed with
        (low, low_move), (high, high_move) = ends
        return Aim(q=q, low=low, high=1 - high, low_move=low_move, high_move=high_move)

    def _miss(self, move: Fraction) -> Miss:
        rate, cells = float(self._rate(move)), self._cells
        return worst(rate, cells.size) if self.guaranteed and cells else smooth(rate)  # [quantile.4] [quantile.5]

    def _rate(self, move: Fraction) -> Fraction:
        return exact(self._each.epsilon) / (2 * move)

    def _few(self, aims: list[Aim], size: int) -> str | None:
        """The first reason why this many records do not do."""
        return next(filter(None, (self._too_few(aim, size) for aim in aims)), None)

    def _too_few(self, aim: Aim, size: int) -> str | None:
        """Why this many records do not do, in public numbers; None if they do."""
        times = size if self._counts else 1
        rooms = ((aim.low * times, aim.low_move), (size - aim.high * times, aim.high_move))
        if self.bounds is None:
            enough = all(room * exact(self._each.epsilon) >= NATS * move for room, move in rooms)
        else:
            enough = self.confidence is None or all(room >= Fraction(1, 2) for room, _ in rooms)
        if enough:
            return None
        needed = max(self._needed(aim.q, aim.low_move), self._needed(1 - aim.q, aim.high_move), size + 1)
        what = f"the {show(aim.q)}-quantile" + (" without bounds" if self.bounds is None else "")
        what = what if self.confidence is None else f"a {100 * self.confidence:g}% interval of {what}"
        remedies = ["give public bounds=(low, high)"] if self.bounds is None else []
        remedies += ["use more rows or a larger epsilon"]
        remedies += ["ask for the value alone with confidence=None"] if self.confidence is not None else []
        known = f"about {size} rows, by a noisy count," if self._counts else f"{size} rows"
        return (
            f"{known} at epsilon {show(self.epsilon)} are too few for {what}: n * epsilon is "
            f"{size * float(self.epsilon):.3g}, about {needed * float(self.epsilon):.3g} is needed; "
            + ", or ".join(remedies)
        )

    def _needed(self, q: Fraction, move: Fraction) -> int:
        """About how many records would do."""
        rate, cells = float(self._rate(move)), self._cells
        room = NATS / 2 / rate if self.bounds is None else 0.5
        return rows_needed(float(q), rate, room, self.confidence, cells.size if cells else 1)

    def _refuse(self, words: str, size: int | None, rng: Randomness) -> Release[Any]:
        return Release(self.guarantee, self._provenance(size, rng), refusal=words, name=self._name)

    def _prior(self, values: Floats | Ordered, rng: Randomness) -> Prior:
        """Flat on the scale of the data, which without bounds is drawn."""
        if not self._scales:
            return uniform()
        scores = scale_scores(magnitudes(values, float(self.missing)))
        # [quantile.2]
        return flat_scale(rng.choose(scores, sensitivity=9 if self._counts else 10, cost=Choice(self._scaling)))

    def _ends(self, values: Floats | Ordered, aim: Aim, prior: Prior, rng: Randomness) -> tuple[float, float]:
        """The two draws, in order."""
        times = len(values) if self._counts else 1  # [quantile.3]: a share of the true n
        requests, cells = ((aim.low * times, aim.low_move), (aim.high * times, aim.high_move)), self._cells
        if cells is None:
            drawn = sorted(self._draw(values, rank, move, prior, rng) for rank, move in requests)
            return drawn[0], drawn[1]
        places = cells.places(values, float(self.missing))
        low, high = sorted(cells.draw(places, rank, move, self._each, rng) for rank, move in requests)  # [quantile.5]
        return cells.edges(low)[0], cells.edges(high)[1]

    def _draw(self, values: Floats | Ordered, rank: Fraction, move: Fraction, prior: Prior, rng: Randomness) -> float:
        low, high = self.bounds or (-MAX, MAX)
        stairs = Staircase(values, rank, low=low, high=high, prior=prior, default=float(self.missing))
        return rng.choose_float(stairs, sensitivity=move, cost=self._each)  # [quantile.1] [quantile.2] [quantile.3]

    def _with_intervals(
        self,
        ends: list[tuple[float, float]],
        aims: list[Aim],
        band: tuple[int, int],
        *,
        size: int | None,
        tied: bool,
        rng: Randomness,
    ) -> Release[Any]:
        """The release, from the ends that were drawn."""
        assert self.confidence is not None
        many, unit = isinstance(self.q, tuple), self.granularity
        errors = [self._errors(*pair, aim, sum(band) / 2) for pair, aim in zip(ends, aims, strict=True)]
        columns = (
            [low if unit is None else floor_to(low, unit) for low, _ in ends],  # [quantile.4]
            [high if unit is None else ceil_to(high, unit) for _, high in ends],  # [quantile.4]
            [sampling for sampling, _ in errors],
            [privacy for _, privacy in errors],
            [self._rounded(middle(low, high, FAR if self.bounds is None else math.inf)) for low, high in ends],
        )
        low, high, sampling, privacy, value = (np.array(column) if many else column[0] for column in columns)
        refusal = TIES if tied and unit is None and not self.guaranteed else None  # [quantile.6]
        about = f"the population's {self._name}" + (", one by one" if many else "")
        spread = QuantileSpread(
            low, high, confidence=self.confidence, about=about, sampling=sampling, privacy=privacy, refusal=refusal
        )
        notes = ["the value is the middle of the two ends that were drawn"]
        if unit is None and not self.guaranteed and refusal is None:
            notes.append("the interval takes the data as not rounded; for rounded data declare granularity=")
        targets = {"aims": [[aim.low, aim.high] for aim in aims]}
        history = self._provenance(size, rng, notes, targets)
        return Release(self.guarantee, history, self._named(value), spread=spread, name=self._name)

    def _errors(self, low: float, high: float, aim: Aim, size: float) -> tuple[float, float]:
        """Sampling and privacy as standard deviations of the value: in ranks, times the interval's own slope."""
        ranks = max(float(aim.high - aim.low) * (size if self._counts else 1.0), 0.5)
        noise = math.hypot(1 / self._rate(aim.low_move), 1 / self._rate(aim.high_move)) / math.sqrt(2)
        slope = (high - low) / ranks
        return math.sqrt(size * float(aim.q * (1 - aim.q))) * slope, noise * slope

    def _rounded(self, value: float) -> float:
        return value if self.granularity is None else nearest_to(value, self.granularity)

    def _provenance(
        self, size: int | None, rng: Randomness, notes: Sequence[str] = (), more: Mapping[str, Any] = NOTHING
    ) -> Provenance:
        parameters = {name: getattr(self, name) for name in SHOWN} | {"rows": size, **more}
        return Provenance("Quantile", parameters, rng.secure, notes=tuple(notes))
