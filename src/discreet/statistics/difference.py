"""Two groups of people beside each other: the difference and the ratio of their means, medians or shares.

Releases
    For each of two public groups the mean, the median or the share of its people, as statistics/mean.py, quantile.py
    and proportion.py release it; the difference and the ratio are computed from the two.
Promise
    [difference.1] Pure epsilon under ADD_OR_REMOVE; who is in which group is private too. Under REPLACE by [asking.2].
    [difference.2] Refusals are those of the two releases: they read public numbers and earlier answers only.
    [difference.3] If each group's interval holds its target with its confidence, that of the difference holds the
          difference of the targets, and that of the ratio their ratio, with the stated confidence: always for medians;
          for shares and for means within public bounds if errors are normal, Laplace's or sums of both; for other
          means if they are such errors and a bias. The same people are in no two groups.
Why
    [difference.1] Each group's answer is asked at half of epsilon, and epsilons add up. Nothing else is read, and who
    is in which group is a function of each person's own entry. (A person more or fewer changes one group alone, so that
    half of epsilon would be the price, by [release.1]: the other half is not used.) How many people a group has is
    private: if all people's number is public, the question is asked as one about some of them ([asking.2]), which
    leaving out those with missing entries makes it. Differences and ratios are post-processing.
    [difference.2] Nothing else refuses.
    [difference.3] Errors of two groups are independent. Medians: each interval is drawn at (1 + confidence) / 2, and
    both hold at once with the confidence (union bound): any number between the ends is possible. Centred errors: a
    number r is a possible ratio if a - r b is within the root of the sum of squares of half-widths of a and r b, from 0
    (r = 1: the difference). That is exact for normal errors; for Laplace's the half-width at confidence c is q, of the
    sum x, with e^-x (2 + x) / 2 = 1 - c, and half-widths are multiplied by max(1, x / (q sqrt 2)), the most at equal
    scales. Means without bounds may have a bias that is a part of the half-width: half-widths are added, and
    sqrt(r1^2 + r2^2) + b1 + b2 <= (r1 + b1) + (r2 + b2). Where the second group's interval reaches 0 no ratio is shown.
Needs
    In each group what its statistic needs.
Accuracy
    That of the two groups at half of epsilon each.
Source
    Zou and Donner 2008, Donner and Zou 2012 (intervals from two intervals).
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public, Reads, boolean, category, declared, number, statistic
from discreet.privacy.exact import Number, crossing, exact
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval, check_confidence
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Mechanism, Randomness, in_full, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Vector, label
from discreet.stages.normal_laplace import radius
from discreet.statistics.histogram import Categories
from discreet.statistics.proportion import PrivateSize
from discreet.tables.entries import by_name
from discreet.tables.streams import chosen
from discreet.worlds.assumptions import About, Expected, World
from discreet.worlds.shapes import AssumedColumn

Of = Literal["mean", "median", "proportion"]
WORDS: Final = {"mean": "mean", "median": "median", "proportion": "share"}
NAMES: Final = ("difference", "ratio")
FEW: Final = re.compile(r"bring (\d+) rows")


@dataclass(frozen=True, slots=True)
class Difference:
    """One statistic of two groups; `inner` releases it of one of them.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.statistics.proportion import Proportion
    >>> share = Proportion(0.5, Neighbours.ADD_OR_REMOVE)
    >>> test = Difference(share, Categories.of(["a", "b"]), 1.0, of="proportion")
    >>> seen = test.release([(True, "a"), (False, "b"), (True, "b"), (True, "a")] * 500, Seeded(1))
    >>> bool(0.2 < seen.value[0] < 0.8)
    True
    """

    inner: Mechanism[float]
    between: Categories
    epsilon: Number
    _: KW_ONLY
    of: Of
    confidence: float = 0.95
    centred: bool = True  # errors have no bias: public bounds, or shares
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        asked = self.inner.guarantee
        if self.neighbours.size_is_public or asked.neighbours.size_is_public:
            raise BadInput(
                "how many people a group has is private: with neighbours='replace' leave out whoever has a missing "
                "entry, with missing='drop'"
            )
        if asked.delta or 2 * exact(asked.epsilon) > exact(self.epsilon):
            raise BadInput("the statistic of one group costs more than its part; give it less of epsilon")

    guarantee = promised

    @property
    def loss(self) -> Approximate:
        """Both groups, half each. [difference.1]"""
        return Approximate(self.epsilon, 0)  # [difference.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Vector]:
        """Difference, ratio and both groups, or a refusal."""
        pairs = by_name(rows, "x", "groups")
        mine = [partial(_members, between=self.between, group=one) for one in (0, 1)]
        first, second = (self.inner.release(chosen(one, pairs, np.float64), rng) for one in mine)  # [difference.1]
        names = [label(one) for one in self.between.names]
        shown = {"of": self.of, "between": self.between.names, "neighbours": self.neighbours}
        shared = set(first.provenance.notes) & set(second.provenance.notes)
        of_groups = list(zip(names, (first, second), strict=True))
        told = [(name, note) for name, one in of_groups for note in one.provenance.notes]
        notes = tuple(dict.fromkeys(note if note in shared else f"{name}: {note}" for name, note in told))
        null = (
            f"null hypothesis: both groups have the same {WORDS[self.of]} in the population; at level 1 - confidence "
        )
        null += "it is rejected if the interval of the difference leaves out 0"
        blank: Release[Vector] = Release(
            self.guarantee,
            Provenance("Difference", shown, rng.secure, notes=(null, *notes)),
            name=f"{WORDS[self.of]} of {names[0]} beside {names[1]}",
        )
        for name, one in of_groups:
            if one.refusal is not None:  # [difference.2]
                why = FEW.sub(r"bring \1 rows in each group", one.refusal)
                why = in_full(why, self.guarantee, self.inner.guarantee)
                return replace(blank, refusal=f"the group {name}: {why}; is it written as in the table?")
        a, b = float(first.value), float(second.value)
        spread = PairSpread((a, b), (first.spread, second.spread), self.of, self.confidence, self.centred, tuple(names))
        ratio = math.nan if math.isnan(spread.interval(spread.confidence).low[1]) else a / b
        answer = Vector(np.array([a - b, ratio, a, b]), (*NAMES, *names))
        return replace(blank, answer=answer, spread=spread)


def _members(pairs: Mapping[str, Any], *, between: Categories, group: int) -> Any:
    """The values of the rows of one group. [difference.1]"""
    return pairs["x"][between.indices(pairs["groups"]) == group]


@dataclass(frozen=True, slots=True)
class PairSpread:
    """The error of a difference and a ratio, from those of two groups."""

    pair: tuple[float, float]
    spreads: tuple[Any, Any]
    of: Of
    declared: float
    centred: bool
    names: tuple[str, ...]

    @property
    def confidence(self) -> float:
        """The declared one, where intervals are drawn at it; else the usual one."""
        return self.declared if self.of == "median" else 0.95

    @property
    def sampling(self) -> Any:
        """Standard deviations from sampling people."""
        return self._deviations("sampling")

    @property
    def privacy(self) -> Any:
        """Standard deviations from the noise."""
        return self._deviations("privacy")

    def _deviations(self, part: str) -> Any:
        a, b = self.pair
        one, other = (getattr(spread, part) for spread in self.spreads)
        if one is None or other is None:
            return None
        ratio = math.hypot(one, other * a / b) / abs(b) if b else math.nan
        return np.array([math.hypot(one, other), ratio, one, other])

    def interval(self, confidence: float) -> Interval:
        """Of each number by itself. [difference.3]"""
        each = (1 + confidence) / 2 if self.of == "median" else confidence  # [difference.3]
        bars = [spread.interval(each) for spread in self.spreads]
        a, b = self.pair
        ends = [(float(bar.low), float(bar.high)) for bar in bars]
        if self.of != "median" and self.centred:
            wide = stretched(confidence)  # [difference.3]
            (la, ua), (lb, ub) = (
                (m - wide * (m - low), m + wide * (high - m)) for m, (low, high) in zip((a, b), ends, strict=True)
            )
            low, high = a - b - math.hypot(a - la, ub - b), a - b + math.hypot(ua - a, b - lb)  # [difference.3]
            ratio = _centred_ratio(a, b, (la, ua), (lb, ub))
        else:
            (la, ua), (lb, ub) = ends
            low, high = la - ub, ua - lb  # [difference.3]
            corners = [one / other for one in (la, ua) for other in (lb, ub)] if lb > 0 else [math.nan]
            ratio = (min(corners), max(corners))
        abouts = dict.fromkeys(bar.about for bar in bars)
        each_of = " and ".join(f"{name}: {bar.about}" for name, bar in zip(self.names, bars, strict=True))
        about = (
            f"each number by itself: {next(iter(abouts))} of {self.names[0]} minus, and over, that of {self.names[1]}"
        )
        about = (
            about
            if len(abouts) == 1
            else f"each number by itself: {self.names[0]} minus, and over, {self.names[1]} ({each_of})"
        )
        lows, highs = (
            np.array([low, ratio[0], ends[0][0], ends[1][0]]),
            np.array([high, ratio[1], ends[0][1], ends[1][1]]),
        )
        population = all(bar.population for bar in bars)
        return Interval(lows, highs, confidence=confidence, about=about, population=population)


def stretched(confidence: float) -> float:
    """By how much half-widths grow so that they hold for the sum of two Laplace errors, at least 1. [difference.3]

    >>> round(stretched(0.5), 2), stretched(0.95)
    (1.17, 1.0)
    """
    miss = 1 - confidence
    both = crossing(lambda x: math.exp(-x) * (2 + x) / 2 - miss, 0.0, 100.0, close=2e-12)
    return max(1.0, both / (-math.log(miss) * math.sqrt(2)))


def _centred_ratio(a: float, b: float, one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The ratios r for which a - r b may be 0, where b is surely above 0; else none. [difference.3]"""
    (la, ua), (lb, ub) = one, other
    if lb <= 0:
        return math.nan, math.nan
    if a < 0:  # the mirror image
        low, high = _centred_ratio(-a, b, (-ua, -la), other)
        return -high, -low

    def end(edge: float, far: float) -> float:
        # (a - r b)^2 = (a - edge)^2 + r^2 (b - far)^2
        square, product, rest = b * b - (b - far) ** 2, a * b, a * a - (a - edge) ** 2
        root = math.sqrt(max(product * product - square * rest, 0.0))
        return (product - root) / square if edge < a or (edge == a and far > b) else (product + root) / square

    return end(la, ub if la > 0 else lb), end(ua, lb)


