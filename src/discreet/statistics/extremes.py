"""Low and high values, named for what they are: the 1% and the 99% quantile; and the distance between the quartiles.

Releases
    `minimum` and `maximum`: the ends of an interval of one quantile (statistics/quantile.py), and its middle. `iqr`:
    those of both quartiles; what is told is their difference.
Promise
    [extremes.1] That of the quantiles: pure epsilon under both relations.
    [extremes.2] The interval of `iqr` holds the distance between the population's quartiles with at least its
         confidence, as far as each of the two intervals holds its quartile ([quantile.4], [quantile.5]).
Why
    [extremes.1] Names, differences and the refusal of an end beyond all data are post-processing. The least value
    itself cannot be told: one person is it. A share of 1% is a stand-in that many people share.
    [extremes.2] Each interval is drawn at (1 + confidence) / 2: both hold at once with the confidence. If a <= q1 <= b
    and c <= q3 <= d, then q3 - q1 is within c - b and d - a, and not below 0.
Needs
    As [quantile.6]. Far quantiles without bounds need many people: n epsilon of about 9,000 for 1%.
Accuracy
    That of the quantiles.
Source
    As statistics/quantile.py; Bonferroni for two of them.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public, declared, number, statistic
from discreet.privacy.exact import Number, is_number
from discreet.privacy.intervals import QuantileSpread, check_confidence
from discreet.privacy.mechanism import Mechanism, Wrapped
from discreet.privacy.release import Release
from discreet.worlds.assumptions import About, World
from discreet.worlds.shapes import SEVERAL, AssumedColumn, quantile_world

QUARTILES: Final = (0.25, 0.75)
WILD: Final = 1e12  # times the other end, or 1: an end beyond is no answer
SHARE: Final = 0.01  # of the people beyond what is called the least, or the greatest


def named(release: Release[float], name: str, q: float) -> Release[float]:
    """The release of a quantile under another name, which says what it is. [extremes.1]"""
    share = f"{100 * q:.6g}% quantile"
    if not isinstance(release.spread, QuantileSpread):
        return replace(release, name=f"{name}, the {share}")
    reach = max(map(abs, (release.spread.low, release.spread.high)))
    if reach > WILD * max(1.0, min(map(abs, (release.spread.low, release.spread.high)))):  # [extremes.1]
        why = (
            f"one end of the interval of the {share} was drawn at {reach:.0e}, far beyond any data: too few people are "
        )
        why += "out there to see where they end. Give public bounds, bring more rows, or ask for a larger epsilon"
        return replace(release, answer=None, spread=None, refusal=why, name=f"{name}, the {share}")
    spread = replace(release.spread, about=f"the population's {share}", target=f"({share})")
    return replace(release, name=name, spread=spread)


def between(release: Release[Any], confidence: float) -> Release[float]:
    """The distance of two quantiles, from both. [extremes.2]"""
    if not isinstance(release.spread, QuantileSpread) or release.refusal is not None:
        return replace(release, answer=None, spread=None, name="interquartile range")
    spread, (one, other) = release.spread, release.value.tolist()
    (a, c), (b, d) = np.asarray(spread.low).tolist(), np.asarray(spread.high).tolist()
    low, high = max(c - b, 0.0), max(d - a, 0.0)  # [extremes.2]
    parts: dict[str, Any] = {part: float(np.hypot(*getattr(spread, part))) for part in ("sampling", "privacy")}
    found = QuantileSpread(low, high, confidence=confidence, about="the population's interquartile range", **parts)
    value = min(max(other - one, low), high)
    notes = tuple(note for note in release.provenance.notes if "middle" not in note)
    history = replace(release.provenance, notes=(*notes, "from the intervals of both quartiles, which hold at once"))
    return replace(release, answer=value, spread=found, provenance=history, name="interquartile range")


def _far(people: Public, x: Columns, name: str, share: Any, confidence: Any, **options: Any) -> Mechanism[float]:
    """The quantile of so many from the end, by its name."""
    if not is_number(share) or not 0 < share <= 0.25:
        raise BadInput(f"share is {share!r}; give the share of people beyond it, a number above 0 and at most 0.25")
    level, q = check_confidence(confidence), float(share) if name == "minimum" else 1 - float(share)
    inner = declared("quantile").make(people, x, q, confidence=level, **options)  # [extremes.1]
    return Wrapped(inner, after=partial(named, name=name, q=q))


def _far_world(about: About, place: Callable[[float], float]) -> World:
    return quantile_world(about, q=place(about.option("share", SHARE)))


def _middle_world(about: About) -> World:
    entries = AssumedColumn.of(about)
    low, high = map(entries.quantile, QUARTILES)
    steep, flat = map(entries.height, QUARTILES)
    one = (
        math.sqrt(3 / steep**2 + 3 / flat**2 - 2 / (steep * flat)) / 4
    )  # of one row: both quartiles, which go together
    return World(
        make=lambda g, n: {"x": entries.draw(g, n)},
        truth=high - low,
        plain=lambda x: float(np.diff(np.quantile(x, QUARTILES))[0]),
        sampling=lambda n: one / math.sqrt(n),
        runs=SEVERAL,
    )


@statistic({"x": number(streams=True)}, groups=True, world=partial(_far_world, place=lambda share: share))
def minimum(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    share: float = SHARE,
    bounds: tuple[Any, Any] | None = None,
    confidence: float = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
) -> Mechanism[float]:
    """A low value, the 1% quantile, with an interval for the population's. Pure.

    The least value itself belongs to one person, and cannot be told. What is told is the quantile that a `share` of the
    people, 1%, lies below, and its first line says so. The other options are those of `quantile`.

    >>> import discreet
    >>> r = discreet.minimum([float(k % 1000) for k in range(20_000)], epsilon=1.0, bounds=(0, 1000),
    ...     rng=discreet.Seeded(1))
    >>> 5 < r.value < 15
    True
    """
    given: dict[str, Any] = {"bounds": bounds, "granularity": granularity, "guaranteed": guaranteed}
    return _far(people, x, "minimum", share, confidence, epsilon=epsilon, **given)


@statistic({"x": number(streams=True)}, groups=True, world=partial(_far_world, place=lambda share: 1 - share))
def maximum(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    share: float = SHARE,
    bounds: tuple[Any, Any] | None = None,
    confidence: float = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
) -> Mechanism[float]:
    """A high value, the 99% quantile, with an interval for the population's. Pure.

    The greatest value itself belongs to one person, and cannot be told. What is told is the quantile that a `share` of
    the people, 1%, lies above, and its first line says so. The other options are those of `quantile`.

    >>> import discreet
    >>> r = discreet.maximum([float(k % 1000) for k in range(20_000)], epsilon=1.0, bounds=(0, 1000),
    ...     rng=discreet.Seeded(1))
    >>> 985 < r.value < 995
    True
    """
    given: dict[str, Any] = {"bounds": bounds, "granularity": granularity, "guaranteed": guaranteed}
    return _far(people, x, "maximum", share, confidence, epsilon=epsilon, **given)


@statistic({"x": number(streams=True)}, groups=True, world=_middle_world)
def iqr(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    bounds: tuple[Any, Any] | None = None,
    confidence: float = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
) -> Mechanism[float]:
    """The distance between the quartiles, with an interval for the population's that assumes no shape. Pure.

    No bounds needed. The interval is made of those of both quartiles, which hold at once; its `confidence` is declared
    here. The other options are those of `quantile`.

    >>> import discreet
    >>> r = discreet.iqr([float(k % 1000) for k in range(20_000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 450 < r.value < 550
    True
    """
    level = check_confidence(confidence)
    given: dict[str, Any] = {"bounds": bounds, "granularity": granularity, "guaranteed": guaranteed}
    inner = declared("quantile").make(people, x, QUARTILES, epsilon=epsilon, confidence=(1 + level) / 2, **given)
    return Wrapped(inner, after=partial(between, confidence=level))  # [extremes.2]
