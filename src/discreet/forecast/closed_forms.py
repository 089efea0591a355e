"""Forecasts in closed form: counts, shares and histograms, by the laws of their noise."""

import math
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.faces import count, histogram, proportion
from discreet.forecast.assumptions import About
from discreet.forecast.floors import BOUND, count_floor, histogram_floor, least_error, shares, told_of
from discreet.forecast.simulate import Measured
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import Number
from discreet.privacy.release import Release
from discreet.statistics.normal_laplace import radius
from discreet.statistics.proportion import KnownSize, PrivateSize

CLOSED = "closed form"
Found = tuple[Measured, str, float | None, str]  # what to expect, its measure, a floor and what kind it is
SOME = 1000  # made-up rows of a release that is asked for its noise only


def forecast_count(about: About, *, rows: int, epsilon: Number, confidence: float | None) -> Found:
    """The noise of one count; the table is the target."""
    share = about.number("share", 0.5, -1e-9, 1 + 1e-9)
    about.say(f"{share:g} of the rows are true")
    made = np.arange(rows if rows < SOME else SOME) < share * min(rows, SOME)
    law = _law(count(made, epsilon=epsilon, rng=Seeded(1), **about.options()))
    found = Measured(
        error=float(law.radius(0.5)),
        half_width=_radius(law, confidence),
        sampling=None,
        privacy=law.sd,
        without=0.0,
        refused=None,
        how=CLOSED,
    )
    return found, "median absolute error, against the count in the table", _lowest(rows, epsilon), BOUND


def forecast_proportion(about: About, *, rows: int, epsilon: Number, confidence: float | None) -> Found:
    """A share of the population, from the spread that a release in the middle of its law would have."""
    share = about.number("share", 0.5, -1e-9, 1 + 1e-9)
    about.say(f"the population's share is {share:g}")
    spread = proportion([True, False], epsilon=epsilon, rng=Seeded(1), **about.options()).spread
    assert isinstance(spread, KnownSize | PrivateSize)
    known = isinstance(spread, KnownSize)
    middle: KnownSize | PrivateSize
    if known:
        middle = KnownSize(share * rows, rows, spread.epsilon)
    else:
        middle = PrivateSize(share * rows, (1 - share) * rows, spread.epsilon)
    width = None
    if confidence is not None:
        ends = middle.interval(confidence)
        width = (ends.high - ends.low) / 2
    sampling, privacy = math.sqrt(share * (1 - share) / rows), middle.privacy
    error = radius(0.5, sampling, privacy / math.sqrt(2))
    found = Measured(
        error=error,
        half_width=width,
        sampling=sampling,
        privacy=privacy,
        without=radius(0.5, sampling, 0.0),
        refused=None,
        how=CLOSED,
    )
    limit = told_of(float(epsilon), 0.0, about.neighbours)
    floor = least_error(rows, 0.5, shares(rows, share), limit, 0.5)
    return found, "median absolute error, against the population's share", floor, BOUND


def forecast_histogram(about: About, *, rows: int, epsilon: Number, delta: Number, confidence: float | None) -> Found:
    """The largest error of any bin; the table is the target."""
    listed, edges = about.given.get("categories"), about.given.get("edges")
    bins = about.whole("bins", 10, 1, 10**9) if listed is None and edges is None else _length(listed, edges)
    options, small = about.options(), min(rows, SOME)
    if listed is None and edges is None:
        return _open(about, rows=rows, bins=bins, epsilon=epsilon, delta=delta, confidence=confidence)
    made = np.zeros(small) if isinstance(listed, range) or edges is not None else np.array([None] * small)
    release = histogram(made, epsilon=epsilon, delta=delta, rng=Seeded(1), **options)
    law, shown = _law(release), getattr(release.spread, "bins", bins + 1)
    pure = not release.guarantee.delta
    floor = _lowest(rows, epsilon, bins) if pure else None
    note = BOUND if pure else "no floor is known with this noise"
    measure = "median of the largest error of any bin, against the counts in the table"
    if release.value.threshold is not None:
        about.say(f"bins shown hold {release.value.threshold} or more")
    found = Measured(
        error=float(law.radius(0.5, bins)),
        half_width=_radius(law, confidence, shown),
        sampling=None,
        privacy=law.sd,
        without=0.0,
        refused=None,
        how=CLOSED,
    )
    return found, measure, floor, note


def _open(about: About, *, rows: int, bins: int, epsilon: Number, delta: Number, confidence: float | None) -> Found:
    """Categories that are found: those that hold enough people."""
    about.say(f"{bins} categories share the rows alike")
    measure = "median of the largest error of any category shown, against the counts in the table"
    from discreet.statistics.open_histogram import OpenHistogram

    asked = OpenHistogram(epsilon, delta, about.neighbours)
    release = asked.release(["a"] * max(asked.threshold, min(rows, SOME)), Seeded(1))
    law, each = _law(release), rows / bins
    refused = None
    if each < asked.threshold:
        refused = (
            f"a category of {each:.6g} rows is below the threshold of {asked.threshold} more often than not; "
            f"{bins} categories need about {bins * asked.threshold} rows"
        )
    error = None if refused else float(law.radius(0.5, bins))
    width = None if confidence is None else float(law.radius(confidence, rows))
    found = Measured(
        error=error, half_width=width, sampling=None, privacy=law.sd, without=0.0, refused=refused, how=CLOSED
    )
    note = f"achieved: categories of {asked.threshold} rows are shown; no bound with a sharp constant is known"
    return found, measure, None, note


def _lowest(rows: int, epsilon: Number, bins: int = 1) -> float:
    """Under the median error; so few rows that they all may be changed allow no more than (n - 1) / 2."""
    floors = histogram_floor(bins, float(epsilon), 0.5), count_floor(float(epsilon), 0.0, 0.5)
    return min(max(floors), (rows - 1) / 2)


def _length(listed: Any, edges: Any) -> int:
    if listed is not None and edges is not None:
        raise BadInput("both categories and edges are given; give one of them")
    if isinstance(listed, str | bytes) or not hasattr(edges if listed is None else listed, "__len__"):
        raise BadInput(f"categories are {listed!r} and edges {edges!r}; give a list of one of them")
    return len(listed) if listed is not None else len(edges) - 1


def _law(release: Release[Any]) -> Any:
    return release.spread.law  # type: ignore[union-attr]


def _radius(law: Any, confidence: float | None, draws: int = 1) -> float | None:
    return None if confidence is None else float(law.radius(confidence, draws))