def _reads(options: Mapping[str, Any]) -> Reads:
    return boolean(streams=True) if options.get("of") == "proportion" else number(streams=True)


def half_width(spread: PairSpread, confidence: float) -> float:
    """Half of the interval of the difference."""
    bar = spread.interval(confidence)
    return float(bar.high[0] - bar.low[0]) / 2


@dataclass(frozen=True, slots=True)
class Errors:
    """The two parts of the error of one number."""

    sampling: float
    privacy: float


def first_of(spread: PairSpread) -> Errors | None:
    """Those of the difference."""
    sampling, privacy = spread.sampling, spread.privacy
    return None if sampling is None or privacy is None else Errors(float(sampling[0]), float(privacy[0]))


def expected_of_shares(share: float, first: float = 0.5) -> Callable[[Any, int, float | None], Expected]:
    """What to expect of two groups with one share, `first` of all people in the first: spreads are in closed form."""

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        if release.refusal is not None:
            return Expected(refused=release.refusal)
        sizes, seen = (first * rows, (1 - first) * rows), release.spread.spreads
        middle = [PrivateSize(share * n, (1 - share) * n, one.epsilon) for n, one in zip(sizes, seen, strict=True)]
        spread = replace(release.spread, pair=(share, share), spreads=tuple(middle))
        sampling, privacy = (float(size[0]) for size in (spread.sampling, spread.privacy))
        return Expected(
            error=radius(0.5, sampling, privacy / math.sqrt(2)),
            half_width=None if confidence is None else half_width(spread, confidence),
            sampling=sampling,
            privacy=privacy,
            without=radius(0.5, sampling, 0.0),
        )

    return expected


def in_turn(between: Any, rows: int) -> Any:
    """Made-up rows of two groups in turn; an array where it holds them as they are, which is read much faster."""
    both = np.array(between)
    if both.dtype.kind in "iU" and list(both) == list(between):
        return np.resize(both, rows)
    return [between[k % 2] for k in range(rows)]


def _world(about: About) -> World:
    of, between = about.option("of", "mean"), about.option("between", ["a", "b"])
    if of == "proportion":
        share = about.share()
        about.say(f"half of the rows are in each group; the share is {share:g} in both")
        about.given.pop("equals", None)  # made-up entries are yes and no
        return World(
            make=lambda g, n: {"x": g.random(n) < share, "groups": in_turn(between, n)},
            truth=0.0,
            read=lambda value: np.array([value[0]]),
            closed=expected_of_shares(share),
        )
    entries = AssumedColumn.of(about)
    about.say("half of the rows are in each group, and both groups are alike")
    middle = np.median if of == "median" else np.mean
    deviation = 0.5 / entries.height(0.5) if of == "median" else entries.scale
    return World(
        make=lambda g, n: {"x": entries.draw(g, n), "groups": in_turn(between, n)},
        truth=0.0,
        read=lambda value: np.array([value[0]]),
        width=half_width,
        part=first_of,
        sampling=lambda n: 2 * deviation / math.sqrt(n),
        parts=True,
        skewed=True,
        plain=lambda x, **_: float(middle(x[::2]) - middle(x[1::2])),
    )


@statistic({"x": _reads, "groups": category(streams=True)}, rows=dict, world=_world)
def difference(
    people: Public,
    x: Columns,
    groups: Columns,
    *,
    epsilon: Number,
    between: Any,
    of: Of = "mean",
    bounds: tuple[float, float] | None = None,
    confidence: float = 0.95,
    equals: Any = None,
) -> Difference:
    """The difference and the ratio of two groups' means, medians or shares, with intervals. Pure.

    `between` names the two public groups: the second is taken from the first. Who is in which group is private. The
    value has "difference", "ratio" and both groups by name. The ratio is left out (NaN) where the second group's
    interval reaches 0. Null hypothesis of the difference: both groups are the same in the population; it is rejected
    at 5% if the 95% interval of the difference leaves out 0.

    >>> import discreet
    >>> x, arm = [float(k % 50) for k in range(8000)], ["new", "old"] * 4000
    >>> r = discreet.difference(x, arm, epsilon=1.0, between=["new", "old"], rng=discreet.Seeded(1))
    >>> bool(-3 < r.value["difference"] < 1)
    True
    """
    if of not in WORDS:
        raise BadInput(f"of is {of!r}; give 'mean', 'median' or 'proportion'")
    if not isinstance(between, list | tuple) or len(between) != 2:
        raise BadInput(f"between is {between!r}; give the two public groups, as between=['new', 'old']")
    if of == "proportion" and bounds is not None:
        raise BadInput("bounds are for means and medians; a share needs none: leave them out")
    check_budget(epsilon, 0, None)
    level, half = check_confidence(confidence), exact(epsilon) / 2  # [difference.1]
    options: dict[str, Any] = {} if of == "proportion" else {"bounds": bounds}
    options |= {"confidence": (1 + level) / 2} if of == "median" else {}  # [difference.3]
    inner = declared(of).make(people, x, epsilon=half, **options)
    centred = of == "proportion" or (of == "mean" and bounds is not None)
    terms: dict[str, Any] = {"of": of, "confidence": level, "centred": centred}
    return Difference(inner, Categories.of(between), epsilon, **terms, neighbours=people.neighbours, unit=people.unit)
